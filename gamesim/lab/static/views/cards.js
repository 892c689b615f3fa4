// One card per view, with one drawing per run. During play only the cards on screen are drawn; when play stops, all open
// cards are, so that printouts and screenshots of the whole page are complete.

import { PLAYING } from "../connection.js";
import { h } from "../dom.js";
import * as strategies from "./strategies.js";
import * as joint from "./joint.js";
import * as tetrahedron from "./tetrahedron.js";
import * as regrets from "./regrets.js";
import * as profile from "./profile.js";
import * as payoffs from "./payoffs.js";

export const VIEWS = { strategies, tetrahedron, regrets, joint, payoffs, profile };
export const FIRST = ["strategies", "tetrahedron", "regrets", "joint", "payoffs"];
const SPOKEN = 1500; // milliseconds between two updates of the aria labels

export class Cards {
  /** `redraw` schedules drawing; `changed(names)` reports the open views. */
  constructor(place, switches, { redraw, changed }) {
    this.place = place;
    this.redraw = redraw;
    this.changed = changed;
    this.open = new Set(FIRST);
    this.fitting = new Set(Object.keys(VIEWS));
    this.runs = 0;
    this.cards = new Map();
    this.described = 0;
    this.onScreen = new Set();
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries)
        this.onScreen[isIntersecting ? "add" : "delete"](target.dataset.view);
      redraw();
    });
    this.switches = new Map(
      Object.entries(VIEWS).map(([name, view], k) => {
        const button = h(
          "button",
          {
            type: "button",
            class: "switch",
            "aria-pressed": "true",
            title: `Show or hide (key ${k + 1})`,
            onclick: () => this.toggle(name),
          },
          view.title,
        );
        switches.append(button);
        return [name, button];
      }),
    );
    this.build(1, [""]);
  }

  toggle(name) {
    if (!this.fitting.has(name)) return;
    this.open[this.open.has(name) ? "delete" : "add"](name);
    this.show();
    this.changed([...this.open]);
  }

  setOpen(names) {
    this.open = new Set(names.filter((name) => name in VIEWS));
    this.show();
  }

  show() {
    for (const [name, { card }] of this.cards) {
      const fits = this.fitting.has(name);
      card.hidden = !this.open.has(name) || !fits;
      this.switches.get(name).setAttribute("aria-pressed", String(this.open.has(name) && fits));
      this.switches.get(name).disabled = !fits;
    }
    this.redraw();
  }

  /** Fit the cards to a new shape: one drawing per run, captioned with its learners. */
  shape(shape) {
    const captions = shape.runs.map((run) => [...new Set(run.learners)].join(", "));
    if (shape.runs.length !== this.runs) this.build(shape.runs.length, captions);
    for (const { figures } of this.cards.values())
      figures.forEach(({ caption }, k) => (caption.textContent = captions[k]));
    this.fitting = new Set(Object.keys(VIEWS).filter((name) => VIEWS[name].fits(shape)));
    this.show();
  }

  build(runs, captions) {
    this.observer.disconnect();
    for (const [name, { figures }] of this.cards) figures.forEach(({ canvas }) => VIEWS[name].detach?.(canvas));
    this.runs = runs;
    this.place.classList.toggle("two", runs === 2);
    this.cards.clear();
    this.place.replaceChildren();
    for (const [name, view] of Object.entries(VIEWS)) {
      const figures = captions.map((words) => {
        const canvas = h("canvas", { role: "img", "aria-label": view.title });
        const caption = h("figcaption", {}, words);
        return { canvas, caption, figure: h("figure", {}, caption, h("div", { class: "drawing" }, canvas)) };
      });
      const head = h("header", {}, h("h2", {}, view.title), view.controls?.(this.redraw) ?? null);
      const card = h(
        "section",
        { class: "card", "data-view": name, id: `view-${name}` },
        head,
        h("p", { class: "about dim" }, view.about),
        h(
          "div",
          { class: "figures" },
          figures.map(({ figure }) => figure),
        ),
      );
      this.place.append(card);
      figures.forEach(({ canvas }) => view.attach?.(canvas, this.redraw));
      this.cards.set(name, { card, figures });
      this.observer.observe(card);
    }
    this.show();
  }

  /** Draw the open views that are on screen, or all of them. */
  draw(feeds, all) {
    if (!feeds.length || feeds.some((feed) => feed.state === null)) return;
    const now = performance.now();
    const describe = now - this.described > SPOKEN || feeds.every((feed) => feed.status !== PLAYING);
    if (describe) this.described = now;
    for (const [name, { card, figures }] of this.cards) {
      if (card.hidden || !(all || this.onScreen.has(name))) continue;
      feeds.forEach((feed, k) => {
        VIEWS[name].draw(figures[k].canvas, feed);
        if (describe && feed.state.rounds > 0)
          figures[k].canvas.setAttribute("aria-label", `${VIEWS[name].title}: ${VIEWS[name].describe(feed)}`);
      });
    }
  }
}
