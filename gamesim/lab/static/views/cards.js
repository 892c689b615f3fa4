// One card per view, with one drawing per run. During play only the cards on screen are drawn; when play stops, all open
// cards are, so that printouts and screenshots of the whole page are complete.
//
// A view is a module with
//
//   title, about                     strings: its name, and what the picture shows
//   fits(shape)                      whether it can show this game
//   draw(canvas, feed)               draw a run as of the round shown (`Feed.at` in feed.js), starting with canvas.js's `begin`
//   describe(feed)                   the picture in words, for screen readers
//
// and, if it needs them,
//
//   live                             what can be done in the lab only
//   settings                         an object of JSON values that survives reloads and is part of copied links
//   needs                            the kind of message that it needs: the page sends { do: needs } once per game, and the
//                                    answer { is: needs, shape, … } becomes feed.given[needs]
//   attach(canvas, page)             add listeners to a new canvas
//   controls(page)                   return an element for the head of the card
//   detach(canvas)                   release what `attach` has acquired
//
// where `page` has redraw(), changed() after a change of settings, feed(canvas) for what was last drawn there,
// start(strategies) to begin again from one strategy per player (in the lab only), and show(round) to move to another
// round.

import { PLAYING } from "../feed.js";
import { h } from "../dom.js";
import { pngOf, svgOf } from "./picture.js";
import * as strategies from "./strategies.js";
import * as joint from "./joint.js";
import * as tetrahedron from "./tetrahedron.js";
import * as regrets from "./regrets.js";
import * as profile from "./profile.js";
import * as payoffs from "./payoffs.js";
import * as portrait from "./portrait.js";
import * as cloud from "./cloud.js";
import * as device from "./device.js";

export const VIEWS = { strategies, tetrahedron, regrets, joint, payoffs, profile, portrait, cloud, device };
export const FIRST = ["strategies", "tetrahedron", "regrets", "joint", "payoffs"];
const SPOKEN = 1500; // milliseconds between two updates of the aria labels

export class Cards {
  /**
   * `page` is what views may do (see above), and `opened(names, filling)`, which reports the open views and the one that
   * fills the screen; `download(blob, name)` saves a picture; `ask(kind)` requests what a view needs; `marked(text)`
   * turns a text into nodes.
   */
  constructor(place, switches, page) {
    this.place = place;
    this.page = { ...page, feed: (canvas) => this.drawn.get(canvas) };
    this.open = new Set(FIRST);
    this.filling = null;
    this.fitting = new Set(Object.keys(VIEWS));
    this.asked = new Set();
    this.runs = 0;
    this.cards = new Map();
    this.drawn = new WeakMap(); // canvas → the feed that it shows
    this.feeds = []; // what is shown, also by cards that are not yet drawn
    this.described = 0;
    this.onScreen = new Set();
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries)
        this.onScreen[isIntersecting ? "add" : "delete"](target.dataset.view);
      page.redraw();
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
    this.page.opened([...this.open], this.filling);
  }

  /** Open these views, in this order, and no others. */
  setOpen(names, filling = null) {
    this.open = new Set(names.filter((name) => name in VIEWS));
    this.filling = filling in VIEWS ? filling : null;
    this.show();
  }

  /** Let a view fill the screen, or none. */
  fill(name) {
    this.filling = name;
    if (name) this.open.add(name);
    this.show();
    this.page.opened([...this.open], this.filling);
  }

  /** Fill the screen with the next open view; after the last one, with none. */
  fillNext() {
    const names = [...this.open].filter((name) => this.fitting.has(name));
    this.fill(names[names.indexOf(this.filling) + 1] ?? null);
  }

  /** The settings of all views that have any. */
  get settings() {
    return Object.fromEntries(Object.entries(VIEWS).flatMap(([name, { settings }]) => (settings ? [[name, settings]] : [])));
  }

  /** Take over settings of views; ignore unknown names, and values of another type. */
  setSettings(given) {
    for (const [name, { settings }] of Object.entries(VIEWS))
      for (const [key, value] of Object.entries(given?.[name] ?? {}))
        if (settings && key in settings && typeof value === typeof settings[key]) settings[key] = value;
  }

  show() {
    const filling = this.fitting.has(this.filling) ? this.filling : null;
    document.body.classList.toggle("filled", filling !== null);
    const order = [...this.open];
    for (const [name, { card, fill }] of this.cards) {
      card.style.order = order.indexOf(name);
      const shown = this.open.has(name) && this.fitting.has(name);
      card.hidden = !shown || (filling !== null && name !== filling);
      card.classList.toggle("full", name === filling);
      fill.setAttribute("aria-pressed", String(name === filling));
      this.switches.get(name).setAttribute("aria-pressed", String(shown));
      this.switches.get(name).disabled = !this.fitting.has(name);
      if (shown) this.prepare([name]);
    }
    this.page.redraw();
  }

  /** Request what views need that are open, or will be opened soon. */
  prepare(names) {
    for (const name of names) {
      if (!VIEWS[name].needs || !this.fitting.has(name) || !this.runs || this.asked.has(name)) continue;
      this.asked.add(name);
      this.page.ask(VIEWS[name].needs);
    }
  }

  /** Fit the cards to a new shape: one drawing per run, captioned with its learners. */
  shape(shape) {
    const captions = shape.runs.map((run) => [...new Set(run.learners)].join(", "));
    this.asked.clear();
    this.feeds = [];
    if (shape.runs.length !== this.runs) this.build(shape.runs.length, captions);
    for (const { figures } of this.cards.values())
      figures.forEach(({ caption }, k) => (caption.textContent = captions[k]));
    const lacks = shape.lacks ?? []; // what a replay does not contain
    this.fitting = new Set(
      Object.keys(VIEWS).filter((name) => VIEWS[name].fits(shape) && !lacks.includes(VIEWS[name].needs)),
    );
    this.show();
  }

  build(runs, captions) {
    this.observer.disconnect();
    for (const [name, { figures }] of this.cards) figures.forEach(({ canvas }) => VIEWS[name].detach?.(canvas));
    this.runs = runs;
    this.place.classList.toggle("two", runs === 2);
    this.cards.clear();
    this.place.replaceChildren();
    for (const name of Object.keys(VIEWS)) this.place.append(this.card(name, captions));
    this.show();
  }

  card(name, captions) {
    const view = VIEWS[name];
    const figures = captions.map((words) => {
      const canvas = h("canvas", { role: "img", "aria-label": view.title });
      const caption = h("figcaption", {}, words);
      return { canvas, caption, figure: h("figure", {}, caption, h("div", { class: "drawing" }, canvas)) };
    });
    const button = (words, title, onclick) =>
      h("button", { type: "button", class: "small", title, "aria-label": `${title}: ${view.title}`, onclick }, words);
    const fill = button("⤢", "Fill the screen (key F)", () => this.fill(this.filling === name ? null : name));
    fill.classList.add("fill");
    const card = h(
      "section",
      { class: "card", "data-view": name, id: `view-${name}` },
      h(
        "header",
        {},
        h("h2", {}, view.title),
        h(
          "span",
          { class: "tools" },
          view.controls?.(this.page) ?? null,
          button("SVG", "Save as SVG", () => this.save(name, "svg")),
          button("PNG", "Save as PNG", () => this.save(name, "png")),
          fill,
        ),
      ),
      h(
        "div",
        { class: "figures" },
        figures.map(({ figure }) => figure),
      ),
      h("p", { class: "about dim" }, this.page.marked(this.page.start && view.live ? `${view.about} ${view.live}` : view.about)),
    );
    figures.forEach(({ canvas }) => view.attach?.(canvas, this.page));
    this.cards.set(name, { card, figures, fill });
    this.observer.observe(card);
    return card;
  }

  /** Save the drawings of a view, one file per run. */
  async save(name, format) {
    const view = VIEWS[name];
    const { figures } = this.cards.get(name);
    for (const [k, { canvas }] of figures.entries()) {
      const feed = this.feeds[k];
      if (!feed) continue;
      const draw = (onto) => view.draw(onto, feed);
      const size = { width: canvas.clientWidth, height: canvas.clientHeight };
      const words = `${view.title}, ${feed.shape.game.name}, ${feed.run.learners.join(" and ")}, round ${feed.state.rounds}`;
      const blob =
        format === "svg"
          ? new Blob([svgOf(draw, { ...size, words })], { type: "image/svg+xml" })
          : await pngOf(draw, size);
      this.page.download(blob, `${name}${figures.length > 1 ? `-${k + 1}` : ""}.${format}`);
    }
  }

  /** Draw the open views that are on screen, or all of them. */
  draw(feeds, all) {
    if (!feeds.length || feeds.some((feed) => feed.state === null)) return;
    this.feeds = feeds;
    const now = performance.now();
    const describe = now - this.described > SPOKEN || feeds.every((feed) => feed.status !== PLAYING);
    if (describe) this.described = now;
    for (const [name, { card, figures }] of this.cards) {
      if (card.hidden || !(all || this.onScreen.has(name))) continue;
      feeds.forEach((feed, k) => {
        const { canvas } = figures[k];
        this.drawn.set(canvas, feed);
        VIEWS[name].draw(canvas, feed);
        if (describe && feed.state.rounds > 0)
          canvas.setAttribute("aria-label", `${VIEWS[name].title}: ${VIEWS[name].describe(feed)}`);
      });
    }
  }
}
