// Drawing on canvases at the resolution of the screen, in the colours of the theme.

let colours = null;

/** Return the colours of the theme, read once from the CSS variables. */
export function theme() {
  if (colours === null) {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    colours = {
      players: [0, 1, 2, 3, 4, 5].map((k) => read(`--p${k}`)),
      text: read("--text"),
      dim: read("--dim"),
      line: read("--line"),
      paper: read("--card"),
      ce: read("--ce"),
      cce: read("--cce"),
      path: read("--path"),
      low: read("--heat-low"),
      high: read("--heat-high"),
      size: parseFloat(style.fontSize),
    };
  }
  return colours;
}

export function forgetTheme() {
  colours = null;
}

/** Resize and clear the canvas; return its context and its size in CSS pixels. */
export function begin(canvas) {
  const ratio = canvas.ratio ?? Math.min(window.devicePixelRatio || 1, 2);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.lineJoin = context.lineCap = "round";
  font(context);
  return { context, width, height };
}

export function font(context, scale = 0.78, weight = "400") {
  context.font = `${weight} ${Math.round(theme().size * scale)}px system-ui, sans-serif`;
}

/** Write a text; a halo keeps it legible on top of a drawing. */
export function text(
  context,
  words,
  x,
  y,
  { colour = theme().dim, align = "left", baseline = "middle", most = 0, halo = false } = {},
) {
  const shown = most ? fitted(context, words, most) : words;
  context.fillStyle = colour;
  context.textAlign = align;
  context.textBaseline = baseline;
  if (halo) {
    context.strokeStyle = theme().paper;
    context.lineWidth = 4;
    context.strokeText(shown, x, y);
  }
  context.fillText(shown, x, y);
}

/** Break a text into lines of at most this width. */
export function lines(context, words, most) {
  const found = [""];
  for (const word of words.split(" ")) {
    if (context.measureText(`${found.at(-1)} ${word}`).width > most && found.at(-1)) found.push("");
    found[found.length - 1] += `${found.at(-1) ? " " : ""}${word}`;
  }
  return found;
}

/** Truncate a text to a width. */
export function fitted(context, words, most) {
  if (context.measureText(words).width <= most) return words;
  let cut = words;
  while (cut.length > 1 && context.measureText(`${cut}…`).width > most) cut = cut.slice(0, -1);
  return `${cut}…`;
}

export function line(context, points, { colour = theme().text, width = 1.5, dash = [] } = {}) {
  if (points.length < 2) return;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  points.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
  context.setLineDash([]);
}

export function polygon(context, points, { fill = null, stroke = null, alpha = 1, width = 1.5, dash = [] } = {}) {
  if (!points.length) return;
  context.beginPath();
  points.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
  context.globalAlpha = alpha;
  if (fill) {
    context.fillStyle = fill;
    context.fill();
  }
  context.globalAlpha = 1;
  if (stroke) {
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.stroke();
    context.setLineDash([]);
  }
}

export function dot(context, [x, y], radius, { fill = theme().text, stroke = null } = {}) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  if (fill) {
    context.fillStyle = fill;
    context.fill();
  }
  if (stroke) {
    context.strokeStyle = stroke;
    context.lineWidth = 1.5;
    context.stroke();
  }
}

/** Draw a one-line legend of colours, starting at x. */
export function key(context, x, y, entries) {
  font(context, 0.74);
  for (const [words, colour] of entries) {
    context.fillStyle = colour;
    context.fillRect(x, y - 4, 14, 8);
    text(context, words, x + 19, y);
    x += context.measureText(words).width + 35;
  }
}

/** Split a row over all actions of all players into one part per player. */
export function byPlayer(row, game) {
  let at = 0;
  return game.actions.map((labels) => row.subarray(at, (at += labels.length)));
}

/** Return the areas of `count` panels in a grid that fits the width; `square` makes the smaller side as large as possible. */
export function panels(count, width, height, least = 150, square = false) {
  const most = Math.max(1, Math.min(count, Math.floor(width / least)));
  const side = (columns) => Math.min(width / columns, height / Math.ceil(count / columns));
  const choices = Array.from({ length: most }, (_, k) => most - k);
  const even = Math.ceil(count / Math.ceil(count / most)); // as few rows as possible, of about the same length
  const columns = square ? choices.reduce((best, one) => (side(one) > side(best) ? one : best)) : even;
  const rows = Math.ceil(count / columns);
  return Array.from({ length: count }, (_, k) => ({
    x: ((k % columns) * width) / columns,
    y: (Math.floor(k / columns) * height) / rows,
    width: width / columns,
    height: height / rows,
  }));
}
