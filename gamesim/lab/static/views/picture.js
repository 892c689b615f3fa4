// Save a drawing as SVG or PNG. A view draws a picture as it draws on screen: on a canvas of the same size, which has
// more pixels, or whose context writes SVG.

import { theme } from "./canvas.js";

const PIXELS = 3; // of a PNG per CSS pixel
const PLAIN = ["fillStyle", "strokeStyle", "lineWidth", "globalAlpha", "font", "textAlign", "textBaseline"];
const ANCHOR = { left: "start", start: "start", center: "middle", right: "end", end: "end" };
const BASELINE = { middle: "central", top: "hanging", bottom: "text-after-edge", alphabetic: "alphabetic" };

const escaped = (words) =>
  String(words).replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`).replace(/[\u0000-\u001f]/g, " ");
const at = (value) => Number(value.toFixed(2));

/** The part of a 2D context that the views use, written as SVG elements. */
class Pen {
  constructor() {
    Object.assign(this, {
      ...{ fillStyle: "#000000", strokeStyle: "#000000", lineWidth: 1, globalAlpha: 1, font: "10px sans-serif" },
      ...{ textAlign: "start", textBaseline: "alphabetic", lineJoin: "round", lineCap: "round" },
      ...{ written: [], path: "", dash: [], saved: [], clips: 0, open: 0 },
    });
    this.ruler = document.createElement("canvas").getContext("2d");
  }

  setTransform() {}
  clearRect() {}
  setLineDash(dash) {
    this.dash = dash;
  }
  measureText(words) {
    this.ruler.font = this.font;
    return this.ruler.measureText(words);
  }
  save() {
    this.saved.push([PLAIN.map((name) => this[name]), this.dash, this.open]);
  }
  restore() {
    const [values, dash, open] = this.saved.pop();
    PLAIN.forEach((name, k) => (this[name] = values[k]));
    this.dash = dash;
    for (; this.open > open; this.open -= 1) this.written.push("</g>");
  }
  beginPath() {
    this.path = "";
  }
  moveTo(x, y) {
    this.path += `M${at(x)} ${at(y)}`;
  }
  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${at(x)} ${at(y)}`;
  }
  closePath() {
    this.path += "Z";
  }
  rect(x, y, width, height) {
    this.path += `M${at(x)} ${at(y)}h${at(width)}v${at(height)}h${at(-width)}Z`;
  }
  arc(x, y, radius, from, to) {
    const point = (angle) => `${at(x + radius * Math.cos(angle))} ${at(y + radius * Math.sin(angle))}`;
    const turn = `A${at(radius)} ${at(radius)} 0`;
    const whole = Math.abs(to - from) >= 2 * Math.PI - 1e-9;
    const half = (from + to) / 2;
    this.path += `${this.path && !whole ? "L" : "M"}${point(from)}${turn} 0 1 ${point(half)}${turn} 0 1 ${point(to)}`;
  }
  clip() {
    this.clips += 1;
    this.open += 1;
    this.written.push(`<clipPath id="clip${this.clips}"><path d="${this.path}"/></clipPath>`);
    this.written.push(`<g clip-path="url(#clip${this.clips})">`);
  }
  fill() {
    this.element("path", `d="${this.path}" ${this.filled()}`);
  }
  stroke() {
    this.element("path", `d="${this.path}" ${this.stroked()}`);
  }
  fillRect(x, y, width, height) {
    this.element("path", `d="M${at(x)} ${at(y)}h${at(width)}v${at(height)}h${at(-width)}Z" ${this.filled()}`);
  }
  strokeRect(x, y, width, height) {
    this.element("path", `d="M${at(x)} ${at(y)}h${at(width)}v${at(height)}h${at(-width)}Z" ${this.stroked()}`);
  }
  fillText(words, x, y) {
    this.letters(words, x, y, this.filled());
  }
  strokeText(words, x, y) {
    this.letters(words, x, y, this.stroked());
  }
  letters(words, x, y, paint) {
    const [, weight, size] = /^(\S+) (\S+)px/.exec(this.font) ?? [null, "400", "12"];
    const place = `x="${at(x)}" y="${at(y)}" text-anchor="${ANCHOR[this.textAlign]}"`;
    const style = `font-size="${size}" font-weight="${weight}" dominant-baseline="${BASELINE[this.textBaseline]}"`;
    this.written.push(`<text ${place} ${style} ${paint}>${escaped(words)}</text>`);
  }
  element(name, attributes) {
    this.written.push(`<${name} ${attributes}/>`);
  }
  filled() {
    return `fill="${escaped(this.fillStyle)}" fill-opacity="${at(this.globalAlpha)}"`;
  }
  stroked() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.map(at).join(" ")}"` : "";
    const ends = `stroke-linejoin="${this.lineJoin}" stroke-linecap="${this.lineCap}"`;
    const line = `stroke-width="${at(this.lineWidth)}" stroke-opacity="${at(this.globalAlpha)}"`;
    return `fill="none" stroke="${escaped(this.strokeStyle)}" ${line} ${ends}${dash}`;
  }
}

/** Return the SVG of what `draw` draws on a canvas of this size. */
export function svgOf(draw, { width, height, words }) {
  const pen = new Pen();
  draw({ clientWidth: width, clientHeight: height, getContext: () => pen });
  const size = `width="${at(width)}" height="${at(height)}" viewBox="0 0 ${at(width)} ${at(height)}"`;
  const paper = `<rect width="100%" height="100%" fill="${escaped(theme().paper)}"/>`;
  const font = 'font-family="system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif"';
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}><title>${escaped(words)}</title>${paper}${pen.written.join("")}</svg>\n`;
}

/** Return a PNG, as a Blob, of what `draw` draws on a canvas of this size. */
export function pngOf(draw, { width, height }) {
  const canvas = document.createElement("canvas");
  Object.defineProperties(canvas, { clientWidth: { value: width }, clientHeight: { value: height } });
  canvas.ratio = PIXELS;
  draw(canvas);
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = theme().paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
