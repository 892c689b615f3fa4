// The WebSocket connection to the server: JSON messages both ways, and binary frames (layout: gamesim/lab/frames.py).

const HEAD = 7; // shape, status, curve_start, curve_rows, path_stride, path_start, path_rows

export const PAUSED = 0,
  PLAYING = 1,
  DONE = 2;

export class Connection {
  /** `on` has one handler per kind of message, `frame` for binary frames, and `closed` for a lost connection. */
  constructor(on) {
    this.on = on;
    this.patience = 500;
    this.open();
  }

  open() {
    const socket = new WebSocket(`ws://${location.host}/live`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.patience = 500;
    };
    socket.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer) {
        this.on.frame(new Float32Array(data));
      } else {
        const message = JSON.parse(data);
        this.on[message.is]?.(message);
      }
    };
    socket.onclose = () => {
      this.on.closed();
      setTimeout(() => this.open(), this.patience);
      this.patience = Math.min(this.patience * 2, 8000);
    };
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}

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

const PAIRS = new Set(["rounds", "gap_ce", "gap_cce", "gap_nash"]);

/** The data received for one run: latest state, curve, path and nearest equilibrium. */
export class Feed {
  constructor(shape, run) {
    this.shape = shape;
    this.run = run;
    this.state = null;
    this.status = PAUSED;
    this.curve = [];
    this.path = { stride: 1, rows: [] };
    this.nearest = null;
    this.actions = shape.game.actions.reduce((sum, labels) => sum + labels.length, 0);
  }

  /** Read this run's part of a frame, starting at `at`; return the index after it. */
  take(numbers, at) {
    const { fields, row_fields: rowFields } = this.shape;
    const [, status, curveStart, curveRows, stride, pathStart, pathRows] = numbers.subarray(at, at + HEAD);
    let here = at + HEAD;
    this.status = status;
    this.state = named(fields, numbers.subarray(here, here + length(fields)), PAIRS);
    here += length(fields);
    this.curve.length = curveStart;
    for (let k = 0; k < curveRows; k += 1, here += length(rowFields)) {
      this.curve.push(named(rowFields, numbers.subarray(here, here + length(rowFields)), new Set()));
    }
    if (stride !== this.path.stride) this.path = { stride, rows: [] };
    this.path.rows.length = pathStart;
    for (let k = 0; k < pathRows; k += 1, here += this.actions) {
      this.path.rows.push(numbers.subarray(here, here + this.actions));
    }
    return here;
  }
}

/** Read a frame into the feeds of all runs; return false if it belongs to an earlier shape. */
export function takeFrame(numbers, feeds) {
  if (!feeds.length || numbers[0] !== feeds[0].shape.shape) return false;
  let at = 0;
  for (const feed of feeds) at = feed.take(numbers, at);
  return true;
}
