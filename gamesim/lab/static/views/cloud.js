// Many runs of the same scenario with other seeds: strategies, payoffs and gaps, with the median and quantile bands.

import { begin, font, line, lines, panels, polygon, text, theme } from "./canvas.js";
import { axes, inside, linearScale, logScale } from "./axes.js";
import { h } from "../dom.js";

export const title = "Many runs";
export const about =
  "The same scenario with other seeds. Thin lines: runs. Thick line: median. Bands: half and 90 % of the runs. Dashed: the round shown, at which the runs are counted below.";
export const needs = "cloud";
export const fits = ({ game }) => game.actions.reduce((sum, labels) => sum + labels.length, 0) <= 24;
export const settings = { shows: "strategies" };

const SHOWS = { strategies: "strategies", payoffs: "payoffs", gaps: "gaps" };
const LEAST = 1e-6; // of the payoff range, drawn at the bottom

let select = null; // there is one card

export function controls(page) {
  select = h(
    "select",
    { "aria-label": "What the many runs show", onchange: () => ((settings.shows = select.value), page.changed(), page.redraw()) },
    Object.entries(SHOWS).map(([value, words]) => h("option", { value }, words)),
  );
  return select;
}

export function draw(canvas, feed) {
  const { context, width, height } = begin(canvas);
  const data = feed.given.cloud;
  if (!data?.rounds) {
    text(context, data ? data.why : "playing many runs …", width / 2, height / 2, { align: "center", most: width - 20 });
    return;
  }
  if (!(settings.shows in SHOWS)) settings.shows = "strategies";
  if (select) select.value = settings.shows; // links may have changed it
  const size = theme().size;
  const pictures = picturesOf(data, feed.shape.game);
  const at = Math.max(0, data.rounds.filter((round) => round <= feed.state.rounds).length - 1);
  font(context, 0.74);
  const note = lines(context, counted(data, at, feed.state.rounds), width - 16);
  const room = Math.max(note.length, width < 560 ? 2 : 1); // the same in most rounds, so that the picture does not jump
  panels(pictures.length, width, height - size * (0.9 + room), 190).forEach((place, k) =>
    panel(context, place, data, pictures[k], feed),
  );
  font(context, 0.74);
  note.forEach((words, k) => text(context, words, 8, height - size * (room - k - 0.4), { colour: theme().text }));
}

/** Return in words where the runs are at a checkpoint. */
function counted(data, at, round) {
  const places = Object.entries(data.endings[at]);
  const total = data.strategies.length;
  const words = places.map(([place, count]) => `${count} ${place === "elsewhere" ? "at no equilibrium" : `at ${place}`}`);
  return `${round ? `Round ${data.rounds[at].toLocaleString("en-US")}` : "Round 1"}, ${total} runs${data.pushed ? " from random first rounds" : ""}: ${words.join(", ")}`;
}

function picturesOf(data, game) {
  const of = (values, i) => values.map((run) => run.map((row) => (i === null ? row : row[i])));
  if (settings.shows === "gaps")
    return ["ce", "cce"].map((kind) => ({ values: of(data.gaps[kind], null), name: `${kind.toUpperCase()} gap`, log: true, colour: theme()[kind] }));
  if (settings.shows === "payoffs")
    return game.players.map((name, i) => ({
      ...{ values: of(data.payoffs, i), name: `${name}'s average payoff`, colour: theme().players[i % 6] },
      ends: [game.low[i], game.high[i]],
    }));
  let first = 0;
  return game.players.slice(0, 6).map((name, i) => {
    const from = first;
    first += game.actions[i].length;
    const action = game.actions[i].length === 2 ? 0 : mostVaried(data, from, game.actions[i].length);
    const words = `${name} plays ${game.actions[i][action]}`;
    return { values: of(data.strategies, from + action), name: words, colour: theme().players[i % 6], ends: [0, 1] };
  });
}

/** Return the action whose last probability differs most between runs. */
function mostVaried(data, from, count) {
  const spread = Array.from({ length: count }, (_, a) => {
    const last = data.strategies.map((run) => run.at(-1)[from + a]);
    const mean = last.reduce((sum, one) => sum + one, 0) / last.length;
    return last.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  });
  return spread.indexOf(Math.max(...spread));
}

function panel(context, area, data, { values, name, log, colour, ends }, feed) {
  const { low, high } = feed.shape.game;
  const floor = LEAST * (Math.max(...high.map((most, i) => most - low[i])) || 1);
  const place = inside(area.x, area.y, area.width, area.height);
  const rounds = data.rounds;
  const x = logScale(1, Math.max(10, rounds.at(-1)), place.x, place.x + place.width);
  const clip = (value) => (log ? Math.max(floor, value) : value);
  const all = log ? values.flat().map(clip) : [];
  const y = log
    ? logScale(Math.min(...all), Math.max(...all, floor * 10), place.y + place.height, place.y)
    : linearScale(ends[0], ends[1], place.y + place.height, place.y, 4);
  axes(context, place, x, y, ["round", name]);
  const point = (k, value) => [x(rounds[k]), y(clip(value))];
  const columns = rounds.map((_, k) => values.map((run) => run[k]).sort((a, b) => a - b));
  const quantile = (share) => columns.map((column, k) => point(k, column[Math.round(share * (column.length - 1))]));
  for (const share of [0.05, 0.25])
    polygon(context, [...quantile(share), ...quantile(1 - share).reverse()], { fill: colour, alpha: 0.2 });
  context.globalAlpha = 0.35;
  for (const run of values) line(context, run.map((value, k) => point(k, value)), { colour, width: 0.8 });
  context.globalAlpha = 1;
  line(context, quantile(0.5), { colour: theme().text, width: 2.2 });
  const now = x(Math.max(1, Math.min(feed.state.rounds || 1, rounds.at(-1))));
  line(context, [[now, place.y], [now, place.y + place.height]], { colour: theme().path, width: 1.5, dash: [4, 3] });
}

export function describe(feed) {
  return feed.given.cloud?.title ?? feed.given.cloud?.why ?? "not computed yet";
}
