// A correlating device: a distribution over action profiles, from which it recommends to each player its action. The
// picture shows what each player gains by disobeying each recommendation; nobody gains at a correlated equilibrium.

import { begin, dot, font, line, polygon, text, theme } from "./canvas.js";
import { h } from "../dom.js";
import { faces } from "./hull.js";
import { CORNERS, EDGES, inSpace } from "./tetrahedron.js";
import { readNumber, share, shown } from "../numbers.js";

export const title = "Correlating device";
export const about =
  "A device draws an action profile and recommends to each player its action. Choose its distribution: pick one, type probabilities, or drag the point (2×2 games). Orange: recommendations that a player gains by disobeying; without any, it is a correlated equilibrium.";
export const needs = "device";
export const fits = ({ game }) => game.payoffs !== null && cellsOf(game) <= 64;
export const settings = { device: "played", cells: [] };

const BROKEN = "#d55e00";
const ROUNDING = 1e-9; // of the payoff range
const GRAB = 40; // pixels around the point within which a drag moves it
const ROWS = 18; // constraints that are drawn
const view = { yaw: 0.5, pitch: 0.25 };
const editors = new WeakMap(); // canvas → its editor

const cellsOf = (game) => game.actions.reduce((product, labels) => product * labels.length, 1);

/** Return the number of the cell of a profile of actions. */
const cellOf = (game, profile) => profile.reduce((cell, action, i) => cell * game.actions[i].length + action, 0);

/** Return the profile of actions of a cell. */
function profileOf(game, cell) {
  const profile = [];
  for (let i = game.actions.length - 1; i >= 0; i -= 1) {
    profile.unshift(cell % game.actions[i].length);
    cell = Math.floor(cell / game.actions[i].length);
  }
  return profile;
}

/** Return the gain of player i that plays b whenever a is recommended, for all of them, in payoff units per round. */
export function gains(game, joint) {
  const found = [];
  game.actions.forEach((labels, i) => {
    const payoffs = game.payoffs[i].flat(Infinity);
    for (let a = 0; a < labels.length; a += 1)
      for (let b = 0; b < labels.length; b += 1) {
        if (a === b) continue;
        let gain = 0;
        let chance = 0;
        joint.forEach((probability, cell) => {
          const profile = profileOf(game, cell);
          if (profile[i] !== a) return;
          profile[i] = b;
          chance += probability;
          gain += probability * (payoffs[cellOf(game, profile)] - payoffs[cell]);
        });
        found.push({ player: i, a, b, gain, chance });
      }
  });
  return found;
}

const rangeOf = ({ high, low }) => Math.max(...high.map((most, i) => most - low[i])) || 1;

/** Return the devices to choose from, by name. */
function choices(feed) {
  const { game } = feed.shape;
  const data = feed.given.device ?? {};
  const played = feed.state?.joint;
  const uniform = Array(cellsOf(game)).fill(1 / cellsOf(game));
  const found = { played: ["what was played", played && !Number.isNaN(played[0]) ? [...played] : uniform] };
  if (data.best) found.best = ["best total payoff in a CE", data.best];
  if (data.entropy) found.entropy = ["CE of largest entropy", data.entropy];
  (data.vertices ?? []).forEach((vertex, k) => (found[`vertex ${k + 1}`] = [`vertex ${k + 1} of the CE polytope`, vertex]));
  found.uniform = ["uniform", uniform];
  const own = settings.cells;
  const fitting = Array.isArray(own) && own.length === uniform.length && own.every((one) => one >= 0 && one <= 1);
  if (fitting && Math.abs(own.reduce((sum, one) => sum + one, 0) - 1) < 1e-6) found.own = ["your own", own];
  return found;
}

/** Return the distribution that the view shows. */
export function current(feed) {
  const offered = choices(feed);
  return (offered[settings.device] ?? offered.played)[1];
}

/** Choose a distribution: negative probabilities become 0, and all are scaled to sum to 1. */
function choose(cells, page) {
  const kept = cells.map((one) => Math.max(0, one));
  const total = kept.reduce((sum, one) => sum + one, 0);
  if (!(total > 0)) return;
  settings.cells = kept.map((one) => Number((one / total).toFixed(9)));
  settings.device = "own";
  page.changed();
  page.redraw();
}

// The editor: the choice of a device, and one field per action profile.

export function attach(canvas, page) {
  const place = h("div", { class: "device-editor" });
  canvas.closest("figure").append(place);
  editors.set(canvas, { place, page, key: "", fields: [], select: null });
  canvas.classList.add("turnable");
  canvas.addEventListener("mousedown", (event) => event.preventDefault());
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    const feed = page.feed(canvas);
    if (feed?.shape.game.actions.length !== 2 || cellsOf(feed.shape.game) !== 4) return;
    const box = canvas.getBoundingClientRect();
    const at = seen(inSpace(current(feed)), layout(canvas.clientWidth, canvas.clientHeight, true).left);
    const apart = Math.hypot(event.clientX - box.left - at[0], event.clientY - box.top - at[1]);
    drag = { from: [event.clientX, event.clientY], moves: apart <= GRAB, cells: current(feed) };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const by = [event.clientX - drag.from[0], event.clientY - drag.from[1]];
    if (drag.moves) {
      const scale = layout(canvas.clientWidth, canvas.clientHeight, true).left.scale;
      choose(moved(drag.cells, by[0] / scale, -by[1] / scale), page);
      return;
    }
    drag.from = [event.clientX, event.clientY];
    view.yaw += by[0] * 0.01;
    view.pitch = Math.max(-1.5, Math.min(1.5, view.pitch + by[1] * 0.01));
    page.redraw();
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (drag = null));
}

export function detach(canvas) {
  editors.get(canvas)?.place.remove();
}

/** Bring the editor of a canvas up to date with the game and the device. */
function edit(canvas, feed, joint) {
  const editor = editors.get(canvas);
  if (!editor) return; // a canvas for saving
  const { game } = feed.shape;
  const offered = choices(feed);
  const key = JSON.stringify([game.name, game.actions, game.players, Object.keys(offered)]);
  if (key !== editor.key) {
    editor.key = key;
    build(editor, game, offered);
  }
  const chosen = settings.device in offered ? settings.device : "played";
  if (editor.select.value !== chosen) editor.select.value = chosen;
  editor.fields.forEach((field, cell) => {
    if (document.activeElement !== field) field.value = share(joint[cell], 4);
  });
}

function build(editor, game, offered) {
  const { page } = editor;
  editor.select = h(
    "select",
    {
      "aria-label": "Device",
      onchange: () => {
        settings.device = editor.select.value;
        page.changed();
        page.redraw();
      },
    },
    Object.entries(offered).map(([value, [words]]) => h("option", { value }, words)),
  );
  editor.fields = Array.from({ length: cellsOf(game) }, (_, cell) => {
    const words = profileOf(game, cell).map((action, i) => game.actions[i][action]).join(", ");
    const field = h("input", {
      ...{ type: "text", inputmode: "decimal", size: 6, "aria-label": `Probability of ${words}`, title: words },
      onchange: () => {
        const { value, mistake } = readNumber(field.value, { least: 0, most: 1 });
        field.toggleAttribute("aria-invalid", Boolean(mistake));
        if (!mistake) set(editor, cell, value);
      },
    });
    return field;
  });
  const [rows, columns] = [game.actions[0], game.actions.length === 2 ? game.actions[1] : null];
  const table = columns
    ? h(
        "table",
        {},
        h("tr", {}, h("td"), columns.map((label) => h("th", { scope: "col" }, label))),
        rows.map((label, a) =>
          h("tr", {}, h("th", { scope: "row" }, label), columns.map((_, b) => h("td", {}, editor.fields[a * columns.length + b]))),
        ),
      )
    : h("div", { class: "device-cells" }, editor.fields.map((field) => h("label", {}, h("span", {}, field.title), field)));
  editor.place.replaceChildren(editor.select, table);
}

/** Set one probability; the others keep their proportions. */
function set(editor, cell, value) {
  const now = editor.fields.map((field) => readNumber(field.value).value ?? 0);
  const others = now.reduce((sum, one, k) => (k === cell ? sum : sum + one), 0);
  const rest = Math.max(0, 1 - value);
  const even = rest / Math.max(1, now.length - 1);
  choose(now.map((one, k) => (k === cell ? value : others > 0 ? (one / others) * rest : even)), editor.page);
}

// The picture.

function axesOfView() {
  const [cy, sy, cp, sp] = [Math.cos(view.yaw), Math.sin(view.yaw), Math.cos(view.pitch), Math.sin(view.pitch)];
  return { right: [cy, 0, sy], up: [sp * sy, cp, -sp * cy] };
}

const dotted = (a, b) => a.reduce((sum, one, k) => sum + one * b[k], 0);

function seen(point, { x, y, scale }) {
  const { right, up } = axesOfView();
  return [x + scale * dotted(point, right), y - scale * dotted(point, up)];
}

/** Return the cells after the point has moved in the plane of the screen. */
function moved(cells, dx, dy) {
  const { right, up } = axesOfView();
  const way = right.map((one, k) => one * dx + up[k] * dy);
  return cells.map((one, k) => one + (3 / 4) * dotted(CORNERS[k], way)); // the corners have length 1 and sum to 0
}

/** Divide the drawing into the place of the distribution and that of the constraints. */
function layout(width, height, solid) {
  const beside = width > 400;
  const left = beside ? { width: width * 0.46, height } : { width, height: height * 0.5 };
  const scale = Math.min(left.width * 0.36, left.height * 0.42);
  return {
    left: { ...left, x: left.width / 2, y: left.height / 2, scale },
    right: !solid
      ? { x: 8, y: 4, width: width - 16, height: height - 8 }
      : beside
        ? { x: left.width + 4, y: 4, width: width - left.width - 12, height: height - 8 }
        : { x: 8, y: left.height, width: width - 16, height: height - left.height - 4 },
  };
}

export function draw(canvas, feed) {
  const { context, width, height } = begin(canvas);
  const { game } = feed.shape;
  const joint = current(feed);
  edit(canvas, feed, joint);
  const small = rangeOf(game) * ROUNDING;
  const found = gains(game, joint);
  const obeyed = found.every(({ gain }) => gain <= small * 1000); // as digits are rounded on the way to the page
  const solid = game.actions.length === 2 && cellsOf(game) === 4;
  const places = layout(width, height, solid);
  if (solid) tetrahedron(context, places.left, feed, joint, obeyed);
  constraints(context, places.right, game, found, small * 1000, obeyed);
}

function tetrahedron(context, place, feed, joint, obeyed) {
  const { actions } = feed.shape.game;
  const at = (point) => seen(point, place);
  for (const [a, b] of EDGES) line(context, [at(CORNERS[a]), at(CORNERS[b])], { colour: theme().dim, width: 1 });
  for (const points of faces((feed.sets?.ce?.vertices ?? []).map(inSpace))) {
    if (!points.length) continue;
    if (points.length > 2) polygon(context, points.map(at), { fill: theme().ce, alpha: 0.22 });
    line(context, [...points, points[0]].map(at), { colour: theme().ce, width: 1.5 });
    if (points.length === 1) dot(context, at(points[0]), 5, { fill: theme().ce });
  }
  font(context, 0.7);
  CORNERS.forEach((corner, k) => {
    const [x, y] = at(corner);
    const words = `${actions[0][k >> 1]}, ${actions[1][k & 1]}`;
    const below = y > place.y ? 1 : -1;
    const half = Math.min(context.measureText(words).width, place.width) / 2;
    const inside = Math.max(half + 2, Math.min(place.width - half - 2, x));
    text(context, words, inside, y + below * theme().size * 0.8, { align: "center", most: place.width, colour: theme().text, halo: true });
  });
  font(context);
  dot(context, at(inSpace(joint)), 9, { fill: obeyed ? theme().ce : BROKEN, stroke: theme().text });
}

function constraints(context, place, game, found, small, obeyed) {
  const size = theme().size;
  const broken = found.filter(({ gain }) => gain > small).length;
  const words = obeyed ? "Nobody gains by disobeying: a correlated equilibrium" : `${broken} of ${found.length} constraints break`;
  font(context, 0.82, "600");
  text(context, words, place.x, place.y + size * 0.7, { colour: obeyed ? theme().ce : BROKEN, most: place.width });
  font(context, 0.7);
  text(context, "gain per round by disobeying", place.x, place.y + size * 1.8, { most: place.width });
  const rows = found.length <= ROWS ? found : [...found].sort((one, other) => other.gain - one.gain).slice(0, ROWS);
  const high = Math.min(size * 2.6, (place.height - size * 2.8) / rows.length);
  const most = Math.max(...rows.map(({ gain }) => Math.abs(gain)), small);
  const [numbers, bars] = [size * 3.6, place.width * 0.3];
  const middle = place.x + place.width - numbers - bars / 2;
  rows.forEach(({ player, a, b, gain, chance }, k) => {
    const y = place.y + size * 2.7 + (k + 0.5) * high;
    const labels = game.actions[player];
    const breaks = gain > small;
    const room = place.width - numbers - bars - 8;
    text(context, `${game.players[player]}: ${labels[a]} → ${labels[b]}`, place.x, y, { colour: chance > 0 ? theme().text : theme().dim, most: room });
    const wide = (Math.abs(gain) / most) * (bars / 2);
    context.fillStyle = breaks ? BROKEN : theme().ce;
    context.fillRect(gain > 0 ? middle : middle - wide, y - high * 0.3, wide, high * 0.6);
    line(context, [[middle, y - high / 2], [middle, y + high / 2]], { colour: theme().dim, width: 1 });
    const words = Math.abs(gain) <= small ? "0" : shown(gain);
    text(context, words, place.x + place.width - numbers + 4, y, { colour: breaks ? BROKEN : theme().dim, most: numbers });
  });
  font(context);
}

export function describe(feed) {
  const { game } = feed.shape;
  const small = rangeOf(game) * ROUNDING * 1000;
  const broken = gains(game, current(feed)).filter(({ gain }) => gain > small);
  if (!broken.length) return "nobody gains by disobeying, so that the device is a correlated equilibrium";
  return broken
    .sort((one, other) => other.gain - one.gain)
    .map(({ player, a, b, gain }) => {
      const labels = game.actions[player];
      return `${game.players[player]} gains ${shown(gain)} by playing ${labels[b]} when ${labels[a]} is recommended`;
    })
    .join("; ");
}
