// The joint distributions of a 2×2 game form a tetrahedron whose vertices are the four action profiles. It contains the
// equilibria, the surface of independent play, and the path of the empirical joint distribution. With two actions,
// "always play b" differs from play only where a was played, so every CCE constraint is a CE constraint: the two
// polytopes coincide.

import { begin, key, text, theme } from "./canvas.js";
import { faces } from "./hull.js";
import { flat, seen, webgl } from "./solid.js";
import { h } from "../dom.js";
import { shown } from "../numbers.js";

export const title = "Joint distributions and equilibria";
export const about =
  "Each point is a joint distribution over the four action profiles. With two actions per player, CE and CCE coincide. Drag or use the arrow keys to rotate.";
export const fits = (shape) =>
  shape.game.actions.length === 2 && shape.game.actions.every((labels) => labels.length === 2);

export const CORNERS = [
  [-1, 1, 1],
  [1, 1, -1],
  [-1, -1, -1],
  [1, -1, 1],
].map((corner) => corner.map((one) => one / Math.sqrt(3)));
export const EDGES = [
  [0, 1],
  [0, 2],
  [0, 3],
  [1, 2],
  [1, 3],
  [2, 3],
];
const MESH = 8;
const turned = { yaw: 0.16, pitch: 0.2, turning: false };
const layers = new WeakMap(); // canvas → the canvas below it, and what draws there once it is needed

export const inSpace = (joint) =>
  [0, 1, 2].map((axis) => CORNERS.reduce((sum, corner, k) => sum + joint[k] * corner[axis], 0));
const independent = (p, q) => inSpace([p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)]);

/** Make a canvas rotatable. All runs rotate together. */
export function attach(canvas, { redraw }) {
  const below = h("canvas", { class: "below", "aria-hidden": "true" });
  canvas.before(below);
  layers.set(canvas, { below });
  canvas.tabIndex = 0;
  canvas.classList.add("turnable");
  const turn = (yaw, pitch) => {
    turned.yaw += yaw;
    turned.pitch = Math.max(-1.5, Math.min(1.5, turned.pitch + pitch));
    redraw();
  };
  let from = null;
  canvas.addEventListener("mousedown", (event) => event.preventDefault()); // leave the focus: arrows keep moving the round
  canvas.addEventListener("pointerdown", (event) => {
    from = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    turn((event.clientX - from[0]) * 0.01, (event.clientY - from[1]) * 0.01);
    from = [event.clientX, event.clientY];
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (from = null));
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
    if (!by) return;
    turn(...by);
    event.preventDefault();
    event.stopPropagation();
  });
}

export function detach(canvas) {
  layers.get(canvas)?.renderer?.dispose();
}

/** Return a button for continuous rotation, disabled if the user prefers reduced motion. */
export function controls({ redraw }) {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const button = h("button", { type: "button", class: "small", "aria-pressed": "false" }, "rotate");
  const step = () => {
    if (!turned.turning) return;
    turned.yaw += 0.006;
    redraw();
    requestAnimationFrame(step);
  };
  button.addEventListener("click", () => {
    turned.turning = !turned.turning && !still.matches;
    button.setAttribute("aria-pressed", String(turned.turning));
    step();
  });
  button.disabled = still.matches;
  return button;
}

export function draw(canvas, feed) {
  const { context, width, height } = begin(canvas);
  const matrix = camera(width, height);
  const scene = sceneOf(feed);
  const layer = layers.get(canvas); // none if the picture is saved
  if (layer && layer.renderer === undefined) layer.renderer = webgl(layer.below);
  if (layer?.renderer) layer.renderer.draw(scene, matrix, width, height, Math.min(window.devicePixelRatio || 1, 2));
  else flat(context, scene, matrix, width, height);
  const { actions } = feed.shape.game;
  const names = CORNERS.map((_, k) => `${actions[0][k >> 1]}, ${actions[1][k & 1]}`);
  const corners = CORNERS.map((corner) => seen(matrix, corner, width, height));
  labelCorners(context, corners, names, width, height - theme().size * 1.4);
  key(context, 8, height - 9, [
    ["play so far", theme().path],
    ...(feed.sets?.ce?.vertices ? [["CE = CCE", theme().ce]] : []),
    ["independent play", theme().dim],
  ]);
}

/** Label the vertices on the outer side, away from the edges. */
function labelCorners(context, corners, names, width, height) {
  const high = theme().size * 0.6; // half the height of a label
  const most = width * 0.48;
  const middle = [0, 1].map((axis) => corners.reduce((sum, corner) => sum + corner[axis] / corners.length, 0));
  corners.forEach(([x, y], k) => {
    const wide = Math.min(context.measureText(names[k]).width, most) / 2 + 3;
    const [right, down] = [Math.sign(x - middle[0]), Math.sign(y - middle[1])];
    const across = Math.max(wide, Math.min(width - wide, x + right * (wide + 5)));
    const below = Math.max(high, Math.min(height - high, y + down * (high + 5)));
    context.globalAlpha = 0.75;
    context.fillStyle = theme().paper;
    context.fillRect(across - wide, below - high, 2 * wide, 2 * high);
    context.globalAlpha = 1;
    text(context, names[k], across, below, { align: "center", colour: theme().text, most });
  });
}

function sceneOf(feed) {
  const colours = theme();
  const scene = { faces: [], lines: [], dots: [] };
  for (const [a, b] of EDGES)
    scene.lines.push({ points: [CORNERS[a], CORNERS[b]], colour: colours.dim, alpha: 0.7, width: 1.5 });
  for (let k = 0; k <= MESH; k += 1) {
    const share = k / MESH;
    for (const points of [
      [independent(share, 0), independent(share, 1)],
      [independent(0, share), independent(1, share)],
    ])
      scene.lines.push({ points, colour: colours.dim, alpha: 0.22, width: 1 });
  }
  for (const points of faces((feed.sets?.ce?.vertices ?? []).map(inSpace))) {
    if (points.length > 2) scene.faces.push({ points, colour: colours.ce, alpha: 0.3 });
    if (points.length > 1)
      scene.lines.push({ points: [...points, points[0]], colour: colours.ce, alpha: 0.9, width: 2 });
    if (points.length === 1) scene.dots.push({ point: points[0], colour: colours.ce, radius: 7 });
  }
  const { state, curve, path } = feed;
  if (Number.isNaN(state.joint[0])) return scene;
  const play = path.rows.map((row) => independent(row[0], row[2]));
  scene.lines.push({ points: play, colour: colours.players[5], alpha: 0.55, width: 1.2 });
  const joints = [...curve.map((row) => inSpace(row.joint)), inSpace(state.joint)];
  scene.lines.push({ points: joints, colour: colours.path, alpha: 1, width: 3 });
  scene.dots.push(
    { point: joints.at(-1), colour: colours.paper, radius: 8 },
    { point: joints.at(-1), colour: colours.path, radius: 6.5 },
  );
  return scene;
}

/** Return the camera matrix: rotation, then a weak perspective. */
function camera(width, height) {
  const { yaw, pitch } = turned;
  const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
  const distance = 5;
  const zoom = distance * Math.min(1, width / height, 1.2);
  const up = 0.08; // leave room for the legend below
  const [sx, sz] = [zoom * Math.min(1, height / width), zoom * Math.min(1, width / height)];
  const rows = [
    [sx * cy, 0, sx * sy, 0],
    [sz * sp * sy + up * cp * sy, sz * cp - up * sp, -sz * sp * cy - up * cp * cy, up * distance],
    [0, 0, 0, 0],
    [cp * sy, -sp, -cp * cy, distance],
  ];
  return new Float32Array([0, 1, 2, 3].flatMap((column) => rows.map((row) => row[column])));
}

export function describe(feed) {
  const { ce, cce } = feed.nearest?.distance ?? {};
  return ce === undefined
    ? "The tetrahedron of all joint distributions"
    : `The joint distribution of play is at distance ${shown(ce)} from the correlated and ${shown(cce)} from the coarse correlated equilibria`;
}
