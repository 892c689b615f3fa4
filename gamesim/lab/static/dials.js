// Gaps and distances in large digits.

import { byId, h, put } from "./dom.js";
import { shown } from "./numbers.js";

const DIALS = [
  ["gap_ce", "CE gap"],
  ["gap_cce", "CCE gap"],
  ["gap_nash", "Nash gap"],
  ["ce", "distance to CE"],
  ["cce", "distance to CCE"],
];

/** Make the dials of a new shape: one row per run. */
export function makeDials(shape, marked) {
  const captions = shape.runs.map((run) => [...new Set(run.learners)].join(", "));
  const dial = ([name, label], k) =>
    h(
      "div",
      { class: `dial ${name}` },
      h("span", { class: "dial-label" }, marked(label)),
      h("output", { id: `${name}-${k}` }, "–"),
      h("span", { class: "meter", "aria-hidden": "true" }, h("span", { id: `${name}-${k}-meter` })),
    );
  const rows = captions.flatMap((words, k) => [
    ...(captions.length > 1 ? [h("p", { class: "dial-run" }, words)] : []),
    h(
      "div",
      { class: "dial-row" },
      DIALS.map((one) => dial(one, k)),
    ),
  ]);
  byId("dials").replaceChildren(...rows);
}

/** The largest difference of a player's payoffs. */
export const payoffRange = ({ high, low }) => Math.max(...high.map((most, i) => most - low[i])) || 1;

/** Show the numbers of all runs; meters are logarithmic, over five powers of ten. */
export function showDials(feeds) {
  feeds.forEach((feed, k) => {
    const range = payoffRange(feed.shape.game);
    for (const [name] of DIALS) {
      const distance = name === "ce" || name === "cce";
      const value = distance ? feed.nearest?.distance[name] : feed.state?.[name];
      put(`${name}-${k}`, shown(value ?? NaN));
      const share = value > 0 ? Math.max(0, Math.min(1, 1 + Math.log10(value / (distance ? 1 : range)) / 5)) : 0;
      byId(`${name}-${k}-meter`).style.transform = `scaleX(${share.toFixed(3)})`;
    }
  });
}
