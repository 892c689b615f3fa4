// A student's page: join, choose, see what happened, and the regrets at the end.

import { byId, h, put } from "/lab/dom.js";
import { forgetTheme, theme } from "/lab/views/canvas.js";
import { chart } from "/static/chart.js";
import { connect, digits, whole } from "/static/wire.js";

const given = new URLSearchParams(location.search);
const code = given.get("token") ?? "";
const alone = given.get("name"); // the name, if there is no teacher to give out codes
if (alone) document.querySelector("footer").textContent = "Your choices are stored on this computer until gamesim stops.";
const KEY = `gamesim-class-${location.host}`;
let seat = null; // the role, its actions and payoffs
let state = null;
let sent = null; // the round and action that were sent and not yet acknowledged
let back = false; // whether the page has just reconnected
let drawn = null; // the phase that was drawn last
let ends = null; // when the round ends, in milliseconds of this page's clock

const stored = () => {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
};

function store(secret) {
  try {
    if (secret) localStorage.setItem(KEY, secret);
    else localStorage.removeItem(KEY);
  } catch {
    // Without storage, a reload needs a new name.
  }
}

const send = connect({
  enter: () => (stored() ? { do: "back", secret: stored() } : (joining(), alone ? { do: "join", code, name: alone } : null)),
  status: (words) => put("message", words),
  receive(message) {
    if (message.is === "joined") {
      if (message.secret) store(message.secret);
      seat = message.seat;
      back = true;
      put("message", "");
    } else if (message.is === "refused") {
      if (message.about === "back") {
        store(null);
        joining();
        if (alone) send({ do: "join", code, name: alone });
      } else {
        if (message.about === "move") sent = null;
        put("message", `${message.why[0].toUpperCase()}${message.why.slice(1)}.`);
        if (state) draw();
      }
    } else if (message.is === "accepted") {
      put("message", "");
    } else if (message.is === "state") {
      if (!state || message.round !== state.round || message.phase !== "open") sent = null;
      if (!state || message.round !== state.round || message.phase !== state.phase) put("message", "");
      state = { ...seat, ...message };
      if (back && sent && state.moved === null) send({ do: "move", ...sent }); // chosen while there was no connection
      back = false;
      ends = state.left === null ? null : performance.now() + 1000 * state.left;
      draw();
    }
  },
});

function joining() {
  const form = h(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        send({ do: "join", code: form.elements.code.value, name: form.elements.name.value });
      },
    },
    h("h1", {}, "Join the class"),
    h("label", {}, "Code on the screen", h("input", { type: "text", name: "code", class: "code", maxlength: 5, value: code, autocomplete: "off", required: true })),
    h("label", {}, "Your name, as others may see it", h("input", { type: "text", name: "name", maxlength: 24, autocomplete: "off", required: true })),
    h("button", { class: "first" }, "Join"),
  );
  state = null;
  byId("page").replaceChildren(form);
  (code ? form.elements.name : form.elements.code).focus();
}

function choose(action) {
  if (state.phase !== "open" || state.paused || state.moved !== null || sent) return;
  sent = { round: state.round, action };
  send({ do: "move", ...sent });
  draw();
}

document.addEventListener("keydown", (event) => {
  const place = Number(event.key) - 1;
  if (state && !event.target.closest("input") && place >= 0 && place < state.actions.length) choose(place);
});

function draw() {
  const parts = [
    h("p", { class: "facts" }, h("span", {}, `${state.name} · ${state.role}`), h("span", {}, `Score ${digits(state.score)}`)),
  ];
  if (state.phase === "lobby") parts.push(h("h1", {}, "You are in"), h("p", {}, "Wait for the first round."));
  if (state.phase === "ended") parts.push(h("h1", {}, "The session has ended"));
  if (state.phase === "open" && !state.seated) parts.push(h("p", {}, "You play from the next round on."));
  if (state.phase === "open" && state.seated) parts.push(...choices());
  if (state.last && state.phase !== "open") parts.push(...happened());
  if (state.phase === "closed" && !alone) parts.push(h("p", { class: "dim" }, state.round < state.rounds ? "Wait for the next round." : "That was the last round."));
  if (state.results) parts.push(...results());
  if (state.payoffs && state.phase !== "ended") parts.push(table());
  const open = byId("earn")?.open;
  byId("page").replaceChildren(...parts);
  if (open !== undefined && byId("earn") && state.phase === drawn) byId("earn").open = open;
  drawn = state.phase;
  drawCurve();
  tick();
}

function drawCurve() {
  const canvas = document.querySelector("canvas");
  if (!canvas?.clientWidth) return;
  const { across, at, lines } = state.payoffs;
  const up = lines.length < state.actions.length ? "what you earn, by your choice" : "what you earn";
  chart(canvas, lines.map(([label, values], k) => [label, at, values, theme().players[k % 6]]), { across, up });
}

function choices() {
  const chosen = state.moved ?? sent?.action ?? null;
  const advice =
    state.recommendation === null
      ? []
      : [h("p", { class: "advice" }, "You are advised to play ", h("strong", {}, state.actions[state.recommendation]), ". Only you see this.")];
  const buttons = state.actions.map((label, action) =>
    h(
      "button",
      { onclick: () => choose(action), disabled: chosen !== null || state.paused, "aria-pressed": String(chosen === action) },
      whole(label),
    ),
  );
  const prompt = state.paused ? "Paused." : chosen === null ? "Choose:" : state.moved === null ? "Sending …" : "Your choice counts. Wait for the others.";
  return [
    h("p", { class: "facts" }, h("span", {}, `Round ${state.round} of ${state.rounds}`), h("span", { id: "clock" })),
    ...advice,
    h("p", { class: "prompt" }, prompt),
    h("div", { class: state.actions.length > 8 ? "choices many" : "choices" }, buttons),
  ];
}

function happened() {
  const { last } = state;
  const others = last.others
    ? last.others.map(([who, what]) => `${who} played ${whole(what)}`).join(", ")
    : `the class: ${last.counts.map(([what, count]) => `${count} × ${what}`).join(", ")}`;
  return [
    h("h1", {}, `Round ${last.round}`),
    h("p", {}, last.absent ? `You did not choose in time, so a learner played ${whole(last.mine)} for you; it does not count.` : `You played ${whole(last.mine)}; ${others}.`),
    ...(last.absent ? [] : [h("p", { class: "facts big" }, h("span", {}, "This round paid"), h("span", {}, digits(last.payoff)))]),
    ...(last.absent || !last.instead.length ? [] : [h("p", {}, `${advised(last)}${last.instead.map(([label, paid]) => `${whole(label)} would have paid ${digits(paid)}`).join(", ")}.`)]),
  ];
}

const advised = ({ advice, mine }) => (advice === null ? "Instead, " : advice === mine ? "You followed the advice; " : `You did not follow the advice, ${advice}; `);

function results() {
  const { results: found, learner } = state;
  const others = Object.entries(state.opponents);
  const row = (name, key) => h("tr", {}, h("th", { scope: "row" }, name), [found, ...others.map(([, one]) => one)].map((one) => h("td", {}, digits(one[key]))));
  return [
    h("h2", {}, "Results per round"),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        {},
        h("tr", {}, h("th", {}), h("th", {}, "you"), others.map(([name]) => h("th", {}, `${name} (${learner.name})`))),
        row("payoff", "payoff"),
        row("external regret", "external"),
        row("internal regret", "internal"),
        row("swap regret", "swap"),
      ),
    ),
    h("p", {}, whole(found.deviation)),
    h("p", { class: "dim" }, `${learner.name} would have earned ${digits(learner.payoff)} per round in ${others.length ? "your seat" : "seats like yours"}, against the same moves.`),
    ...replay(),
  ];
}

/** Every round as a column: the actions of all players, and what it paid. */
function replay() {
  const { history, players, labels, seat } = state;
  if (!history.length || !players) return [];
  const order = [seat, ...players.keys()].filter((one, k, all) => all.indexOf(one) === k);
  const cell = (text) => h("td", {}, text);
  return [
    h("h2", {}, "Round by round"),
    h(
      "div",
      { class: "scroll replay" },
      h(
        "table",
        {},
        h("tr", {}, h("th", {}, "round"), history.map((one) => cell(String(one.round)))),
        order.map((player) => h("tr", {}, h("th", { scope: "row" }, player === seat ? "you" : players[player]), history.map((one) => cell(whole(labels[player][one.actions[player]]))))),
        h("tr", {}, h("th", {}, "paid"), history.map((one) => cell(digits(one.payoff)))),
      ),
    ),
  ];
}

function table() {
  const { payoffs } = state;
  const inside = (element) => h("details", { id: "earn", open: state.phase !== "closed", ontoggle: drawCurve }, h("summary", {}, "What you earn"), element);
  if (payoffs.kind === "curve") return inside(h("canvas", { role: "img", "aria-label": `What you earn, by ${payoffs.across}` }));
  if (payoffs.kind === "counts") {
    const head = h("tr", {}, h("th", {}, "if the others choose"), state.actions.map((name) => h("th", { scope: "col" }, whole(name))));
    return inside(h("div", { class: "scroll" }, h("table", {}, head, payoffs.rows.map(([label, values]) => h("tr", {}, h("th", { scope: "row" }, whole(label)), values.map((one) => h("td", {}, digits(one))))))));
  }
  const head = h("tr", {}, h("th", {}, `you \\ ${payoffs.others.join(", ")}`), payoffs.columns.map((name) => h("th", { scope: "col" }, name)));
  const rows = payoffs.rows.map((row, k) => h("tr", {}, h("th", { scope: "row" }, state.actions[k]), row.map((value) => h("td", {}, digits(value)))));
  return inside(h("div", { class: "scroll" }, h("table", {}, head, rows)));
}

function tick() {
  if (!byId("clock")) return;
  const left = ends === null ? null : Math.max(0, (ends - performance.now()) / 1000);
  put("clock", left === null ? "" : state.paused ? "paused" : `${Math.ceil(left)} s`);
}

addEventListener("resize", () => (forgetTheme(), state && drawCurve()));
setInterval(() => state?.phase === "open" && !state.paused && tick(), 250);
