// Controls of time: play and pause, steps, speed, where to pause, and the scrubber, which moves through all rounds.

import { byId, h, put } from "./dom.js";
import { DONE, SEEKING } from "./feed.js";
import { readNumber, short, whole } from "./numbers.js";

export const FASTEST = 61; // the last position of the speed slider: as fast as possible
export const DECADE = 3; // seconds per power of ten of the rounds, if play accelerates
const PLACES = 1000; // positions of the scrubber
const JUMP = 25; // positions of the scrubber that Shift and an arrow move
const SETTLED = 150; // milliseconds after which the server follows the scrubber

// Where play pauses: the event (see gamesim/lab/events.py), words, and the default value if it has one.
export const EVENTS = {
  end: ["the last round", null],
  round: ["round", "100"],
  "ce-gap": ["CE gap below", "0.01"],
  "cce-gap": ["CCE gap below", "0.01"],
  boundary: ["a probability below", "0.01"],
  cycle: ["the first cycle", null],
};

/** Return the position of a round on the scrubber, which is logarithmic, like the axes of regrets. */
const placeOf = (round, rounds) => Math.round((PLACES * Math.log1p(round)) / Math.log1p(rounds));
const roundAt = (place, rounds) => Math.round(Math.expm1((place / PLACES) * Math.log1p(rounds)));

export class Transport {
  /** `send(message)` sends a command; `changed()` reports changed choices; `redraw()` schedules drawing. */
  constructor({ send, changed, redraw, notify }) {
    Object.assign(this, { send, changed, redraw, notify, feeds: [], rounds: 0, playing: false });
    Object.assign(this, { speed: 30, accelerate: false, until: "end", value: "" });
    this.target = null; // the round that the scrubber asks for, while the server is elsewhere
    this.seeking = null; // the round that the server is going to
    this.paused = null; // the round of the event at which play has paused: it does not pause there again
    this.settling = 0;
    byId("play").addEventListener("click", () => this.toggle());
    byId("step").addEventListener("click", () => this.step(1));
    byId("back").addEventListener("click", () => this.step(-1));
    byId("reset").addEventListener("click", () => this.goTo(0));
    byId("speed").addEventListener("input", (event) => this.setSpeed(Number(event.target.value)));
    byId("accelerate").addEventListener("click", () => this.setAccelerate(!this.accelerate));
    byId("until").append(...Object.entries(EVENTS).map(([name, [words]]) => h("option", { value: name }, words)));
    byId("until").addEventListener("change", ({ target }) => this.setUntil(target.value));
    byId("until-value").addEventListener("change", ({ target }) => this.setUntil(this.until, target.value));
    const scrub = byId("scrub");
    scrub.addEventListener("input", () => this.goTo(roundAt(Number(scrub.value), this.rounds)));
  }

  /** Begin with new runs. */
  shape(feeds, rounds) {
    Object.assign(this, { feeds, rounds, playing: false, target: null, seeking: null, paused: null });
    clearTimeout(this.settling);
    const powers = Array.from({ length: Math.floor(Math.log10(rounds)) + 1 }, (_, k) => 10 ** k);
    const ticks = powers.filter((one) => one < rounds * 0.35).concat(rounds);
    byId("scrub-ticks").replaceChildren(
      ...ticks.map((one) => {
        const tick = h("span", {}, short(one).replace(".0", ""));
        tick.style.left = `${placeOf(one, rounds) / (PLACES / 100)}%`;
        return tick;
      }),
    );
  }

  /** The round that the server is at. */
  get arrived() {
    return this.feeds[0]?.rounds ?? 0;
  }

  /** The round that all views show: that of the scrubber, or that of the server. */
  get round() {
    return this.target ?? this.arrived;
  }

  /** A frame has arrived: the server has caught up with the scrubber, or not yet. */
  frame(playing) {
    this.playing = playing;
    if (this.feeds[0].status !== SEEKING && this.seeking === this.target) this.target = this.seeking = null;
  }

  /** Show another round: at once if it is kept, and exactly when the server has played it again. */
  goTo(round) {
    if (!this.feeds.length) return;
    if (this.playing) this.send({ do: "pause" });
    this.playing = false;
    this.target = Math.max(0, Math.min(this.rounds, round));
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), this.feeds[0].keptRound(this.target) === this.target ? SETTLED : 0);
    this.redraw();
  }

  /** Send the server to the round that is shown. */
  settle() {
    clearTimeout(this.settling);
    this.settling = 0;
    if (this.target === null) return;
    if (this.target === this.arrived) this.target = null;
    else this.send({ do: "seek", round: this.target });
    this.redraw();
  }

  step(rounds) {
    this.goTo(this.round + rounds);
  }

  /** Move along the scrubber, by one round at least. */
  jump(by) {
    const to = roundAt(placeOf(this.round, this.rounds) + by * JUMP, this.rounds);
    this.goTo(by > 0 ? Math.max(to, this.round + 1) : Math.min(to, this.round - 1));
  }

  toggle() {
    if (this.playing) this.send({ do: "pause" });
    else this.play();
  }

  play() {
    if (!this.feeds.length) return;
    if (this.target === null && this.feeds[0].status === DONE) this.target = 0;
    this.settle();
    this.send({ do: "play", ...this.pace(), until: this.wanted() });
  }

  pace() {
    const speed = this.speed >= FASTEST ? null : Math.round(10 ** (this.speed / 10));
    return { speed, growth: this.accelerate && speed !== null ? Math.LN10 / DECADE : 0 };
  }

  /** Return where play pauses, in the form of a command. */
  wanted() {
    if (this.until === "end" || (this.paused !== null && this.round >= this.paused)) return null;
    const read = EVENTS[this.until][1] === null ? {} : readNumber(this.value, { least: 0, integer: this.until === "round" });
    return read.mistake ? null : { event: this.until, ...(read.value === undefined ? {} : { value: read.value }) };
  }

  setSpeed(place) {
    this.speed = Math.max(0, Math.min(FASTEST, place));
    this.send({ do: "speed", ...this.pace() });
    this.showChoices();
    this.changed();
  }

  setAccelerate(on) {
    this.accelerate = on;
    this.setSpeed(this.speed);
  }

  /** Choose where play pauses; an invalid value is reported, and the old one stays. */
  setUntil(event, value = EVENTS[event][1] ?? "") {
    const integer = event === "round";
    const { mistake } = EVENTS[event][1] === null ? {} : readNumber(value, { least: 0, integer });
    if (mistake) this.notify(`${EVENTS[event][0]}: ${mistake}`, true);
    else Object.assign(this, { until: event, value, paused: null });
    this.showChoices();
    this.changed();
  }

  /** Show the choices: the speed, and where play pauses. */
  showChoices() {
    const { speed } = this.pace();
    byId("speed").value = this.speed;
    const words = speed === null ? "as fast as possible" : `${whole(speed)} round${speed === 1 ? "" : "s"}/s`;
    put("speed-shown", words);
    byId("speed").setAttribute("aria-valuetext", words);
    byId("accelerate").setAttribute("aria-pressed", String(this.accelerate));
    byId("until").value = this.until;
    byId("until-value").hidden = EVENTS[this.until][1] === null;
    byId("until-value").value = this.value;
  }

  /** Show where play is. */
  show(frames) {
    const [feed] = this.feeds;
    const done = this.target === null && feed?.status === DONE;
    put("play-word", this.playing ? "Pause" : done ? "Again" : "Play");
    put("play-sign", this.playing ? "❚❚" : done ? "↻" : "▶");
    for (const id of ["play", "reset", "scrub"]) byId(id).disabled = !feed;
    byId("step").disabled = !feed || this.round >= this.rounds;
    byId("back").disabled = !feed || this.round === 0;
    if (!feed?.states.length) return; // nothing is drawn yet
    put("round", whole(this.round));
    put("rounds", whole(this.rounds));
    const scrub = byId("scrub");
    const place = placeOf(this.round, this.rounds);
    if (Number(scrub.value) !== place && roundAt(Number(scrub.value), this.rounds) !== this.round) scrub.value = place;
    scrub.setAttribute("aria-valuetext", `round ${whole(this.round)} of ${whole(this.rounds)}`);
    scrub.style.setProperty("--at", `${place / (PLACES / 100)}%`);
    scrub.style.setProperty("--kept", `${placeOf(feed.furthest, this.rounds) / (PLACES / 100)}%`);
    put("rate", this.playing ? `${short(feed.speed)} rounds/s · ${frames} frames/s` : "");
  }
}
