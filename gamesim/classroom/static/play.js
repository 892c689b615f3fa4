// What the class has played, in the form in which the lab's views draw a run (`Feed.at` in the lab's feed.js).

import { DONE } from "/lab/feed.js";

const numbers = (values) => Float64Array.from(values ?? [NaN], (one) => one ?? NaN);
const nothing = (length) => new Float64Array(length).fill(NaN);

/** Return the shape of a game: what views need before the first round. */
export function shapeOf({ game, no_distance }, rounds) {
  const learners = game.players.map(() => "class");
  return { shape: 0, game, rounds, no_distance, runs: [{ learners, bounds: game.players.map(() => null) }] };
}

/** Return play so far as a feed; before the first round, its numbers are NaN. */
export function feedOf(shape, about, measured) {
  const actions = shape.game.actions.reduce((sum, labels) => sum + labels.length, 0);
  const cells = shape.game.actions.reduce((product, labels) => product * labels.length, 1);
  const players = shape.game.players.length;
  const common = { shape, run: shape.runs[0], actions, status: DONE, given: { device: about.devices }, sets: about.sets };
  if (!measured) {
    const state = { rounds: 0, gap_ce: NaN, gap_cce: NaN, joint: nothing(Math.min(cells, 4096)) };
    for (const name of ["payoffs", "external", "swap"]) state[name] = nothing(players);
    for (const name of ["strategy", "average", "together", "alone"]) state[name] = nothing(actions);
    return { ...common, state, curve: [], path: { stride: 1, rows: [] }, nearest: null };
  }
  const { state: now, curve } = measured;
  const state = { ...now };
  for (const name of ["payoffs", "external", "swap", "strategy", "average", "together", "alone", "joint"])
    state[name] = numbers(now[name]);
  const rows = curve.round.map((round, k) => ({
    round: [round],
    ...Object.fromEntries(["payoffs", "external", "swap", "joint"].map((name) => [name, numbers(curve[name]?.[k])])),
  }));
  return { ...common, state, curve: rows, path: { stride: 1, rows: measured.path.map(numbers) }, nearest: measured.nearest };
}
