// Regret per round of every player over time, on logarithmic axes, with the guarantees of the learners.

import { begin, dot, font, line, text, theme } from "./canvas.js";
import { axes, inside, logScale } from "./axes.js";
import { shown } from "../numbers.js";

export const title = "Regret per round";
export const about =
  "Solid: swap regret. Dashed: external regret. Dotted: guarantee of the learner, if it has one that holds here. At most four players are shown.";
export const fits = () => true;

const FEW = 4; // maximum number of players shown
const KINDS = [
  ["swap", []],
  ["external", [7, 5]],
];

export function draw(canvas, feed) {
  const { context, width, height } = begin(canvas);
  const { game, rounds } = feed.shape;
  const size = theme().size;
  const count = Math.min(game.players.length, FEW);
  const entries = legendOf(context, feed, count, width);
  const legend = size * 1.25 * (entries.at(-1).row + 1);
  const place = inside(0, 0, width, height - legend);
  const rows = points(feed);
  const scale = Math.max(...game.high.map((high, i) => high - game.low[i]), 1e-9);
  const values = rows
    .flatMap((row) => KINDS.flatMap(([kind]) => [...row[kind].slice(0, count)].map((one) => one / row.round)))
    .filter((one) => one > 1e-12 * scale);
  const top = 10 ** Math.ceil(Math.log10(2 * scale));
  const low = 10 ** Math.floor(Math.log10(Math.max(Math.min(...values, scale / 100), 1e-9 * scale)));
  const x = logScale(1, Math.max(rounds, 10), place.x, place.x + place.width);
  const y = logScale(low, top, place.y + place.height, place.y);
  axes(context, place, x, y, ["round", "payoff units per round"]);
  context.save();
  context.beginPath();
  context.rect(place.x - 2, place.y - 2, place.width + 6, place.height + 4);
  context.clip();
  for (let i = 0; i < count; i += 1) {
    const bound = feed.run.bounds[i];
    if (bound)
      line(
        context,
        bound.rounds.map((t, k) => [x(t), y(bound.values[k] / t)]),
        { colour: theme().players[i], width: 1, dash: [1, 4] },
      );
    for (const [kind, dash] of KINDS) {
      const known = rows.map((row) => [row.round, row[kind][i] / row.round]);
      for (const piece of positive(known, low))
        line(
          context,
          piece.map(([t, value]) => [x(t), y(value)]),
          { colour: theme().players[i], width: kind === "swap" ? 2.2 : 1.6, dash },
        );
      const last = known.at(-1);
      if (last && last[1] > low) dot(context, [x(last[0]), y(last[1])], 3, { fill: theme().players[i] });
    }
  }
  context.restore();
  font(context, 0.74);
  entries.forEach(({ words, x: from, row }, i) => {
    const y = height - legend + size * 1.25 * (row + 0.5);
    line(context, [[from, y], [from + 16, y]], { colour: theme().players[i], width: 3 });
    text(context, words, from + 21, y, { most: width - from - 25 });
  });
}

/** Return the entries of the legend, each with its place: in as many rows as they need. */
function legendOf(context, feed, count, width) {
  font(context, 0.74);
  let [x, row] = [8, 0];
  const { learners } = feed.run;
  const same = learners.every((one) => one === learners[0]);
  return feed.shape.game.players.slice(0, count).map((name, i) => {
    const all = i === count - 1 ? ` (${learners.length === 2 ? "both" : "all"} ${learners[0]})` : "";
    const words = name + (same && count > 1 ? all : ` (${learners[i]})`);
    const room = context.measureText(words).width + 36;
    if (x > 8 && x + room > width + 7) [x, row] = [8, row + 1];
    x += room;
    return { words, x: x - room, row };
  });
}

/** Return the checkpoints and the last round. */
function points(feed) {
  const { state } = feed;
  const rows = feed.curve.map((row) => ({ ...row, round: row.round[0] }));
  if (state.rounds > 0 && state.rounds > (rows.at(-1)?.round ?? 0))
    rows.push({ round: state.rounds, swap: state.swap, external: state.external });
  return rows;
}

/** Split a curve into its positive pieces, which a logarithmic axis can show. */
function positive(known, low) {
  const pieces = [[]];
  for (const point of known) {
    if (point[1] > low * 1e-3) pieces.at(-1).push(point);
    else if (pieces.at(-1).length) pieces.push([]);
  }
  return pieces;
}

export function describe(feed) {
  const { game } = feed.shape;
  const { state } = feed;
  return game.players
    .slice(0, FEW)
    .map(
      (name, i) =>
        `${name}: swap regret ${shown(state.swap[i] / state.rounds)} per round, external regret ${shown(state.external[i] / state.rounds)}`,
    )
    .join("; ");
}
