// The page: simulation controls, numbers and views. The server holds the state; the page draws it.

import { byId, h } from "./dom.js";
import { readAddress, writeAddress } from "./address.js";
import { Connection, DONE, Feed, PLAYING, takeFrame } from "./connection.js";
import { shown, short, whole } from "./numbers.js";
import { Setup, inALine } from "./setup.js";
import { Cards, FIRST, VIEWS } from "./views/cards.js";
import { forgetTheme } from "./views/canvas.js";

const FASTEST = 61; // the last position of the slider: as fast as possible
const STILL = 10; // rounds after which play that has not moved is reported as stationary
const PUSH = 0.1; // perturbation of the initial strategies that makes such play move
const DIALS = [
  ["gap_ce", "CE gap"],
  ["gap_cce", "CCE gap"],
  ["gap_nash", "Nash gap"],
  ["ce", "distance to CE"],
  ["cce", "distance to CCE"],
];
const HELP = {
  gap_ce:
    "The most that any player could gain per round by swapping actions in hindsight; 0 exactly at a correlated equilibrium",
  gap_cce:
    "The most that any player could gain per round by a single fixed action; 0 exactly at a coarse correlated equilibrium",
  gap_nash:
    "The most that any player could gain by deviating from the average strategies; 0 exactly at a Nash equilibrium",
  ce: "Total variation distance from the joint distribution of play to the nearest correlated equilibrium",
  cce: "Total variation distance from the joint distribution of play to the nearest coarse correlated equilibrium",
};

const page = {
  choices: null,
  session: null,
  scenario: null,
  beside: null,
  speed: 30,
  views: FIRST, // the state in the URL
  wanted: [], // scenarios sent but not yet answered, in order
  shape: null,
  feeds: [],
  sets: null,
  playing: false,
  dirty: false,
  undrawn: 0,
  patience: 0, // timer that explains a slow answer
  frames: [],
};

const choices = await (await fetch("choices.json")).json();
page.choices = choices;

// Messages from and to the server.

const connection = new Connection({
  hello({ session }) {
    page.session = session;
    page.wanted = [];
    showStatus("ready");
    begin(page.scenario, page.beside);
  },
  closed() {
    page.playing = false;
    clearTimeout(page.patience);
    showTransport();
    showStatus("connection lost, reconnecting");
  },
  error({ message, about }) {
    notify(message, true);
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
    begin({ ...scenario, title: "", game: asked, players: fit(scenario.players) }, fit(beside));
  },
  shape(message) {
    Object.assign(page, page.wanted.shift(), { shape: message, sets: null, playing: false });
    page.feeds = message.runs.map((run) => new Feed(message, run));
    answered();
    cards.shape(message);
    showDials();
    if (!page.wanted.length) setup.show(page.scenario, page.beside, message.game);
    byId("setup-line").textContent = inALine(page.scenario, page.beside, message.game);
    showLesson();
    showKeep();
    remember();
    if (byId("notice").classList.contains("wrong")) notify("");
  },
  frame(numbers) {
    if (!takeFrame(numbers, page.feeds)) {
      connection.send({ do: "drawn" });
      return;
    }
    const playing = page.feeds.some((feed) => feed.status === PLAYING);
    if (page.playing && !playing) announceResult();
    if (!playing || page.feeds[0].state.rounds) answered();
    page.playing = playing;
    page.undrawn += 1;
    redraw();
  },
  sets(message) {
    if (message.shape !== page.shape?.shape) return;
    for (const feed of page.feeds) feed.sets = message;
    redraw();
  },
  nearest(message) {
    if (message.shape !== page.shape?.shape) return;
    page.feeds[message.run].nearest = message;
    redraw();
  },
  toml({ texts }) {
    texts.forEach((text, k) => download(text, `${fileName()}${texts.length > 1 ? `-${k + 1}` : ""}.toml`));
  },
});

function begin(scenario, beside) {
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

function beginAgain() {
  const { scenario, beside } = latest();
  begin(scenario, beside);
}

const withoutStart = ({ start: _, name: __, ...entry }) => entry;
const roundsPerSecond = () => (page.speed >= FASTEST ? null : Math.round(10 ** (page.speed / 10)));

function play() {
  if (!page.shape) return;
  if (page.playing) {
    connection.send({ do: "pause" });
    return;
  }
  if (page.feeds[0]?.status === DONE) beginAgain();
  connection.send({ do: "play", speed: roundsPerSecond() });
  awaitAnswer();
}

function setSpeed(place) {
  page.speed = Math.max(0, Math.min(FASTEST, place));
  connection.send({ do: "speed", speed: roundsPerSecond() });
  showSpeed();
  remember();
}

// Display.

const cards = new Cards(byId("views"), byId("view-switches"), {
  redraw,
  changed(names) {
    page.views = names;
    remember();
  },
});
const setup = new Setup(byId("setup-content"), choices, {
  begin,
  notify,
  askGame: (game) => connection.send({ do: "game", game }),
});

/** Schedule drawing: views on screen, and while paused also the others. */
function redraw() {
  if (page.dirty) return;
  page.dirty = true;
  requestAnimationFrame(() => {
    page.dirty = false;
    const now = performance.now();
    if (page.undrawn) page.frames = [...page.frames.filter((time) => time > now - 1000), now];
    cards.draw(page.feeds, !page.playing);
    showTransport();
    showRest();
    showNumbers();
    while (page.undrawn) {
      page.undrawn -= 1;
      connection.send({ do: "drawn" });
    }
  });
}

function put(id, words) {
  const element = byId(id);
  if (element && element.textContent !== words) element.textContent = words;
}

function showTransport() {
  const [feed] = page.feeds;
  const done = feed?.status === DONE;
  put("play-word", page.playing ? "Pause" : done ? "Again" : "Play");
  put("play-sign", page.playing ? "❚❚" : done ? "↻" : "▶");
  for (const id of ["play", "reset", "save", "copy"]) byId(id).disabled = !page.shape;
  byId("step").disabled = !page.shape || done;
  if (!feed?.state) return;
  put("round", whole(feed.state.rounds));
  put("rounds", whole(page.shape.rounds));
  byId("progress").value = feed.state.rounds / page.shape.rounds;
  put("rate", page.playing ? `· ${short(feed.state.speed[0])} rounds/s · ${page.frames.length} frames/s` : "");
}

/** Explain play that does not move: unperturbed play that starts at an equilibrium looks like a broken page. */
function showRest() {
  const still = page.feeds.length > 0 && page.feeds.every(rests);
  const pushed = still && [...page.scenario.players, ...(page.beside ?? [])].some((entry) => entry.perturb > 0);
  byId("rest").hidden = !still || pushed;
}

/** Whether no strategy has moved in any round and no player gains by deviating, up to rounding. */
function rests({ state, actions }) {
  if (!(state?.rounds >= STILL)) return false;
  const rounding = Number.EPSILON * (state.rounds + actions);
  return state.gap_ce <= rounding * payoffRange() && Math.max(...state.moved) <= rounding * actions;
}

function showSpeed() {
  const speed = roundsPerSecond();
  byId("speed").value = page.speed;
  const words = speed === null ? "as fast as possible" : `${whole(speed)} round${speed === 1 ? "" : "s"}/s`;
  put("speed-shown", words);
  byId("speed").setAttribute("aria-valuetext", words);
}

function showDials() {
  const captions = page.shape.runs.map((run) => [...new Set(run.learners)].join(", "));
  const dial = ([name, label], k) =>
    h(
      "div",
      { class: `dial ${name}`, title: HELP[name] },
      h("span", { class: "dial-label" }, label),
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
  showNumbers();
}

function payoffRange() {
  const { high, low } = page.shape.game;
  return Math.max(...high.map((most, i) => most - low[i])) || 1;
}

function showNumbers() {
  page.feeds.forEach((feed, k) => {
    const range = payoffRange();
    for (const [name] of DIALS) {
      const distance = name === "ce" || name === "cce";
      const value = distance ? feed.nearest?.distance[name] : feed.state?.[name];
      put(`${name}-${k}`, shown(value ?? NaN));
      const share = value > 0 ? Math.max(0, Math.min(1, 1 + Math.log10(value / (distance ? 1 : range)) / 5)) : 0;
      byId(`${name}-${k}-meter`).style.transform = `scaleX(${share.toFixed(3)})`;
    }
  });
  showKeep();
}

function showKeep() {
  const ready = page.feeds.some((feed) => feed.state?.rounds > 0);
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

function showLesson() {
  const same = (lesson) => JSON.stringify(lesson.scenario) === JSON.stringify(page.scenario) && !page.beside;
  const lesson = choices.lessons.find(same);
  for (const button of byId("lessons").querySelectorAll("button")) {
    const current = button.dataset.name === lesson?.name;
    button.toggleAttribute("aria-current", current);
    const row = byId("lessons").parentElement;
    if (current) row.scrollTo({ left: button.offsetLeft - (row.clientWidth - button.offsetWidth) / 2 });
  }
  const about = choices.games.find((one) => one.name === page.scenario.game?.name);
  byId("look-text").textContent =
    lesson?.look ??
    (about?.teaches
      ? `${about.about} ${about.teaches[0].toUpperCase()}${about.teaches.slice(1)}`
      : "Press Play and watch which regrets fall and which do not.");
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
  byId("spoken").textContent = page.feeds
    .map(
      (feed, k) =>
        `${page.feeds.length > 1 ? `Run ${k + 1}: ` : ""}After ${whole(feed.state.rounds)} rounds, the CE gap is ${shown(feed.state.gap_ce)} and the CCE gap is ${shown(feed.state.gap_cce)}.`,
    )
    .join(" ");
}

function remember() {
  const { scenario, beside, speed, views } = page;
  writeAddress({ scenario, ...(beside ? { beside } : {}), speed, views });
}

function recall() {
  const state = readAddress();
  page.scenario = state?.scenario ?? choices.scenario;
  page.beside = Array.isArray(state?.beside) ? state.beside : null;
  page.speed = Number.isInteger(state?.speed) ? Math.max(0, Math.min(FASTEST, state.speed)) : 30;
  page.views = Array.isArray(state?.views) ? state.views.filter((name) => name in VIEWS) : FIRST;
  cards.setOpen(page.views);
  showSpeed();
  showLesson();
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

function download(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// Controls.

byId("play").addEventListener("click", play);
byId("step").addEventListener("click", () => connection.send({ do: "step" }));
byId("reset").addEventListener("click", beginAgain);
byId("push").append(`perturb all players by ${PUSH} and play`);
byId("push").addEventListener("click", () => {
  setup.perturbEveryone(PUSH);
  connection.send({ do: "play", speed: roundsPerSecond() });
  awaitAnswer();
});
byId("speed").addEventListener("input", (event) => setSpeed(Number(event.target.value)));
byId("save").addEventListener("click", () => connection.send({ do: "toml" }));
byId("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    showStatus("link copied");
  } catch {
    showStatus("the link is in the address bar");
  }
});
byId("notice-close").addEventListener("click", () => notify(""));
byId("keys-button").addEventListener("click", () => {
  byId("keys").hidden = !byId("keys").hidden;
  byId("keys-button").setAttribute("aria-expanded", String(!byId("keys").hidden));
});

byId("lessons").append(
  ...choices.lessons.map((lesson) =>
    h(
      "li",
      {},
      h(
        "button",
        { type: "button", "data-name": lesson.name, title: lesson.look, onclick: () => begin(lesson.scenario, null) },
        lesson.title,
      ),
    ),
  ),
);

function nextLesson() {
  const buttons = [...byId("lessons").querySelectorAll("button")];
  const at = buttons.findIndex((button) => button.hasAttribute("aria-current"));
  const next = buttons[(at + 1) % buttons.length];
  next.click();
}

const THEMES = ["system", "light", "dark"];
/** Redraw all views, on screen or not, in the current colours and sizes. */
function repaint() {
  forgetTheme();
  cards.draw(page.feeds, true);
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

const KEYS = {
  " ": play,
  ArrowRight: () => connection.send({ do: "step" }),
  ".": () => connection.send({ do: "step" }),
  r: beginAgain,
  "+": () => setSpeed(page.speed + 5),
  "=": () => setSpeed(page.speed + 5),
  "-": () => setSpeed(page.speed - 5),
  n: nextLesson,
  p: toggleProjector,
  t: nextTheme,
  s: () => connection.send({ do: "toml" }),
  ...Object.fromEntries(Object.keys(VIEWS).map((name, k) => [String(k + 1), () => cards.toggle(name)])),
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const { target } = event;
  if (target.closest("input, select, textarea") && target.type !== "checkbox") return;
  if (event.key === " " && target.closest("button, a, summary, [type=checkbox]")) return;
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
addEventListener("hashchange", () => {
  recall();
  begin(page.scenario, page.beside);
});

setTheme(THEMES.includes(localStorage.getItem("gamesim-theme")) ? localStorage.getItem("gamesim-theme") : "system");
setProjector(localStorage.getItem("gamesim-projector") === "on");
byId("setup").open = matchMedia("(min-width: 68rem)").matches;
recall();
