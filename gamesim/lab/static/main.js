// The page: what is simulated, how fast, and what is shown. The server says what is true; this draws it.

import { byId, h } from "./dom.js";
import { readAddress, writeAddress } from "./address.js";
import { Connection, DONE, Film, PLAYING, takeFrame } from "./connection.js";
import { shown, short, whole } from "./numbers.js";
import { Setup, inALine } from "./setup.js";
import { Cards, FIRST, VIEWS } from "./views/cards.js";
import { forgetTheme } from "./views/sheet.js";

const FASTEST = 61; // the slider's last place: as fast as possible
const STILL = 10; // rounds after which play that has not moved is said to rest
const PUSH = 0.1; // the random share of everybody's first strategy that sets such play going
const DIALS = [
  ["gap_ce", "CE gap"],
  ["gap_cce", "CCE gap"],
  ["gap_nash", "Nash gap"],
  ["ce", "distance to CE"],
  ["cce", "distance to CCE"],
];
const HELP = {
  gap_ce: "what somebody gains a round by the best change of its actions: 0 in a correlated equilibrium",
  gap_cce: "what somebody gains a round by one action throughout: 0 in a coarse correlated equilibrium",
  gap_nash: "what somebody gains by leaving its average strategy while the others keep to theirs",
  ce: "the share of play that would have to change to be a correlated equilibrium",
  cce: "the share of play that would have to change to be a coarse correlated equilibrium",
};

const page = {
  choices: null,
  session: null,
  scenario: null,
  beside: null,
  speed: 30,
  views: FIRST, // the state in the address
  wanted: [], // the scenarios that were sent and not yet answered, in this order
  shape: null,
  films: [],
  sets: null,
  playing: false,
  dirty: false,
  undrawn: 0,
  patience: 0, // the timer that says why an answer takes long
  frames: [],
};

const choices = await (await fetch("choices.json")).json();
page.choices = choices;

// What is asked of the server.

const connection = new Connection({
  hello({ session }) {
    page.session = session;
    page.wanted = [];
    say("ready");
    begin(page.scenario, page.beside);
  },
  closed() {
    page.playing = false;
    clearTimeout(page.patience);
    showTransport();
    say("connection lost, trying again");
  },
  error({ message, about }) {
    notify(message, true);
    if (about !== "begin") return;
    page.wanted.shift();
    answered();
    if (page.wanted.length) return; // the last answer decides what is shown
    if (page.shape) setup.show(page.scenario, page.beside, page.shape.game); // what is running is what is shown
    else if (page.scenario !== choices.scenario) begin(choices.scenario, null);
  },
  game({ asked, game }) {
    const fit = (entries) => entries && game.players.map((_, i) => withoutStart(entries[i % entries.length]));
    const { scenario, beside } = latest();
    begin({ ...scenario, title: "", game: asked, players: fit(scenario.players) }, fit(beside));
  },
  shape(message) {
    Object.assign(page, page.wanted.shift(), { shape: message, sets: null, playing: false });
    page.films = message.runs.map((run) => new Film(message, run));
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
    if (!takeFrame(numbers, page.films)) {
      connection.send({ do: "drawn" });
      return;
    }
    const playing = page.films.some((film) => film.status === PLAYING);
    if (page.playing && !playing) tellResult();
    if (!playing || page.films[0].state.rounds) answered();
    page.playing = playing;
    page.undrawn += 1;
    redraw();
  },
  sets(message) {
    if (message.shape !== page.shape?.shape) return;
    for (const film of page.films) film.sets = message;
    redraw();
  },
  nearest(message) {
    if (message.shape !== page.shape?.shape) return;
    page.films[message.run].nearest = message;
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

/** Say why an answer may take long, when it does. */
function awaitAnswer() {
  clearTimeout(page.patience);
  page.patience = setTimeout(() => say("getting ready: a learner is compiled when it is first used"), 700);
}

function answered() {
  clearTimeout(page.patience);
  if (!page.wanted.length && byId("status").textContent.startsWith("getting ready")) say("ready");
}

/** What was asked for last, whether or not it has been answered. */
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
  if (page.films[0]?.status === DONE) beginAgain();
  connection.send({ do: "play", speed: roundsPerSecond() });
  awaitAnswer();
}

function setSpeed(place) {
  page.speed = Math.max(0, Math.min(FASTEST, place));
  connection.send({ do: "speed", speed: roundsPerSecond() });
  showSpeed();
  remember();
}

// What is shown.

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

/** Draw soon: what is on screen, and when no rounds are played, what is not as well. */
function redraw() {
  if (page.dirty) return;
  page.dirty = true;
  requestAnimationFrame(() => {
    page.dirty = false;
    const now = performance.now();
    if (page.undrawn) page.frames = [...page.frames.filter((time) => time > now - 1000), now];
    cards.draw(page.films, !page.playing);
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
  const [film] = page.films;
  const done = film?.status === DONE;
  put("play-word", page.playing ? "Pause" : done ? "Again" : "Play");
  put("play-sign", page.playing ? "❚❚" : done ? "↻" : "▶");
  for (const id of ["play", "reset", "save", "copy"]) byId(id).disabled = !page.shape;
  byId("step").disabled = !page.shape || done;
  if (!film?.state) return;
  put("round", whole(film.state.rounds));
  put("rounds", whole(page.shape.rounds));
  byId("progress").value = film.state.rounds / page.shape.rounds;
  put("rate", page.playing ? `· ${short(film.state.speed[0])} rounds/s · ${page.frames.length} frames/s` : "");
}

/** Say so where nothing moves: play that begins in an equilibrium, and is not pushed, looks like a broken page. */
function showRest() {
  const still = page.films.length > 0 && page.films.every(rests);
  const pushed = still && [...page.scenario.players, ...(page.beside ?? [])].some((entry) => entry.perturb > 0);
  byId("rest").hidden = !still || pushed;
}

/** Whether everybody still plays what it began with, and nobody gains by anything else. */
function rests({ state, path }) {
  if (!(state?.rounds >= STILL) || !path.rows.length || state.gap_ce > 1e-9 * payoffRange()) return false;
  const still = (row) => row.every((share, k) => Math.abs(share - path.rows[0][k]) < 1e-6);
  return still(state.average) && path.rows.every(still);
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
  page.films.forEach((film, k) => {
    const range = payoffRange();
    for (const [name] of DIALS) {
      const distance = name === "ce" || name === "cce";
      const value = distance ? film.nearest?.distance[name] : film.state?.[name];
      put(`${name}-${k}`, shown(value ?? NaN));
      const share = value > 0 ? Math.max(0, Math.min(1, 1 + Math.log10(value / (distance ? 1 : range)) / 5)) : 0;
      byId(`${name}-${k}-meter`).style.transform = `scaleX(${share.toFixed(3)})`;
    }
  });
  showKeep();
}

function showKeep() {
  const ready = page.films.some((film) => film.state?.rounds > 0);
  const key = `${page.session} ${page.films.length} ${ready}`;
  const place = byId("keep-runs");
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  place.replaceChildren(
    ...page.films.flatMap((_, k) =>
      [
        ["report.html", "Open report"],
        ["record.zip", "Download record"],
      ].map(([file, words]) => {
        const numbered = page.films.length > 1 ? `${words} ${k + 1}` : words;
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
      : "Press play, and watch which regrets fall and which stay.");
}

function say(words) {
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

/** Tell a screen reader what a run came to, once it stops. */
function tellResult() {
  byId("spoken").textContent = page.films
    .map(
      (film, k) =>
        `${page.films.length > 1 ? `Run ${k + 1}: ` : ""}after ${whole(film.state.rounds)} rounds the CE gap is ${shown(film.state.gap_ce)}, the CCE gap ${shown(film.state.gap_cce)}.`,
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
byId("push").append(`perturb everyone = ${PUSH}, and play`);
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
    say("link copied");
  } catch {
    say("the link is in the address bar");
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
/** Draw everything anew, on screen or not, in the colours and sizes that the page has now. */
function repaint() {
  forgetTheme();
  cards.draw(page.films, true);
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
