// The page: what the server sends, what the page shows, and what it remembers. The server holds the simulation; the page
// keeps what it has received, and all views draw the round that is shown.

import { byId, download, h, put } from "./dom.js";
import { readAddress, writeAddress } from "./address.js";
import { Connection } from "./connection.js";
import { makeDials, payoffRange, showDials } from "./dials.js";
import { Feed, PLAYING, takeFrame } from "./feed.js";
import { makeFind } from "./find.js";
import { Glossary } from "./glossary.js";
import { listen } from "./keys.js";
import { Course } from "./lesson.js";
import { shown, whole } from "./numbers.js";
import { Setup, inALine } from "./setup.js";
import { EVENTS, FASTEST, Transport } from "./transport.js";
import { Cards, FIRST, VIEWS } from "./views/cards.js";
import { forgetTheme } from "./views/canvas.js";

const STILL = 10; // rounds after which play that has not moved is reported as stationary
const PUSH = 0.1; // perturbation of the initial strategies that makes such play move

const page = {
  session: null,
  scenario: null,
  beside: null,
  wanted: [], // scenarios sent but not yet answered, in order
  shape: null,
  feeds: [],
  dirty: false,
  undrawn: 0,
  patience: 0, // timer that explains a slow answer
  frames: [],
};

const choices = await (await fetch("choices.json")).json();
const { marked } = new Glossary(choices.glossary);

const connection = new Connection({
  hello({ session }) {
    page.session = session;
    page.wanted = [];
    showStatus("ready");
    begin(page.scenario, page.beside);
  },
  closed() {
    page.session = null;
    transport.playing = false;
    clearTimeout(page.patience);
    redraw();
    showStatus("connection lost, reconnecting");
  },
  error({ message, about }) {
    notify(message, true);
    if (about === "seek") transport.target = null;
    if (about !== "begin") return;
    page.wanted.shift();
    answered();
    if (page.wanted.length) return; // only the last answer determines what is shown
    if (page.shape) setup.show(page.scenario, page.beside, page.shape.game); // show what is running
    else if (page.scenario !== choices.scenario) begin(choices.scenario, null);
  },
  game({ asked, game }) {
    const fit = (entries) => entries && game.players.map((_, i) => withoutStart(entries[i % entries.length]));
    const { scenario, beside } = latest();
    const title = asked.payoffs ? game.name : ""; // a game with payoffs is named by the title of its scenario
    begin({ ...scenario, title, game: asked, players: fit(scenario.players) }, fit(beside));
  },
  shape(message) {
    Object.assign(page, page.wanted.shift(), { shape: message });
    page.feeds = message.runs.map((run) => new Feed(message, run));
    transport.shape(page.feeds, message.rounds);
    answered();
    cards.shape(message);
    makeDials(message, marked);
    if (!page.wanted.length) setup.show(page.scenario, page.beside, message.game);
    byId("setup-line").textContent = inALine(page.scenario, page.beside, message.game);
    course.compare(page.scenario, page.beside);
    showKeep();
    remember();
    if (byId("notice").classList.contains("wrong")) notify("");
    if (page.playWhenReady) transport.play();
    page.playWhenReady = false;
  },
  frame(numbers) {
    if (!takeFrame(numbers, page.feeds)) {
      connection.send({ do: "drawn" });
      return;
    }
    const playing = page.feeds.some((feed) => feed.status === PLAYING);
    if (transport.playing && !playing) announceResult();
    if (!playing || page.feeds[0].rounds) answered();
    if (playing && byId("status").textContent.startsWith("paused")) showStatus("ready");
    transport.frame(playing);
    page.undrawn += 1;
    redraw();
  },
  seek({ shape, round }) {
    if (shape === page.shape?.shape) transport.seeking = round;
  },
  paused({ event, round }) {
    transport.paused = round;
    showStatus(`paused after round ${whole(round)}: ${reason(event)}`);
  },
  nearest(message) {
    if (message.shape !== page.shape?.shape) return;
    page.feeds[message.run].takeNearest(message);
    redraw();
  },
  toml({ texts }) {
    texts.forEach((text, k) =>
      download(new Blob([text], { type: "application/toml" }), `${fileName()}${texts.length > 1 ? `-${k + 1}` : ""}.toml`),
    );
  },
  /** Everything else that the server sends about this game, for the views that need it. */
  other(message) {
    if (message.shape !== page.shape?.shape) return;
    const runs = message.run === undefined ? page.feeds : [page.feeds[message.run]];
    for (const feed of runs) feed.given[message.is] = message;
    if (message.is === "sets") setup.showEquilibria(message);
    redraw();
  },
});

function begin(scenario, beside) {
  if (!page.session) Object.assign(page, { scenario, beside }); // begun as soon as the server is there
  page.wanted.push({ scenario, beside });
  connection.send({ do: "begin", scenario, beside });
  awaitAnswer();
}

/** Explain a slow answer after a short delay. */
function awaitAnswer() {
  clearTimeout(page.patience);
  page.patience = setTimeout(() => showStatus("getting ready: compiling a learner on first use"), 700);
}

function answered() {
  clearTimeout(page.patience);
  if (!page.wanted.length && byId("status").textContent.startsWith("getting ready")) showStatus("ready");
}

/** The scenario requested last, answered or not. */
const latest = () => page.wanted.at(-1) ?? page;

const withoutStart = ({ start: _, name: __, ...entry }) => entry;

// The parts of the page.

const send = (message) => connection.send(message);
const transport = new Transport({
  send(message) {
    send(message);
    if (message.do === "play") awaitAnswer();
  },
  changed: remember,
  redraw,
  notify,
});
const cards = new Cards(byId("views"), byId("view-switches"), {
  redraw,
  changed: remember,
  opened: remember,
  marked,
  download: (blob, name) => download(blob, `${fileName()}-${name}`),
  ask: (kind) => send({ do: kind }),
  show: (round) => transport.goTo(round),
  start: (strategies) => startAt(strategies),
});
const setup = new Setup(byId("setup-content"), choices, {
  begin,
  notify,
  askGame: (game) => send({ do: "game", game }),
  readGame: (files) => send({ do: "read", files }),
});
const course = new Course(choices, {
  begin: beginLesson,
  play() {
    if (!transport.playing) transport.play();
    const hidden = byId("views").getBoundingClientRect().top > innerHeight / 2; // on a phone, below the lesson
    if (hidden) byId("stage").scrollIntoView();
  },
  look(views) {
    cards.setOpen([...new Set([...views, ...cards.open])], cards.filling && views[0]);
    remember();
  },
  prepare: (views) => cards.prepare(views),
  changed() {
    remember();
    redraw();
  },
  marked,
});

/** Start a lesson: its scenario, its views and its speed. */
function beginLesson(lesson) {
  if (lesson.views.length) cards.setOpen(lesson.views);
  if (lesson.speed !== null) Object.assign(transport, { speed: lesson.speed, accelerate: lesson.accelerate });
  Object.assign(transport, { until: lesson.pause.event ?? "end", value: String(lesson.pause.value ?? "") });
  transport.showChoices();
  begin(lesson.scenario, null);
}

/** Begin again, with the learners starting at these strategies, one per player. */
function startAt(strategies) {
  const { scenario, beside } = latest();
  const start = (entries) =>
    entries && entries.map(({ perturb: _, opening: __, ...entry }, i) => ({ ...entry, start: strategies[i] }));
  begin({ ...scenario, players: start(scenario.players) }, start(beside));
}

// Display.

/** The runs at the round shown; as long as a lesson asks for a prediction, without the equilibria, which may answer it. */
function shownFeeds() {
  const feeds = page.feeds.map((feed) => feed.at(transport.round));
  return course.asks && transport.round === 0 ? feeds.map((feed) => ({ ...feed, sets: null })) : feeds;
}

/** Schedule drawing: views on screen, and while paused also the others. */
function redraw() {
  if (page.dirty) return;
  page.dirty = true;
  requestAnimationFrame(() => {
    page.dirty = false;
    const now = performance.now();
    if (page.undrawn) page.frames = [...page.frames.filter((time) => time > now - 1000), now];
    const feeds = shownFeeds();
    cards.draw(feeds, !transport.playing);
    transport.show(page.frames.length);
    for (const id of ["save", "copy"]) byId(id).disabled = !feeds.length;
    if (feeds.length) showDials(feeds);
    showRest(feeds);
    showKeep();
    while (page.undrawn) {
      page.undrawn -= 1;
      send({ do: "drawn" });
    }
  });
}

/** Explain play that does not move: unperturbed play that starts at an equilibrium looks like a broken page. */
function showRest(feeds) {
  const still = feeds.length > 0 && feeds.every(rests);
  const pushed = still && [...page.scenario.players, ...(page.beside ?? [])].some((entry) => entry.perturb > 0);
  byId("rest").hidden = !still || pushed;
}

/** Whether no strategy has moved in any round and no player gains by deviating, up to rounding. */
function rests({ state, actions, shape }) {
  if (!(state?.rounds >= STILL)) return false;
  const rounding = Number.EPSILON * (state.rounds + actions);
  return state.gap_ce <= rounding * payoffRange(shape.game) && Math.max(...state.moved) <= rounding * actions;
}

function reason(event) {
  const [words, value] = EVENTS[event];
  return `${words}${value === null ? "" : ` ${transport.value}`}`;
}

function showKeep() {
  const ready = page.feeds.some((feed) => feed.rounds > 0);
  const key = `${page.session} ${page.feeds.length} ${ready}`;
  const place = byId("keep-runs");
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  place.replaceChildren(
    ...page.feeds.flatMap((_, k) =>
      [
        ["report.html", "Open report"],
        ["record.zip", "Download record"],
      ].map(([file, words]) => {
        const numbered = page.feeds.length > 1 ? `${words} ${k + 1}` : words;
        if (!ready) return h("a", { class: "button", role: "link", "aria-disabled": "true" }, numbered);
        const to = file === "report.html" ? { target: "_blank", rel: "noopener" } : { download: "" };
        return h("a", { class: "button", href: `runs/${page.session}/${k}/${file}`, ...to }, numbered);
      }),
    ),
  );
}

function showStatus(words) {
  byId("status").textContent = words;
}

let noticed = 0;
function notify(words, wrong = false) {
  clearTimeout(noticed);
  byId("notice-text").textContent = words;
  byId("notice").classList.toggle("wrong", wrong);
  byId("notice").hidden = !words;
  if (words) noticed = setTimeout(() => notify(""), 12000);
}

/** Announce the result to screen readers when a run stops. */
function announceResult() {
  const results = page.feeds.map((feed, k) => {
    const { rounds, gap_ce: ce, gap_cce: cce } = feed.at(feed.rounds).state;
    const run = page.feeds.length > 1 ? `Run ${k + 1}: ` : "";
    return `${run}After ${whole(rounds)} rounds, the CE gap is ${shown(ce)} and the CCE gap is ${shown(cce)}.`;
  });
  byId("spoken").textContent = results.join(" ");
}

// The address: everything that a reload or a copied link restores.

function remember() {
  if (!page.scenario) return;
  const { scenario, beside } = page;
  const { speed, accelerate, until, value } = transport;
  const { lesson, step } = course;
  const settings = cards.settings;
  writeAddress({
    scenario,
    ...(beside ? { beside } : {}),
    speed,
    ...(accelerate ? { accelerate } : {}),
    ...(until === "end" ? {} : { until, value }),
    views: [...cards.open],
    ...(cards.filling ? { filling: cards.filling } : {}),
    ...(Object.keys(settings).length ? { settings } : {}),
    ...(lesson ? { lesson: lesson.name, step } : {}),
  });
}

function recall() {
  const state = readAddress();
  const lesson = course.find(state ? state.lesson : choices.lesson);
  page.scenario = state?.scenario ?? lesson?.scenario ?? choices.scenario;
  page.beside = Array.isArray(state?.beside) ? state.beside : null;
  const plain = lesson && !state?.scenario ? lesson : null; // a link to a lesson as it is
  transport.speed = Number.isInteger(state?.speed) ? Math.max(0, Math.min(FASTEST, state.speed)) : (plain?.speed ?? 30);
  transport.accelerate = state?.accelerate === true || (plain?.accelerate ?? false);
  const until = state?.until ?? plain?.pause.event;
  transport.until = Object.hasOwn(EVENTS, until ?? "") ? until : "end";
  transport.value = String(state?.value ?? plain?.pause.value ?? EVENTS[transport.until][1] ?? "").slice(0, 20);
  cards.setSettings(state?.settings);
  const views = Array.isArray(state?.views) ? state.views : plain?.views.length ? plain.views : FIRST;
  cards.setOpen(views, typeof state?.filling === "string" ? state.filling : null);
  course.show(lesson, Number.isInteger(state?.step) ? state.step : 0);
  transport.showChoices();
}

function fileName() {
  return (
    (page.scenario.title || page.shape.game.name)
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-|-$/g, "")
      .slice(0, 60)
      .toLowerCase() || "scenario"
  );
}

// Controls.

byId("push").append(`perturb all players by ${PUSH} and play`);
byId("push").addEventListener("click", () => {
  page.playWhenReady = true;
  setup.perturbEveryone(PUSH);
});
byId("save").addEventListener("click", () => send({ do: "toml" }));
byId("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    showStatus("link copied");
  } catch {
    showStatus("the link is in the address bar");
  }
});
byId("notice-close").addEventListener("click", () => notify(""));
byId("course-button").addEventListener("click", () => course.toggle());
for (const name of ["keys", "share"])
  byId(`${name}-button`).addEventListener("click", () => {
    byId(name).hidden = !byId(name).hidden;
    byId(`${name}-button`).setAttribute("aria-expanded", String(!byId(name).hidden));
  });

/** Show how others join: a QR code that opens the lesson, and links; or how to let them join. */
function showJoin() {
  const { lesson } = course;
  const code = `code.svg${lesson && lesson.group ? `?lesson=${encodeURIComponent(lesson.name)}` : ""}`;
  byId("join").replaceChildren(
    ...(choices.links.length
      ? [
          h("img", { src: code, alt: "QR code of the link", width: 380, height: 380 }),
          h("div", {}, h("p", {}, "Join with this code, or open"), choices.links.map((link) => h("p", {}, h("code", {}, link)))),
        ]
      : [h("p", { class: "about dim" }, "To let others join, start the lab with gamesim lab --allow-network.")]),
  );
}
byId("share-button").addEventListener("click", showJoin);

const details = byId("setup");
function toggleSetup() {
  details.open = !details.open;
  localStorage.setItem("gamesim-setup", details.open ? "open" : "closed");
}
byId("setup-button").addEventListener("click", toggleSetup);
details.querySelector("summary").addEventListener("click", (event) => {
  event.preventDefault();
  toggleSetup();
});
details.addEventListener("toggle", () => {
  byId("setup-button").setAttribute("aria-pressed", String(details.open));
  redraw();
});

makeFind([
  ...choices.lessons.map((lesson) => ({
    kind: "lesson",
    name: lesson.title,
    about: lesson.group ?? "your scenario",
    pick: () => course.open(lesson),
  })),
  ...choices.games.map(({ name, about }) => ({ kind: "game", name, about, pick: () => setup.pickGame(name) })),
  ...choices.learners.map(({ name, about }) => ({ kind: "learner", name, about, pick: () => setup.pickLearner(name) })),
]);

// Games that are pasted or dropped.

addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (event.target.closest?.("input, textarea") || !/[\t\n]/.test(text.trim())) return;
  event.preventDefault();
  setup.read([["pasted game", text]]);
});
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer?.files.length) setup.readFiles(event.dataTransfer.files);
});

const THEMES = ["system", "light", "dark"];
/** Redraw all views, on screen or not, in the current colours and sizes. */
function repaint() {
  forgetTheme();
  cards.draw(shownFeeds(), true);
}
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  byId("theme-name").textContent = name;
  localStorage.setItem("gamesim-theme", name);
  repaint();
}
function setProjector(on) {
  document.documentElement.classList.toggle("projector", on);
  byId("projector").setAttribute("aria-pressed", String(on));
  localStorage.setItem("gamesim-projector", on ? "on" : "");
  repaint();
}
const nextTheme = () => setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
const toggleProjector = () => setProjector(!document.documentElement.classList.contains("projector"));
byId("theme").addEventListener("click", nextTheme);
byId("projector").addEventListener("click", toggleProjector);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
addEventListener("beforeprint", () => {
  document.documentElement.dataset.theme = "light"; // paper is white
  repaint();
});
addEventListener("afterprint", () => setTheme(byId("theme-name").textContent));
addEventListener("resize", redraw);

/** Pass to the style sheet where the pictures begin, so that the first ones fit on the screen. */
const measure = new ResizeObserver(() => {
  const above = byId("views").getBoundingClientRect().top + scrollY;
  document.documentElement.style.setProperty("--above", `${Math.round(above)}px`);
  redraw();
});
for (const part of [document.querySelector(".top"), document.querySelector(".transport"), byId("dials"), byId("rest")])
  measure.observe(part);

/** Close whatever is open over the page. */
function leave() {
  byId("term").hidePopover();
  if (!byId("course").hidden) course.toggle();
  else if (!byId("share").hidden) byId("share-button").click();
  else if (cards.filling) cards.fill(null);
}

listen(
  {
    " ": () => transport.toggle(),
    ArrowRight: () => transport.step(1),
    ArrowLeft: () => transport.step(-1),
    ".": () => transport.step(1),
    ",": () => transport.step(-1),
    r: () => transport.goTo(0),
    "+": () => transport.setSpeed(transport.speed + 5),
    "=": () => transport.setSpeed(transport.speed + 5),
    "-": () => transport.setSpeed(transport.speed - 5),
    a: () => transport.setAccelerate(!transport.accelerate),
    n: () => course.move(1),
    b: () => course.move(-1),
    PageDown: () => course.move(1),
    PageUp: () => course.move(-1),
    f: () => cards.fillNext(),
    Escape: leave,
    c: () => course.toggle(),
    g: toggleSetup,
    "/": () => byId("find").focus(),
    p: toggleProjector,
    t: nextTheme,
    s: () => send({ do: "toml" }),
    ...Object.fromEntries(Object.keys(VIEWS).map((name, k) => [String(k + 1), () => cards.toggle(name)])),
  },
  { ArrowRight: () => transport.jump(1), ArrowLeft: () => transport.jump(-1) },
);
addEventListener("hashchange", () => {
  recall();
  begin(page.scenario, page.beside);
});

setTheme(THEMES.includes(localStorage.getItem("gamesim-theme")) ? localStorage.getItem("gamesim-theme") : "system");
setProjector(localStorage.getItem("gamesim-projector") === "on");
recall();
const kept = localStorage.getItem("gamesim-setup");
details.open = kept === null ? !course.lesson && innerWidth >= 1100 : kept === "open";
document.body.classList.add("ready");
