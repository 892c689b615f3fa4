// Current and average strategies: a triangle for three actions, bars otherwise.

import { begin, byPlayer, dot, font, line, panels, polygon, text, theme } from "./canvas.js";
import { share, shown } from "../numbers.js";

export const title = "Strategies";
export const about = "Bar or filled dot: current round. Line or ring: average so far.";
export const fits = () => true;

const NARROW = 80; // pixels per player, if there are many

export function draw(canvas, feed) {
  const { context, width, height } = begin(canvas);
  const { game } = feed.shape;
  const now = byPlayer(feed.state.strategy, game);
  const average = byPlayer(feed.state.average, game);
  const path = feed.path.rows.map((row) => byPlayer(row, game));
  const triangles = game.actions.every((labels) => labels.length === 3);
  panels(game.players.length, width, height, game.players.length > 4 ? NARROW : undefined, triangles).forEach((place, i) => {
    font(context, 0.78, "600");
    text(context, game.players[i], place.x + place.width / 2, place.y + theme().size * 0.7, {
      colour: theme().players[i % 6],
      align: "center",
      most: place.width - 12,
    });
    font(context);
    const inner = {
      x: place.x + 8,
      y: place.y + theme().size * 1.4,
      width: place.width - 16,
      height: place.height - theme().size * 1.8,
    };
    if (game.actions[i].length === 3)
      triangle(
        context,
        inner,
        game.actions[i],
        now[i],
        average[i],
        path.map((row) => row[i]),
        theme().players[i % 6],
      );
    else bars(context, inner, game.actions[i], now[i], average[i], theme().players[i % 6]);
  });
}

function triangle(context, place, labels, now, average, path, colour) {
  const room = theme().size * 1.3;
  const side = Math.max(20, Math.min(place.width - 8, (place.height - 2 * room) / 0.866));
  const left = place.x + (place.width - side) / 2;
  const base = place.y + (place.height + side * 0.866) / 2;
  const corners = [
    [left, base],
    [left + side, base],
    [left + side / 2, base - side * 0.866],
  ];
  const at = (p) => [0, 1].map((axis) => corners.reduce((sum, corner, k) => sum + p[k] * corner[axis], 0));
  polygon(context, corners, { stroke: theme().line });
  for (const share of [1 / 3, 2 / 3]) {
    for (let k = 0; k < 3; k += 1) {
      const [a, b] = [
        [0, 0, 0],
        [0, 0, 0],
      ];
      a[k] = b[k] = share;
      a[(k + 1) % 3] = b[(k + 2) % 3] = 1 - share;
      line(context, [at(a), at(b)], { colour: theme().line, width: 0.5 });
    }
  }
  text(context, labels[0], left, base + room * 0.6, { most: side / 2 });
  text(context, labels[1], left + side, base + room * 0.6, { align: "right", most: side / 2 });
  text(context, labels[2], left + side / 2, base - side * 0.866 - room * 0.5, { align: "center", most: place.width });
  if (Number.isNaN(now[0])) return;
  const steps = path.map(at);
  const recent = Math.max(0, steps.length - 60);
  context.globalAlpha = 0.35;
  line(context, steps.slice(0, recent + 1), { colour, width: 1 });
  context.globalAlpha = 1;
  line(context, [...steps.slice(recent), at(now)], { colour, width: 2 });
  dot(context, at(average), 6, { fill: null, stroke: theme().text });
  dot(context, at(now), 5, { fill: colour, stroke: theme().paper });
}

function bars(context, place, labels, now, average, colour) {
  const room = theme().size * 1.4;
  const [bottom, high] = [place.y + place.height - room, place.height - 1.7 * room];
  line(
    context,
    [
      [place.x, bottom],
      [place.x + place.width, bottom],
    ],
    { colour: theme().line, width: 1 },
  );
  const step = place.width / labels.length;
  labels.forEach((label, k) => {
    const [x, wide] = [place.x + k * step + step * 0.16, step * 0.68];
    if (step > 14) text(context, label, x + wide / 2, bottom + room * 0.55, { align: "center", most: step - 3 });
    context.strokeStyle = theme().line;
    context.lineWidth = 1;
    context.strokeRect(x, bottom - high, wide, high);
    if (Number.isNaN(now[k])) return;
    context.globalAlpha = 0.85;
    context.fillStyle = colour;
    context.fillRect(x, bottom - now[k] * high, wide, now[k] * high);
    context.globalAlpha = 1;
    const y = bottom - average[k] * high;
    line(
      context,
      [
        [x - 3, y],
        [x + wide + 3, y],
      ],
      { colour: theme().text, width: 2.5 },
    );
    if (step > 40)
      text(context, share(now[k]), x + wide / 2, bottom - high - room * 0.4, { align: "center", colour: theme().text });
  });
}

export function describe(feed) {
  const { game } = feed.shape;
  const average = byPlayer(feed.state.average, game);
  return game.players
    .map((name, i) => {
      const most = average[i].indexOf(Math.max(...average[i]));
      return `${name} plays no action more often than ${game.actions[i][most]}, with average probability ${shown(average[i][most])}`;
    })
    .join("; ");
}
