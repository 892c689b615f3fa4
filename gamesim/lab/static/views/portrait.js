// The phase portrait of small games: where the learners go from each strategy, where they rest and end, and this run.

import { begin, byPlayer, dot, fitted, font, key, line, lines, polygon, text, theme } from "./canvas.js";
import { axes, inside, linearScale } from "./axes.js";

export const title = "Phase portrait";
export const about =
  "Arrows: where the learners go from each point. Darker: faster. Colours, if several: where they end. Dots: rest points; black ones attract, white ones repel, grey ones are saddles, yellow ones neutral.";
export const live = "Click in the picture to start there.";
export const needs = "portrait";
export const fits = ({ game: { actions } }) => {
  const sizes = actions.map((labels) => labels.length).join("×");
  return sizes === "2×2" || sizes === "2×2×2" || sizes === "3×3";
};

const TALL = Math.sqrt(3) / 2;
const FILLS = { sink: "#000000", saddle: "#9a9a9a", source: "#ffffff", centre: "#f0e442", degenerate: "#f0e442" };
const NASH = "#e69f00";
const [NOTE, NOTE_STEP] = [0.7, 0.9]; // sizes of the note's letters and lines, in those of the page's letters
const VIEW = [12, 12].map((degrees) => (degrees * Math.PI) / 180); // turn and tilt of the cube

/** Return where a state lies in the unit box of its space, with y upwards. */
function unit(space, state) {
  if (space === "square") return [state[0], state[2]];
  if (space === "triangle") return [state[1] + state[2] / 2, state[2] * TALL];
  const [x, y, z] = [0, 2, 4].map((k) => 2 * state[k] - 1);
  const [turn, tilt] = VIEW;
  const right = -Math.sin(turn) * x + Math.cos(turn) * y;
  const up = -Math.sin(tilt) * (Math.cos(turn) * x + Math.sin(turn) * y) + Math.cos(tilt) * z;
  return [(right + 1.25) / 2.5, (up + 1.25) / 2.5];
}

/** Return the state at a point of the unit box, or null outside. */
function stateAt(space, [x, y], points) {
  const within = (value) => value >= -0.02 && value <= 1.02;
  const share = (value) => Math.max(0.001, Math.min(0.999, value));
  if (space === "square") return within(x) && within(y) ? [share(x), 1 - share(x), share(y), 1 - share(y)] : null;
  if (space === "triangle") {
    const third = y / TALL;
    const parts = [1 - (x - third / 2) - third, x - third / 2, third];
    if (!parts.every(within)) return null;
    const kept = parts.map(share);
    return kept.map((part) => part / (kept[0] + kept[1] + kept[2]));
  }
  const apart = (state) => Math.hypot(...unit(space, state).map((one, k) => one - [x, y][k])); // nearest to the click
  return within(x) && within(y) ? points.reduce((best, state) => (apart(state) < apart(best) ? state : best)) : null;
}

/** The area of the picture, a square box as large as fits, and the lines of the note below it. */
function placeOf(context, { space, about }, width, height) {
  const size = theme().size;
  font(context, NOTE);
  const note = lines(context, `Arrows: ${about}`, width - 16);
  font(context);
  const area = inside(0, 0, width, height - size * (1.8 + NOTE_STEP * note.length));
  const wide = Math.min(area.width, area.height / (space === "triangle" ? TALL : 1));
  const high = wide * (space === "triangle" ? TALL : 1);
  const [x, y] = [area.x + (area.width - wide) / 2, area.y + (area.height - high) / 2];
  return { x, y, width: wide, height: high, unit: wide, note, right: width };
}

const onto = (place, [x, y]) => [place.x + x * place.unit, place.y + place.height - y * place.unit];

export function attach(canvas, page) {
  if (!page.start) return;
  canvas.classList.add("clickable");
  canvas.addEventListener("mousedown", (event) => event.preventDefault());
  canvas.addEventListener("click", (event) => {
    const feed = page.feed(canvas);
    const data = feed?.given.portrait;
    if (!data?.points) return;
    const box = canvas.getBoundingClientRect();
    const place = placeOf(canvas.getContext("2d"), data, canvas.clientWidth, canvas.clientHeight);
    const at = [event.clientX - box.left - place.x, place.y + place.height - (event.clientY - box.top)];
    const state = stateAt(data.space, at.map((one) => one / place.unit), data.points);
    if (state) page.start(strategies(data.space, state));
  });
}

/** Return one strategy per player, whose probabilities sum to 1. */
function strategies(space, state) {
  if (space === "triangle") return [state, state];
  return Array.from({ length: state.length / 2 }, (_, i) => [state[2 * i], 1 - state[2 * i]]);
}

export function draw(canvas, feed) {
  const { context, width, height } = begin(canvas);
  const data = feed.given.portrait;
  if (!data?.points) {
    const words = data ? data.why : "computing the phase portrait …";
    return wrapped(context, words, width, height);
  }
  const place = placeOf(context, data, width, height);
  frame(context, place, data.space, feed.shape.game);
  shades(context, place, data);
  arrows(context, place, data);
  for (const { end, states } of data.lines) {
    const at = data.places.indexOf(end);
    const colour = at < 0 ? theme().dim : theme().players[at % 6];
    line(context, upTo(states.map((state) => onto(place, unit(data.space, state))), 0.9 * place.unit), { colour, width: 1 });
  }
  for (const state of data.nash) {
    context.lineWidth = 3;
    context.strokeStyle = NASH;
    context.beginPath();
    context.arc(...onto(place, unit(data.space, state)), 8.5, 0, 2 * Math.PI);
    context.stroke();
  }
  for (const { at, stability } of data.rest)
    dot(context, onto(place, unit(data.space, at)), 4.5, { fill: FILLS[stability.split(" ").at(-1)], stroke: theme().text });
  if (data.space === "cube") axisNames(context, place, feed.shape.game);
  runs(context, place, data.space, feed);
  const size = theme().size;
  const ends = data.places.slice(0, 3).map((k, n) => [`ends at ${data.rest[k].name}`, theme().players[n]]);
  const below = height - size * (0.7 + NOTE_STEP * (place.note.length - 1));
  key(context, 8, below - size * 1.3, [["this run", theme().path], ["Nash equilibrium", NASH], ...ends.slice(0, width > 560 ? 3 : 0)]);
  font(context, NOTE);
  place.note.forEach((words, k) => text(context, words, 8, below + k * NOTE_STEP * size));
  font(context);
}

/** Write a message into the middle of the drawing. */
function wrapped(context, words, width, height) {
  const found = lines(context, words, width - 30);
  const step = theme().size * 1.2;
  found.forEach((words, k) =>
    text(context, words, width / 2, height / 2 + (k - (found.length - 1) / 2) * step, { align: "center" }),
  );
}

/** Write a text in the middle of x, or beside it if it would not fit into the drawing. */
function centred(context, words, x, y, place, style = {}) {
  const half = context.measureText(words).width / 2 + 2;
  text(context, words, Math.max(half, Math.min(x, place.right - half)), y, { align: "center", ...style });
}

function frame(context, place, space, game) {
  const names = game.actions.map((labels, i) => `${game.players[i]} plays ${labels[0]}`);
  if (space === "square") {
    const x = linearScale(0, 1, place.x, place.x + place.width, 5);
    const y = linearScale(0, 1, place.y + place.height, place.y, 5);
    axes(context, place, x, y, names.map((name) => `P(${name})`));
  } else if (space === "triangle") {
    const size = theme().size;
    const corners = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((state) => onto(place, unit(space, state)));
    corners.forEach(([x, y], k) => {
      const words = fitted(context, game.actions[0][k], place.width / 2);
      centred(context, words, x, y + (k < 2 ? size : -size), place, { colour: theme().text });
    });
    polygon(context, corners, { stroke: theme().dim });
  } else {
    const corners = Array.from({ length: 8 }, (_, k) => [k >> 2, (k >> 1) & 1, k & 1]);
    for (const a of corners)
      for (const axis of [0, 1, 2])
        if (!a[axis]) {
          const edge = [a, a.map((one, k) => (k === axis ? 1 : one))];
          line(context, edge.map((one) => cornerAt(place, one)), { colour: theme().dim, width: 1 });
        }
  }
}

/** Return where a point of the cube is drawn. */
const cornerAt = (place, corner) => onto(place, unit("cube", corner.flatMap((one) => [one, 1 - one])));

/** Name the axes of the cube: beside, below and above it. */
function axisNames(context, place, game) {
  font(context, 0.68);
  [[[1, 1, 0], 6, 28], [[1, 0.5, 0], 0, 14], [[0, 0, 1], 0, -14]].forEach(([middle, right, down], i) => {
    const words = fitted(context, `P(${game.players[i]} plays ${game.actions[i][0]})`, place.width);
    const [x, y] = cornerAt(place, middle);
    const half = right ? context.measureText(words).width / 2 : 0;
    centred(context, words, x + right + half, y + down, place, { halo: true });
  });
  font(context);
}

/** Fill the background: the colour says where play ends, its strength how fast it is. */
function shades(context, place, { space, pixels, places }) {
  if (!pixels) return;
  const { count, kinds, strengths } = pixels;
  const [wide, high] = [place.width / count, place.height / count];
  const none = places.length ? theme().dim : theme().players[0];
  const colours = [none, ...places.map((_, k) => theme().players[k % 6])];
  context.save();
  context.beginPath();
  if (space === "triangle")
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((state, k) => context[k ? "lineTo" : "moveTo"](...onto(place, unit(space, state))));
  else context.rect(place.x, place.y, place.width, place.height);
  context.clip();
  for (let row = 0; row < count; row += 1)
    for (let column = 0; column < count; column += 1) {
      const k = row * count + column;
      if (space === "triangle" && !strengths[k]) continue;
      context.fillStyle = colours[kinds[k]];
      context.globalAlpha = strengths[k] * 0.75;
      context.fillRect(place.x + column * wide, place.y + place.height - (row + 1) * high, wide, high);
    }
  context.globalAlpha = 1;
  context.restore();
}

function arrows(context, place, { space, points, velocities }) {
  const speeds = velocities.map((way) => way.reduce((sum, one) => sum + Math.abs(one), 0));
  const fastest = Math.max(...speeds) || 1;
  const long = (place.unit / Math.cbrt(points.length * (space === "cube" ? 8 : points.length ** 0.5))) * 0.55;
  points.forEach((state, k) => {
    if (!speeds[k]) return;
    const moved = state.map((one, n) => one + (velocities[k][n] / fastest) * 1e-3);
    const [from, to] = [unit(space, state), unit(space, moved)];
    const way = [to[0] - from[0], from[1] - to[1]];
    const size = Math.hypot(...way);
    if (!size) return;
    const reach = (long * (0.3 + 0.7 * (speeds[k] / fastest) ** 0.4)) / size / 2;
    const [x, y] = onto(place, from);
    const [dx, dy] = way.map((one) => one * reach);
    const tip = [x + dx, y + dy];
    const back = ([a, b]) => [tip[0] - 0.75 * a, tip[1] - 0.75 * b];
    const colour = theme().text;
    context.globalAlpha = space === "cube" ? 0.35 : 0.55;
    line(context, [[x - dx, y - dy], tip], { colour, width: 1 });
    line(context, [back([dx - dy * 0.6, dy + dx * 0.6]), tip, back([dx + dy * 0.6, dy - dx * 0.6])], { colour, width: 1 });
    context.globalAlpha = 1;
  });
}

/** Return the beginning of a path, up to a length. */
function upTo(path, most) {
  let length = 0;
  const end = path.findIndex((point, k) => {
    if (k) length += Math.hypot(point[0] - path[k - 1][0], point[1] - path[k - 1][1]);
    return length > most;
  });
  return end < 0 ? path : path.slice(0, end + 1);
}

/** Draw this run: its path so far, and the current strategies. In the triangle, each player has a path. */
function runs(context, place, space, feed) {
  const { state, path, shape } = feed;
  if (!(state.rounds > 0)) return;
  const rows = [...path.rows, state.strategy];
  const each = space === "triangle" ? [0, 1] : [0];
  const points = each.map((i) =>
    rows.map((row) => onto(place, unit(space, space === "triangle" ? byPlayer(row, shape.game)[i] : row))),
  );
  const apart = points.length > 1 && points[0].some(([x, y], k) => Math.hypot(x - points[1][k][0], y - points[1][k][1]) > 1);
  points.slice(0, apart ? 2 : 1).forEach((one, i) => {
    line(context, one, { colour: theme().paper, width: 4 });
    line(context, one, { colour: theme().path, width: 2.2, dash: i ? [5, 4] : [] });
    dot(context, one[0], 4, { fill: theme().paper, stroke: theme().path });
    dot(context, one.at(-1), 6.5, { fill: theme().path, stroke: theme().paper });
  });
  if (!apart) return;
  const ends = points.map((one) => one.at(-1));
  const together = Math.hypot(ends[0][0] - ends[1][0], ends[0][1] - ends[1][1]) < 2 * theme().size;
  const named = together ? [shape.game.players.join(", ")] : shape.game.players;
  named.forEach((words, i) => {
    const [x, y] = ends[i];
    centred(context, words, x, y - theme().size, place, { colour: theme().text, halo: true });
  });
}

export function describe(feed) {
  const data = feed.given.portrait;
  if (!data?.points) return data?.why ?? "not computed yet";
  const rest = data.rest.map(({ name, stability, nash }) => `${name} is a ${stability}${nash ? " and a Nash equilibrium" : ""}`);
  return `${data.title}. Rest points: ${rest.join("; ")}`;
}
