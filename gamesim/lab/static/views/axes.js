// Linear and logarithmic axes with a few round ticks.

import { font, line, text, theme } from "./canvas.js";
import { short } from "../numbers.js";

const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const power = (k) => `10${k < 0 ? "⁻" : ""}${[...String(Math.abs(k))].map((digit) => SUPERSCRIPT[digit]).join("")}`;

/** Return a logarithmic scale from data to pixels. */
export function logScale(low, high, from, to) {
  const [a, b] = [Math.log10(low), Math.log10(high)];
  const span = b - a || 1;
  const scale = (value) => from + ((Math.log10(Math.max(value, 1e-300)) - a) / span) * (to - from);
  const step = Math.max(1, Math.ceil((b - a) / (Math.abs(to - from) / 45)));
  scale.ticks = [];
  for (let k = Math.ceil(a - 1e-9); k <= b + 1e-9; k += step) scale.ticks.push([10 ** k, power(k)]);
  return scale;
}

/** Return a linear scale from data to pixels, with about `count` ticks. */
export function linearScale(low, high, from, to, count = 5) {
  const span = high - low || 1;
  const scale = (value) => from + ((value - low) / span) * (to - from);
  const rough = span / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * unit).find((one) => one >= rough);
  scale.ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; k += 1) {
    const value = k * step;
    scale.ticks.push([value, Math.abs(value) >= 1000 ? short(value) : String(Number(value.toPrecision(6)))]);
  }
  return scale;
}

/** Draw both axes around an area, with grid lines and names. */
export function axes(context, place, x, y, names) {
  font(context, 0.72);
  for (const [value, label] of x.ticks) {
    line(
      context,
      [
        [x(value), place.y],
        [x(value), place.y + place.height],
      ],
      { colour: theme().line, width: 0.5 },
    );
    text(context, label, x(value), place.y + place.height + theme().size * 0.7, { align: "center" });
  }
  for (const [value, label] of y.ticks) {
    line(
      context,
      [
        [place.x, y(value)],
        [place.x + place.width, y(value)],
      ],
      { colour: theme().line, width: 0.5 },
    );
    text(context, label, place.x - 5, y(value), { align: "right" });
  }
  text(context, names[0], place.x + place.width, place.y + place.height + theme().size * 1.6, {
    align: "right",
    most: place.width,
  });
  text(context, names[1], place.x - theme().size * 2.4, place.y - theme().size * 1.1, {
    most: place.width + theme().size * 2.4,
  });
  font(context);
}

/** Return the area inside the axes. */
export function inside(x, y, width, height) {
  const size = theme().size;
  return {
    x: x + size * 3,
    y: y + size * 1.8,
    width: Math.max(20, width - size * 3.9),
    height: Math.max(20, height - size * 4),
  };
}
