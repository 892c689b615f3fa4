// The average payoffs: for two players in the payoff plane, with the payoffs of the equilibria.

import { begin, dot, font, key, line, polygon, text, theme } from "./canvas.js";
import { axes, inside, linearScale } from "./axes.js";
import { shown } from "../numbers.js";
import { hull } from "./hull.js";

export const title = "Payoffs";
export const about =
  "Average payoffs so far, within the feasible ones. Shaded, for two players: payoffs of correlated (CE) and coarse correlated (CCE) equilibria of small games.";
export const fits = () => true;

export function draw(canvas, feed) {
  const { context, width, height } = begin(canvas);
  if (feed.shape.game.players.length === 2) plane(context, width, height, feed);
  else bars(context, width, height, feed);
}

function plane(context, width, height, feed) {
  const { game } = feed.shape;
  const legend = theme().size * 1.25;
  const place = inside(0, 0, width, height - legend);
  const [x, y] = [0, 1].map((i) => {
    const room = 0.06 * (game.high[i] - game.low[i] || 1);
    const ends = i === 0 ? [place.x, place.x + place.width] : [place.y + place.height, place.y];
    return linearScale(game.low[i] - room, game.high[i] + room, ...ends, 5);
  });
  axes(context, place, x, y, [`${game.players[0]}'s payoff`, `${game.players[1]}'s payoff`]);
  const at = ([u, v]) => [x(u), y(v)];
  const cells = game.payoffs[0].flatMap((row, a) => row.map((u, b) => [u, game.payoffs[1][a][b]]));
  polygon(context, hull(cells).map(at), { stroke: theme().dim, width: 1 });
  for (const [kind, colour] of [
    ["cce", theme().cce],
    ["ce", theme().ce],
  ]) {
    const known = feed.sets?.[kind]?.payoffs;
    if (!known) continue;
    const outline = hull(known);
    polygon(context, outline.map(at), {
      fill: colour,
      stroke: colour,
      alpha: 0.3,
      width: kind === "ce" ? 2.5 : 1.5,
      dash: kind === "ce" ? [] : [5, 4],
    });
    if (outline.length <= 2) dot(context, at(outline[0]), 5, { fill: null, stroke: colour });
  }
  cells.forEach((cell) => dot(context, at(cell), 2.5, { fill: theme().dim }));
  if (!Number.isNaN(feed.state.payoffs[0])) {
    const path = [...feed.curve.map((row) => at(row.payoffs)), at(feed.state.payoffs)];
    line(context, path, { colour: theme().path, width: 2 });
    dot(context, path.at(-1), 5.5, { fill: theme().path, stroke: theme().paper });
  }
  key(context, place.x, height - legend / 2, [
    ["average", theme().path],
    ...(feed.sets?.ce?.payoffs ? [["CE", theme().ce]] : []),
    ...(feed.sets?.cce?.payoffs ? [["CCE", theme().cce]] : []),
    ["feasible", theme().dim],
  ]);
}

function bars(context, width, height, feed) {
  const { game } = feed.shape;
  const size = theme().size;
  const high = Math.min(size * 4, (height - 10) / game.players.length);
  const [low, top] = [Math.min(...game.low), Math.max(...game.high)];
  const x = linearScale(low, top, width * 0.3 + 8, width - size * 5 - 4, 4);
  game.players.forEach((name, i) => {
    const y = 6 + i * high;
    text(context, name, width * 0.3 - 8, y + high / 2, {
      align: "right",
      most: width * 0.3 - 12,
      colour: theme().text,
    });
    context.fillStyle = theme().line;
    context.fillRect(x(game.low[i]), y + high * 0.3, x(game.high[i]) - x(game.low[i]), high * 0.4);
    if (high > size * 2.2) {
      font(context, 0.65);
      for (const end of [game.low[i], game.high[i]])
        text(context, shown(end), x(end), y + high * 0.7 + size * 0.5, { align: "center" });
      font(context);
    }
    const payoff = feed.state.payoffs[i];
    if (Number.isNaN(payoff)) return;
    dot(context, [x(payoff), y + high / 2], Math.min(7, high * 0.3), {
      fill: theme().players[i % 6],
      stroke: theme().paper,
    });
    text(context, shown(payoff), width - size * 4.4, y + high / 2, { colour: theme().text });
  });
}

export function describe(feed) {
  return feed.shape.game.players.map((name, i) => `${name} earns ${shown(feed.state.payoffs[i])} per round`).join("; ");
}
