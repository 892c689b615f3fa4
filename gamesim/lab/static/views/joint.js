// The joint distribution of play next to the nearest correlated equilibrium.

import { begin, font, line, lines, text, theme } from "./canvas.js";
import { share as written, shown } from "../numbers.js";

export const title = "Joint distribution and nearest CE";
export const about =
  "Frequency of each action profile so far, and the nearest correlated equilibrium in total variation (small games only).";
export const fits = () => true;

export function draw(canvas, feed) {
  const { context, width, height } = begin(canvas);
  const { joint } = feed.state;
  const nearest = feed.nearest?.joint ?? null;
  const top = Math.max(...joint, ...(nearest ?? [0]), 1e-9);
  if (feed.shape.no_distance !== null) {
    heatmap(context, { x: 0, y: 0, width, height }, feed, joint, top, "play so far (nearest CE not computed)");
    return;
  }
  const stacked = width < height * 2;
  const places = stacked
    ? [
        { x: 0, y: 0, width, height: height / 2 },
        { x: 0, y: height / 2, width, height: height / 2 },
      ]
    : [
        { x: 0, y: 0, width: width / 2, height },
        { x: width / 2, y: 0, width: width / 2, height },
      ];
  heatmap(context, places[0], feed, joint, top, "play so far");
  const words = nearest ? `nearest CE, distance ${shown(feed.nearest.distance.ce)}` : "nearest CE";
  heatmap(context, places[1], feed, nearest, top, words);
}

/** Return all combinations of actions of some players, in words. */
const combined = (actions) =>
  actions
    .reduce((found, labels) => found.flatMap((head) => labels.map((label) => [...head, label])), [[]])
    .map((labels) => labels.join(" "));

/** Return how many players, from the first, share the rows: one, or of four and more as many as make about a square. */
function rowPlayers(actions) {
  const product = (some) => some.reduce((size, labels) => size * labels.length, 1);
  let count = 1;
  while (actions.length > 3 && product(actions.slice(0, count + 1)) <= product(actions.slice(count + 1))) count += 1;
  return count;
}

/** Draw a heatmap: rows are the action profiles of the first players, columns those of the others. */
function heatmap(context, place, feed, joint, top, heading) {
  const { game } = feed.shape;
  const first = rowPlayers(game.actions);
  const [rows, columns] = [combined(game.actions.slice(0, first)), combined(game.actions.slice(first))];
  const size = theme().size;
  font(context, 0.78, "600");
  text(context, heading, place.x + 8, place.y + size * 0.8, { colour: theme().text, most: place.width - 12 });
  font(context, 0.72);
  const names = [game.players.slice(0, first), game.players.slice(first)].map((some) => some.join(", "));
  const note = game.players.length > 1 ? lines(context, `rows: ${names[0]}; columns: ${names[1]}`, place.width - 16) : [];
  note.forEach((words, k) => text(context, words, place.x + 8, place.y + size * (1.8 + k)));
  font(context);
  const labelRoom = Math.min(
    place.width * 0.3,
    Math.max(...rows.map((label) => context.measureText(label).width)) + 14,
  );
  const inner = {
    x: place.x + labelRoom,
    y: place.y + size * (1.7 + note.length),
    width: place.width - labelRoom - 10,
    height: place.height - size * (3.3 + note.length),
  };
  const [wide, high] = [
    Math.min(inner.width / columns.length, (inner.height / rows.length) * 4),
    Math.min(inner.height / rows.length, (inner.width / columns.length) * 2.2),
  ];
  const numbers = wide > size * 2.4 && high > size * 1.1;
  rows.forEach((label, a) => {
    if (high > size * 0.7)
      text(context, label, inner.x - 6, inner.y + (a + 0.5) * high, { align: "right", most: labelRoom - 10 });
    columns.forEach((_, b) => {
      const value = joint ? joint[a * columns.length + b] : NaN;
      const share = Number.isNaN(value) ? 0 : Math.sqrt(value / top);
      const [x, y] = [inner.x + b * wide, inner.y + a * high];
      context.fillStyle = mixed(share);
      context.fillRect(x, y, wide, high);
      context.strokeStyle = theme().paper;
      context.lineWidth = Math.min(2, wide / 8);
      context.strokeRect(x, y, wide, high);
      if (numbers && !Number.isNaN(value))
        text(context, written(value, wide > size * 3 ? 3 : 2), x + wide / 2, y + high / 2, {
          align: "center",
          colour: share > 0.55 ? theme().paper : theme().text,
        });
    });
  });
  const block = game.actions.length - first > 1 ? columns.length / game.actions[first].length : 0;
  const fit = columns.every((label) => context.measureText(label).width < wide - 4);
  const [labels, step] = fit || !block ? [columns, wide] : [game.actions[first], wide * block]; // else of each block
  const bottom = inner.y + rows.length * high;
  labels.forEach((label, b) => {
    if (step > size * 1.5)
      text(context, label, inner.x + (b + 0.5) * step, bottom + size * 0.7, { align: "center", most: step - 4 });
  });
  for (let b = block; block && b < columns.length; b += block) {
    const x = inner.x + b * wide;
    line(context, [[x, inner.y - 3], [x, bottom + 3]], { colour: theme().dim, width: 1 });
  }
}

const parts = (colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));

function mixed(share) {
  const [low, high] = [parts(theme().low), parts(theme().high)];
  return `rgb(${low.map((one, k) => Math.round(one + (high[k] - one) * share)).join(" ")})`;
}

export function describe(feed) {
  const { game } = feed.shape;
  const { joint } = feed.state;
  let most = joint.indexOf(Math.max(...joint));
  const where = [...game.actions]
    .reverse()
    .map((labels) => {
      const label = labels[most % labels.length];
      most = Math.floor(most / labels.length);
      return label;
    })
    .reverse();
  return `No action profile is more frequent than ${where.join(", ")}, with frequency ${shown(Math.max(...joint))}${feed.nearest ? `; the nearest correlated equilibrium is at distance ${shown(feed.nearest.distance.ce)}` : ""}`;
}
