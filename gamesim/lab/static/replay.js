// The replay in a report: the views of the lab, which draw the frames of a record. A clock takes the place of the server.

import { byId, download } from "./dom.js";
import { makeDials, showDials } from "./dials.js";
import { DONE, Feed, PAUSED, PLAYING } from "./feed.js";
import { listen } from "./keys.js";
import { Transport } from "./transport.js";
import { Cards, VIEWS } from "./views/cards.js";
import { forgetTheme } from "./views/canvas.js";

const SPEED = 10; // position of the slider: ten rounds per second at first, and then faster
const JUMP = 5; // kept rounds that Shift and an arrow move
const OPEN = ["cloud", "portrait", "strategies", "tetrahedron", "payoffs", "joint"]; // the first three that fit are open

const bytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

/** Read what the report contains: the messages and the frames that a page of the lab would receive. */
async function read(text) {
  const packed = new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { messages, frames } = await new Response(packed).json();
  const [shape] = messages;
  const feed = new Feed(shape, shape.runs[0]);
  const numbers = new Float32Array(bytes(frames).buffer);
  for (let at = 0; at < numbers.length; ) at = feed.take(numbers, at);
  for (const message of messages) {
    if (message.is === "nearest") feed.takeNearest(message);
    else feed.given[message.is] = message;
  }
  return { shape, feed };
}

/** Controls that show kept rounds only. */
class Kept extends Transport {
  /** Show the kept round that is nearest on the scrubber. */
  goTo(round) {
    const [feed] = this.feeds;
    const before = feed.keptRound(round);
    const after = feed.states.find((state) => state.rounds > before)?.rounds ?? before;
    super.goTo((round + 1) ** 2 < (before + 1) * (after + 1) ? before : after);
  }

  step(by) {
    const { states } = this.feeds[0];
    const at = states.findIndex((state) => state.rounds === this.round);
    super.goTo(states[Math.max(0, Math.min(states.length - 1, at + by))].rounds);
  }

  jump(by) {
    this.step(by * JUMP);
  }
}

function start({ shape, feed }) {
  const clock = { round: 0, time: 0, speed: null, growth: 0 };
  const commands = {
    play({ speed, growth }) {
      Object.assign(clock, { round: feed.rounds, time: performance.now(), speed, growth });
      arrive(feed.rounds, PLAYING);
      requestAnimationFrame(tick);
    },
    speed: ({ speed, growth }) => Object.assign(clock, { speed, growth }),
    pause: () => arrive(feed.rounds, PAUSED),
    seek({ round }) {
      transport.seeking = round;
      arrive(round, PAUSED);
    },
  };

  /** Move to the last kept round up to `round`: what a frame does in the lab. */
  function arrive(round, status) {
    feed.rounds = feed.keptRound(round);
    feed.status = feed.rounds >= feed.furthest ? DONE : status;
    transport.frame(feed.status === PLAYING);
    redraw();
  }

  /** Advance by the rounds that are due, or to the next kept round if there is no limit. */
  function tick(now) {
    if (!transport.playing) return;
    const seconds = Math.max(0, Math.min(0.25, (now - clock.time) / 1000));
    clock.time = now;
    feed.speed = clock.speed === null ? 0 : clock.speed + clock.growth * clock.round;
    if (clock.speed === null) clock.round = feed.states.find((state) => state.rounds > feed.rounds)?.rounds ?? feed.rounds;
    else clock.round += feed.speed * seconds;
    arrive(clock.round, PLAYING);
    requestAnimationFrame(tick);
  }

  let dirty = false;
  function redraw() {
    if (dirty) return;
    dirty = true;
    requestAnimationFrame(() => {
      dirty = false;
      const shown = [feed.at(transport.round)];
      cards.draw(shown, !transport.playing);
      transport.show(0);
      showDials(shown);
    });
  }

  const nothing = () => {};
  const transport = new Kept({ send: (message) => commands[message.do](message), changed: nothing, redraw, notify: nothing });
  const cards = new Cards(byId("views"), byId("view-switches"), {
    ...{ redraw, changed: nothing, opened: nothing, ask: nothing, marked: (words) => [words] },
    download: (blob, name) => download(blob, `replay-${name}`),
    show: (round) => transport.goTo(round),
  });
  byId("replay").hidden = false;
  byId("replay-missing").hidden = true;
  makeDials(shape, (words) => [words]);
  transport.shape([feed], shape.rounds);
  Object.assign(transport, { speed: SPEED, accelerate: true });
  transport.showChoices();
  cards.shape(shape);
  cards.setOpen(OPEN.filter((name) => cards.fitting.has(name)).slice(0, 3));
  arrive(feed.furthest, PAUSED);
  addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    forgetTheme();
    redraw();
  });
  listen(
    {
      " ": () => transport.toggle(),
      ArrowRight: () => transport.step(1),
      ArrowLeft: () => transport.step(-1),
      f: () => cards.fillNext(),
      Escape: () => cards.fill(null),
      ...Object.fromEntries(Object.keys(VIEWS).map((name, k) => [String(k + 1), () => cards.toggle(name)])),
    },
    { ArrowRight: () => transport.jump(1), ArrowLeft: () => transport.jump(-1) },
    byId("replay"),
  );
}

if ("DecompressionStream" in window) read(byId("replay-data").textContent).then(start);
