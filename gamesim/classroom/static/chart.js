// Curves over rounds, or over what the others choose, with the lab's axes.

import { axes, inside, linearScale } from "/lab/views/axes.js";
import { begin, dot, font, line, text, theme } from "/lab/views/canvas.js";

/** Draw curves [[name, xs, ys, colour], …] with a legend; `step` draws values that change between integers. */
export function chart(canvas, curves, { across, up, low = null, high = null }) {
  const { context, width, height } = begin(canvas);
  const size = theme().size;
  const legend = size * 1.4;
  const place = inside(0, 0, width, height - legend);
  const xs = curves.flatMap((one) => one[1]);
  const ys = curves.flatMap((one) => one[2]);
  const [least, most] = [low ?? Math.min(...ys), high ?? Math.max(...ys)];
  const room = most > least ? 0.04 * (most - least) : 1;
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const ticks = Math.max(2, Math.min(6, Math.floor(place.width / (3.2 * size))));
  const x = linearScale(left, right > left ? right : left + 1, place.x, place.x + place.width, ticks);
  x.ticks = x.ticks.filter(([value]) => Number.isInteger(value));
  const y = linearScale(least - room, most + room, place.y + place.height, place.y, 4);
  axes(context, place, x, y, [across, up]);
  for (const [, at, values, colour] of curves) {
    line(context, at.map((one, k) => [x(one), y(values[k])]), { colour, width: 2.5 });
    dot(context, [x(at.at(-1)), y(values.at(-1))], 3.5, { fill: colour });
  }
  font(context, 0.74);
  let begun = place.x;
  for (const [name, , , colour] of curves) {
    const wide = context.measureText(name).width + 2.2 * size;
    if (begun > place.x && begun + wide > width) break;
    line(context, [[begun, height - legend / 2], [begun + size, height - legend / 2]], { colour, width: 3 });
    text(context, name, begun + 1.3 * size, height - legend / 2, { colour: theme().text, most: width - begun - 1.4 * size });
    begun += wide;
  }
}
