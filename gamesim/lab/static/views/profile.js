// The regret profile: from external or internal regret to swap regret, one more action at a time.

import { begin, byPlayer, dot, font, line, panels, text, theme } from "./canvas.js";
import { axes, inside, linearScale } from "./axes.js";
import { shown } from "../numbers.js";

export const title = "Regret profile";
export const about =
  "Total regret against swaps of growing size. Discs: all but k − 1 actions are mapped to one action (k = 1: external regret). Squares: k actions are changed (k = 1: internal regret). Both end at swap regret.";
export const fits = () => true;

const FEW = 4;

export function draw(canvas, feed) {
  const { context, width, height } = begin(canvas);
  const { game } = feed.shape;
  const together = byPlayer(feed.state.together, game);
  const alone = byPlayer(feed.state.alone, game);
  const count = Math.min(game.players.length, FEW);
  panels(count, width, height, 170).forEach((box, i) => {
    const place = inside(box.x, box.y + theme().size * 0.9, box.width, box.height - theme().size * 0.9);
    font(context, 0.78, "600");
    text(context, game.players[i], box.x + box.width / 2, box.y + theme().size * 0.7, {
      colour: theme().players[i],
      align: "center",
      most: box.width - 10,
    });
    font(context);
    const known = [...together[i], ...alone[i]].filter((one) => !Number.isNaN(one));
    const most = Math.max(0, ...known);
    const [low, high] = [Math.min(0, ...known), most > 1e-9 ? most : 1]; // do not scale the axis to rounding errors
    const x = linearScale(
      1,
      Math.max(2, game.actions[i].length),
      place.x + 6,
      place.x + place.width - 6,
      Math.min(game.actions[i].length - 1, 6) || 1,
    );
    x.ticks = x.ticks.filter(([value]) => Number.isInteger(value));
    const ticks = Math.max(1, Math.min(4, Math.floor(place.height / (2 * theme().size))));
    const y = linearScale(low, high * 1.08, place.y + place.height, place.y, ticks);
    axes(context, place, x, y, ["k", "total"]);
    line(
      context,
      [
        [place.x, y(0)],
        [place.x + place.width, y(0)],
      ],
      { colour: theme().dim, width: 1 },
    );
    if (!known.length) return;
    const curve = (values) => [...values].map((value, k) => [x(k + 1), y(value)]);
    line(context, curve(alone[i]), { colour: theme().dim, width: 1.5, dash: [5, 4] });
    line(context, curve(together[i]), { colour: theme().players[i], width: 2 });
    if (game.actions[i].length <= 32) {
      curve(alone[i]).forEach(([a, b]) => {
        context.fillStyle = theme().dim;
        context.fillRect(a - 4, b - 4, 8, 8);
      });
      curve(together[i]).forEach((point) => dot(context, point, 4, { fill: theme().players[i] }));
    }
  });
}

export function describe(feed) {
  const { game } = feed.shape;
  const together = byPlayer(feed.state.together, game);
  return game.players
    .slice(0, FEW)
    .map((name, i) => `${name}: from ${shown(together[i][0])} (external) to ${shown(together[i].at(-1))} (swap)`)
    .join("; ");
}
