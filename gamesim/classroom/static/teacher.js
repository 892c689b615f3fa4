// The teacher's page: the code of the room, the controls, and what the class has played.

import { byId, download, h, put } from "/lab/dom.js";
import { readNumber } from "/lab/numbers.js";
import { forgetTheme, theme } from "/lab/views/canvas.js";
import { Cards } from "/lab/views/cards.js";
import { current, gains } from "/lab/views/device.js";
import { chart } from "/static/chart.js";
import { feedOf, shapeOf } from "/static/play.js";
import { connect, digits, whole } from "/static/wire.js";

const KEY = `gamesim-teacher-${location.host}`;
const secret = location.hash.slice(1) || sessionStorage.getItem(KEY) || "";
if (location.hash) {
  sessionStorage.setItem(KEY, secret);
  history.replaceState(null, "", location.pathname); // the link is not on the projector
}
const OF_PLAY = ["joint", "tetrahedron", "strategies", "regrets", "payoffs"]; // the lab's views that are open at first
const FEW = 6; // players who are shown one by one
const SMALL = 1e-6; // of the payoff range: gains that are rounding

let state = null;
let about = null; // the game, its equilibria and devices
let measured = null;
let feed = null;
let limit = null; // seconds per round, when they were last shown
let ends = null;
let address = { links: [], picture: "" };

const send = connect({
  enter: () => ({ do: "teach", secret }),
  status: (words) => put("message", words),
  receive(message) {
    if (message.is === "refused") put("message", `${message.why[0].toUpperCase()}${message.why.slice(1)}.`);
    else if (message.is === "done") put("message", "");
    else if (message.is === "teacher") address = message;
    else if (message.is === "game") {
      about = message;
      cards.shape(shapeOf(about, state.rounds));
      for (const [name, button] of cards.switches) button.hidden = button.disabled || !offered(name);
      refeed();
    } else if (message.is === "measured") {
      const first = measured === null && message.measured !== null;
      measured = message.measured;
      refeed();
      if (first) cards.setOpen(isCrowd() ? [] : OF_PLAY);
    } else if (message.is === "state") {
      state = message;
      ends = state.left === null ? null : performance.now() + 1000 * state.left;
    }
    draw();
  },
});

const command = (name, value) => send({ do: "command", command: name, value });
const RUNS = ["portrait", "cloud"]; // views of simulated runs
const CROWD = ["regrets", "profile"]; // views that fit a game with many players
const isCrowd = () => !about.small || about.game.players.length > FEW;
const offered = (name) => !RUNS.includes(name) && (name !== "device" || about.devices !== null) && (!isCrowd() || CROWD.includes(name));

// The lab's views.

const cards = new Cards(byId("views"), byId("view-switches"), {
  redraw: () => requestAnimationFrame(drawViews),
  changed: () => drawCards(),
  opened: () => {},
  marked: (words) => [words],
  download: (blob, name) => download(blob, `${state.game}-${name}`),
  ask: () => {}, // devices are sent with the game
  show: () => {},
  start: () => {},
});
cards.setOpen([]);

function refeed() {
  if (about) feed = feedOf(shapeOf(about, state.rounds), about, measured);
}

function drawViews() {
  if (feed) cards.draw([feed], true);
  for (const canvas of document.querySelectorAll("canvas[data-chart]")) CHARTS[canvas.dataset.chart](canvas);
}

// Parts that are made again only if something in them changes, so that a click or a half-typed number is not lost.

const made = new Map();
function part(id, key, make) {
  const text = JSON.stringify(key);
  if (made.get(id) === text) return;
  made.set(id, text);
  byId(id).replaceChildren(...make().filter((one) => one !== null));
}

function draw() {
  if (!state) return;
  put("title", state.game);
  const { phase, paused, round, rounds, automatic, revealed, seconds } = state;
  part("controls", [phase, paused, round < rounds, automatic, revealed, measured !== null], controls);
  const field = document.querySelector("input.seconds");
  if (seconds !== limit && field && field !== document.activeElement) field.value = inField(seconds);
  limit = seconds;
  part("lobby", [phase === "lobby", phase === "lobby" && state.students, address.links], lobby);
  byId("view-switches").hidden = !about || (phase === "lobby" && !cards.open.has("device"));
  drawCards();
  tick();
}

function drawCards() {
  if (!state) return;
  const shown = state.phase === "lobby" ? null : [state.students, state.moved, state.seated, state.leaders, state.revealed];
  const device = about?.devices ? [state.device, cards.open.has("device"), feed && cards.open.has("device") && current(feed)] : null;
  part("cards", [shown, state.phase, device, measured], () => [
    ...(shown ? [students()] : []),
    ...(measured && about ? [gaps(), earned(), choices(), crowd()] : []),
    ...(measured?.obedience.length ? [obedience()] : []),
    ...(about?.devices ? [mediator()] : []),
  ]);
  requestAnimationFrame(drawViews);
}

// Controls.

function controls() {
  const { phase, paused, round, rounds } = state;
  const button = (words, name, first = false) => h("button", { onclick: () => command(name), class: first ? "first" : "" }, words);
  const parts = [];
  if (phase === "lobby") parts.push(button("Start", "open", true));
  if (phase === "open") parts.push(paused ? button("Resume", "resume", true) : button("Pause", "pause"), button("Close round", "close"));
  if (phase === "closed" && round < rounds) parts.push(button("Next round", "open", true));
  if (phase !== "ended") parts.push(secondsField());
  if (phase !== "ended" && phase !== "lobby" && round < rounds) {
    const box = h("input", { type: "checkbox", checked: state.automatic, onchange: () => command("automatic", box.checked) });
    parts.push(h("label", {}, box, " next round opens by itself"));
  }
  if (!state.revealed && phase !== "lobby") parts.push(button("Reveal results", "reveal", phase === "closed" && round === rounds));
  if (phase !== "ended" && phase !== "open" && phase !== "lobby") parts.push(button("End", "end"));
  if (measured) parts.push(h("button", { onclick: () => take("plays.csv") }, "CSV"), h("button", { onclick: () => take("report.html") }, "Report"));
  return parts;
}

const inField = (seconds) => (seconds ? digits(seconds) : "");

function secondsField() {
  const field = h("input", {
    ...{ type: "text", inputmode: "decimal", size: 4, class: "seconds", placeholder: "no limit", value: inField(state.seconds) },
    "aria-label": "Seconds per round",
    onchange: () => {
      const typed = field.value.trim();
      const { value, mistake } = typed === "" ? { value: 0 } : readNumber(typed, { least: 0, most: 3600 });
      field.toggleAttribute("aria-invalid", Boolean(mistake));
      if (mistake) put("message", `Seconds per round: ${mistake}.`);
      else command("seconds", value);
    },
  });
  return h("label", {}, "seconds per round ", field);
}

async function take(name) {
  const answer = await fetch(`/export/${name}`, { headers: { authorization: `Bearer ${secret}` } });
  if (answer.ok) download(await answer.blob(), `${state.game}-${name}`);
  else put("message", await answer.text());
}

// The lobby.

function lobby() {
  if (state.phase !== "lobby") return [];
  const link = address.links[0]?.split("?")[0] ?? location.origin;
  return [
    h("img", { src: `data:image/svg+xml,${encodeURIComponent(address.picture)}`, alt: "QR code of the address" }),
    h(
      "div",
      {},
      h("p", { class: "link" }, link),
      h("p", { class: "code" }, state.code),
      h("p", {}, state.students.length === 0 ? "Waiting for the first student." : `${state.students.length} in the room`),
      names(),
    ),
  ];
}

const names = () => h("ul", { class: "names" }, state.students.map((one) => h("li", { class: one.moved && state.phase === "open" ? "moved" : "" }, one.name)));
const card = (title, ...inside) => h("section", { class: "card" }, h("h2", {}, title), ...inside);
const canvas = (name, words) => h("canvas", { "data-chart": name, role: "img", "aria-label": words });
const row = (...cells) => h("tr", {}, h("th", { scope: "row" }, cells[0]), cells.slice(1).map((one) => h("td", {}, one)));
const heads = (...words) => h("tr", {}, words.map((one) => h("th", { scope: "col" }, one)));
const percent = (share) => `${Math.round(100 * share)} %`;

const MATCHINGS = {
  learner: "each student plays against learners",
  groups: "groups stay together",
  reshuffled: "groups are drawn anew in every round",
  population: "all play one game together",
};

function students() {
  const open = state.phase === "open";
  return card(
    open ? `${state.moved} of ${state.seated} have chosen` : `${state.students.length} students`,
    ...(open ? [h("progress", { max: Math.max(1, state.seated), value: state.moved })] : []),
    h("p", { class: "dim" }, `Code ${state.code}. ${MATCHINGS[state.matching][0].toUpperCase()}${MATCHINGS[state.matching].slice(1)}; ${state.learner} takes empty seats.`),
    ...(state.revealed && !open
      ? [h("p", {}, "Highest payoffs per round"), h("ol", {}, state.leaders.map((one) => h("li", {}, `${one.name}: ${digits(one.payoff)}`)))]
      : [names()]),
  );
}

// What was played.

const CHARTS = {
  gaps(place) {
    const { curve } = measured;
    chart(place, [["CE gap", curve.round, curve.gap_ce, theme().ce], ["CCE gap", curve.round, curve.gap_cce, theme().cce]], {
      ...{ across: "round", up: "payoff units", low: 0, high: Math.max(...curve.gap_ce, 0.1) },
    });
  },
  choices(place) {
    const labels = about.game.actions[0];
    const rounds = measured.choices.map((_, k) => k + 1);
    if (labels.length > FEW) {
      const average = measured.choices.map((one) => one.reduce((sum, share, k) => sum + share * k, 0));
      chart(place, [["average choice", rounds, average, theme().players[0]]], { across: "round", up: `from ${labels[0]} to ${labels.at(-1)}`, low: 0, high: labels.length - 1 });
      return;
    }
    const most = labels.map((_, k) => Math.max(...measured.choices.map((one) => one[k])));
    const shown = [...labels.keys()].sort((a, b) => most[b] - most[a]).slice(0, FEW).sort((a, b) => a - b);
    chart(place, shown.map((k, i) => [labels[k], rounds, measured.choices.map((one) => one[k]), theme().players[i]]), {
      ...{ across: "round", up: "share of students", low: 0, high: 1 },
    });
  },
  crowd(place) {
    const { across, at, lines } = about.curve;
    const [size, count] = [about.game.actions[0].length, about.game.players.length];
    const total = measured.state.strategy.reduce((sum, share, k) => sum + share * (k % size), 0);
    const last = size === 2 ? total : total / count;
    const values = lines.flatMap(([, one]) => one);
    chart(
      place,
      [
        ...lines.map(([label, one], k) => [label, at, one, theme().players[k % 6]]),
        ["last round", [last, last], [Math.min(...values), Math.max(...values)], theme().dim],
      ],
      { across, up: lines.length < size ? "payoff, by choice" : "payoff" },
    );
  },
};

/** In a crowd, what a choice pays by what the others choose, and where the last round was. */
const crowd = () => (about.curve ? card("What choices pay", canvas("crowd", `What choices pay, by ${about.curve.across}`)) : null);

function gaps() {
  const { gap_ce: ce, gap_cce: cce } = measured.state;
  return card(
    "How close play is to equilibrium",
    h("p", { class: "facts" }, h("span", {}, "CE gap ", h("span", { class: "big ce" }, digits(ce))), h("span", {}, "CCE gap ", h("span", { class: "big cce" }, digits(cce)))),
    canvas("gaps", `CE gap ${digits(ce)} and CCE gap ${digits(cce)} after ${measured.state.rounds} rounds`),
    h("p", { class: "dim" }, "What players could have gained per round: by replacing an action whenever it was played (CE), or by always playing one action (CCE)."),
  );
}

/** Mean payoffs and choices of the class, and of learners in the same seats against the same moves of the others. */
function earned() {
  const { players, actions } = about.game;
  const { payoffs, average } = measured.state;
  const { learners } = measured;
  let at = 0;
  const shares = actions.map((labels) => average.slice(at, (at += labels.length)));
  const few = players.length === 2 && actions.every((labels) => labels.length <= 4);
  const rows =
    players.length > 2 && isSymmetric()
      ? overall(actions, payoffs, shares, learners)
      : players.flatMap((name, i) => [
          row(`${name}: payoff`, digits(payoffs[i]), digits(learners[i]?.payoff)),
          ...(few ? actions[i].map((label, a) => row(`${name}: ${whole(label)}`, percent(shares[i][a]), learners[i] ? percent(learners[i].strategy[a]) : "–")) : []),
        ]);
  const total = payoffs.reduce((a, b) => a + b, 0);
  return card(
    "Mean payoffs and choices",
    h("div", { class: "scroll" }, h("table", {}, heads("", "played", `${state.learner} in the same seats`), rows)),
    about.welfare ? h("p", { class: "dim" }, `Total payoff ${digits(total)}; in correlated equilibria ${about.welfare.map(digits).join(" to ")}.`) : null,
  );
}

const isSymmetric = () => about.game.actions.every((labels) => JSON.stringify(labels) === JSON.stringify(about.game.actions[0]));

function overall(actions, payoffs, shares, learners) {
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  const known = learners.filter((one) => one !== null);
  const choice = (label, a) => row(whole(label), percent(mean(shares.map((one) => one[a]))), known.length ? percent(mean(known.map((one) => one.strategy[a]))) : "–");
  return [
    row("mean payoff", digits(mean(payoffs)), known.length ? digits(mean(known.map((one) => one.payoff))) : "–"),
    row("lowest to highest", `${digits(Math.min(...payoffs))} to ${digits(Math.max(...payoffs))}`, ""),
    ...(actions[0].length <= FEW ? actions[0].map(choice) : []),
  ];
}

const choices = () =>
  measured.choices.length
    ? card("Choices by round", canvas("choices", "Share of students who chose each action, by round"))
    : null;

// The mediator.

function obedience() {
  const { players, actions } = about.game;
  const rows = measured.obedience.flatMap((one) => {
    const labels = actions[one.role];
    const paid = (values, a) => (a === one.recommended ? h("strong", {}, digits(values[a])) : digits(values[a]));
    const head = row(
      `${players[one.role]}: ${labels[one.recommended]}`,
      String(one.times),
      percent(one.obeyed / one.times),
      ...labels.map((_, a) => paid(one.would_pay, a)),
    );
    const promise = h("tr", { class: "dim" }, h("td", { colspan: 3 }, "if the others follow"), labels.map((_, a) => h("td", {}, paid(one.promised, a))));
    return state.revealed ? [head, promise] : [head];
  });
  const names = isSymmetric() ? actions[0] : actions[0].map((_, a) => `action ${a + 1}`);
  const found = card(
    "Were recommendations followed?",
    h("div", { class: "scroll" }, h("table", {}, heads("recommended", "times", "followed", ...names.map((one) => `${one} paid`)), rows)),
    h("p", { class: "dim" }, "Mean payoff of each action against what the others played, in the rounds in which an action was recommended. Bold: following."),
  );
  found.classList.add("wide");
  return found;
}

function mediator() {
  const { game } = about;
  const range = Math.max(...game.high.map((most, i) => most - game.low[i])) || 1;
  const kind = (cells) => (gains(game, cells).every(({ gain }) => gain <= SMALL * range) ? "a correlated equilibrium" : "not a correlated equilibrium");
  const open = cards.open.has("device");
  const use = () => command("device", current(feed).map((one) => Number(one.toFixed(9))));
  return card(
    "Mediator",
    state.device
      ? h("p", {}, state.phase === "lobby" || state.revealed ? `Draws recommendations from a distribution that is ${kind(state.device)}.` : "Sends private recommendations.")
      : h("p", {}, "Sends no recommendations."),
    h(
      "p",
      { class: "buttons" },
      h("button", { onclick: () => (cards.toggle("device"), draw()), "aria-pressed": String(open) }, open ? "Hide the device" : "Choose a device"),
      open && feed ? h("button", { class: "first", onclick: use }, state.device ? "Recommend from this one" : "Recommend from it") : null,
      state.device ? h("button", { onclick: () => command("device", []) }, "No recommendations") : null,
    ),
    open && feed ? h("p", { class: "dim" }, `The device below is ${kind(current(feed))}. It is used from the next round on.`) : null,
  );
}

function tick() {
  if (!state) return;
  const { phase, round, rounds, paused } = state;
  const left = ends === null ? "" : paused ? " · paused" : ` · ${Math.ceil(Math.max(0, (ends - performance.now()) / 1000))} s`;
  const words = { lobby: "Waiting for students", open: `Round ${round} of ${rounds}${left}`, closed: `Round ${round} of ${rounds} is over`, ended: "The session has ended" };
  put("status", words[phase] + (phase === "open" && paused && ends === null ? " · paused" : ""));
}

setInterval(tick, 250);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  forgetTheme();
  drawViews();
});
addEventListener("resize", () => {
  forgetTheme();
  drawViews();
});
