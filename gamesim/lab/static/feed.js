// The data of one run: what frames contain (layout: gamesim/lab/frames.py), and everything kept of it. A run repeats
// exactly from its seed, so that rows and states that arrive again are the same, and nothing kept ever has to go.

const HEAD = 7; // shape, status, curve_start, curve_rows, path_stride, path_start, path_rows
const PAIRS = new Set(["rounds", "gap_ce", "gap_cce", "gap_nash"]);
const STATES = 2000; // maximum number of kept states
const NUMBERS = 2 ** 20; // maximum number of numbers in all kept states

export const PAUSED = 0;
export const PLAYING = 1;
export const DONE = 2;
export const SEEKING = 3; // on the way to a round that the page has asked for

const length = (fields) => fields.reduce((sum, [, size]) => sum + size, 0);

/** Split a row into named fields: subarrays, or the sum for a field stored as a pair. */
function named(fields, numbers, pairs) {
  const result = {};
  let at = 0;
  for (const [name, size] of fields) {
    const part = numbers.subarray(at, at + size);
    result[name] = pairs.has(name) ? part[0] + part[1] : part;
    at += size;
  }
  return result;
}

/** Return how many items, in order of `key`, are at most `value`. */
function countUntil(items, value, key) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(items[middle]) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Insert an item in order of its rounds, in place of one with the same rounds; halve the items if there are too many. */
function keep(items, item, most) {
  const at = countUntil(items, item.rounds, (one) => one.rounds);
  if (items[at - 1]?.rounds === item.rounds) items[at - 1] = item;
  else items.splice(at, 0, item);
  return items.length > most ? items.filter((_, k) => k % 2 === 0 || k === items.length - 1) : items;
}

export class Feed {
  constructor(shape, run) {
    this.shape = shape;
    this.run = run;
    this.actions = shape.game.actions.reduce((sum, labels) => sum + labels.length, 0);
    this.most = Math.min(STATES, Math.max(2, Math.floor(NUMBERS / length(shape.fields))));
    this.status = PAUSED;
    this.rounds = this.speed = 0; // of the last state received
    this.states = []; // kept states, in order of their rounds
    this.rows = []; // measures at checkpoints
    this.paths = new Map(); // stride → strategies of every stride-th round
    this.nearests = []; // nearest equilibria, in order of their rounds
    this.given = {}; // other messages of the server about this game, by their kind
  }

  /** Read this run's part of a frame, starting at `at`; return the index after it. */
  take(numbers, at) {
    const { fields, row_fields: rowFields } = this.shape;
    const [, status, curveStart, curveRows, stride, pathStart, pathRows] = numbers.subarray(at, at + HEAD);
    let here = at + HEAD;
    const state = named(fields, numbers.subarray(here, here + length(fields)), PAIRS);
    here += length(fields);
    for (let k = 0; k < curveRows; k += 1, here += length(rowFields))
      this.rows[curveStart + k] = named(rowFields, numbers.subarray(here, here + length(rowFields)), new Set());
    const path = this.paths.get(stride) ?? [];
    this.paths.set(stride, path);
    for (let k = 0; k < pathRows; k += 1, here += this.actions)
      path[pathStart + k] = numbers.subarray(here, here + this.actions);
    this.status = status;
    this.rounds = state.rounds;
    this.speed = state.speed[0];
    this.states = keep(this.states, state, this.most);
    return here;
  }

  /** Keep the equilibrium nearest to play at some round. */
  takeNearest(nearest) {
    this.nearests = keep(this.nearests, nearest, STATES);
  }

  /** Return the last round up to `round` whose state is kept. */
  keptRound(round) {
    return this.states[Math.max(0, countUntil(this.states, round, (one) => one.rounds) - 1)]?.rounds ?? 0;
  }

  /** The last round of which anything is kept. */
  get furthest() {
    return this.states.at(-1)?.rounds ?? 0;
  }

  /** Return this run as it was after `round` rounds, or after the last kept round before: what a view draws. */
  at(round) {
    const { shape, run, actions, status, given } = this;
    const shown = this.keptRound(round);
    const state = this.states[Math.max(0, countUntil(this.states, shown, (one) => one.rounds) - 1)] ?? null;
    const curve = this.rows.slice(0, countUntil(this.rows, shown, (row) => row.round[0]));
    const nearest = this.nearests[countUntil(this.nearests, shown, (one) => one.rounds) - 1] ?? null;
    const strides = [...this.paths.keys()].sort((a, b) => a - b);
    const stride = strides.find((one) => this.paths.get(one).length * one >= shown) ?? strides.at(-1) ?? 1;
    const path = { stride, rows: (this.paths.get(stride) ?? []).slice(0, Math.ceil(shown / stride)) };
    return { shape, run, actions, status, state, curve, path, nearest, given, sets: given.sets ?? null };
  }
}

/** Read a frame into the feeds of all runs; return false if it belongs to an earlier shape. */
export function takeFrame(numbers, feeds) {
  if (!feeds.length || numbers[0] !== feeds[0].shape.shape) return false;
  let at = 0;
  for (const feed of feeds) at = feed.take(numbers, at);
  return true;
}
