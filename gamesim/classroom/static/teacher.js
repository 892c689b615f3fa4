// The teacher's page: the code of the room, the controls, and what the class has played.

import { byId, download, h, put } from "/lab/dom.js";
import { connect, digits } from "/static/wire.js";

const KEY = `gamesim-teacher-${location.host}`;
const secret = location.hash.slice(1) || sessionStorage.getItem(KEY) || "";
if (location.hash) {
  sessionStorage.setItem(KEY, secret);
  history.replaceState(null, "", location.pathname); // the link is not on the projector
}
let state = null;
let links = [];
let ends = null;

const send = connect({
  enter: () => ({ do: "teach", secret }),
  status: (words) => put("message", words),
  receive(message) {
    if (message.is === "refused") put("message", `${message.why[0].toUpperCase()}${message.why.slice(1)}.`);
    else if (message.is === "state") {
      put("message", "");
      state = message;
      ends = state.left === null ? null : performance.now() + 1000 * state.left;
      draw();
    }
  },
});
fetch("/links.json")
  .then((answer) => answer.json())
  .then((found) => {
    links = found;
    if (state) draw();
  });

const command = (name, value) => send({ do: "command", command: name, value });

function controls() {
  const { phase, paused, round, rounds } = state;
  const button = (words, name, first = false) => h("button", { onclick: () => command(name), class: first ? "first" : "" }, words);
  const parts = [];
  if (phase === "lobby") parts.push(button("Start", "open", true));
  if (phase === "open") parts.push(paused ? button("Resume", "resume", true) : button("Pause", "pause"), button("Close round", "close"));
  if (phase === "closed" && round < rounds) parts.push(button("Next round", "open", true));
  if (phase !== "ended" && phase !== "lobby") {
    const box = h("input", { type: "checkbox", checked: state.automatic, onchange: () => command("automatic", box.checked) });
    parts.push(h("label", {}, box, " rounds follow by themselves"));
  }
  if (!state.revealed && phase !== "lobby") parts.push(button("Reveal results", "reveal"));
  if (phase !== "ended" && phase !== "open") parts.push(button("End", "end"));
  if (state.measured) parts.push(h("button", { onclick: () => take("plays.csv") }, "CSV"), h("button", { onclick: () => take("report.html") }, "Report"));
  return parts;
}

async function take(name) {
  const answer = await fetch(`/export/${name}`, { headers: { authorization: `Bearer ${secret}` } });
  if (answer.ok) download(await answer.blob(), `${state.game}-${name}`);
  else put("message", await answer.text());
}

function draw() {
  put("title", state.game);
  byId("controls").replaceChildren(...controls());
  const cards = [];
  if (state.phase === "lobby") cards.push(lobby());
  else {
    cards.push(h("div", { class: "cards" }, students(), ...(state.measured ? measured() : [])));
  }
  byId("page").replaceChildren(...cards);
  tick();
  for (const canvas of document.querySelectorAll("canvas")) plot(canvas);
}

function lobby() {
  const link = links[0] ? links[0].split("?")[0] : location.origin;
  return h(
    "section",
    { class: "lobby" },
    h("img", { src: "/code.svg", alt: "QR code of the address" }),
    h("div", {}, h("p", { class: "link" }, link), h("p", { class: "code" }, state.code), h("p", {}, `${state.students.length} in the room`), names()),
  );
}

const names = () => h("ul", { class: "names" }, state.students.map((one) => h("li", { class: one.moved && state.phase === "open" ? "moved" : "" }, one.name)));
const card = (title, ...inside) => h("section", { class: "card" }, h("h2", {}, title), ...inside);

function students() {
  return card(
    state.phase === "open" ? `${state.moved} of ${state.seated} have chosen` : `${state.students.length} students`,
    h("p", { class: "dim" }, `code ${state.code} · matching: ${state.matching} · ${state.learner} in empty seats`),
    state.revealed
      ? h("ol", {}, state.leaders.map((one) => h("li", {}, `${one.name}: ${digits(one.score)}`)))
      : names(),
  );
}

function measured() {
  const { measured: found } = state;
  const cards = [
    card(
      "How close the class is to equilibrium",
      h("p", { class: "facts" }, h("span", {}, "CE gap"), h("span", { class: "big" }, digits(found.gap.ce)), h("span", {}, "CCE gap"), h("span", { class: "big" }, digits(found.gap.cce))),
      h("canvas", { "data-plot": "gaps", role: "img", "aria-label": "gaps by play" }),
    ),
    card(
      "Mean payoff per round",
      h(
        "table",
        {},
        h("tr", {}, h("th", {}, ""), h("th", {}, "class"), h("th", {}, `${state.learner} in these seats`)),
        state.players.slice(0, 8).map((name, k) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, digits(found.payoffs[k])), h("td", {}, digits(found.learners[k])))),
      ),
      found.welfare ? h("p", { class: "dim" }, `Total: ${digits(found.payoffs.reduce((a, b) => a + b, 0))}; in correlated equilibria ${found.welfare.ce.map(digits).join(" to ")}.`) : null,
    ),
    card("Choices by round", h("canvas", { "data-plot": "history", role: "img", "aria-label": "share of each action by round" })),
  ];
  if (found.joint) cards.push(card("Joint distribution of play", joint(found.joint)));
  if (found.obedience.length) cards.push(card("Were recommendations followed?", obedience(found.obedience)));
  return cards;
}

function joint(rows) {
  const most = Math.max(...rows.flat());
  const head = h("tr", {}, h("th", {}, ""), state.actions[1].map((name) => h("th", { scope: "col" }, name)));
  const cell = (share) => {
    const box = h("td", {}, `${(100 * share).toFixed(0)} %`);
    box.style.background = `color-mix(in srgb, var(--heat-high) ${(100 * share) / most}%, var(--heat-low))`;
    box.style.color = share > 0.55 * most ? "var(--page)" : "var(--text)";
    return box;
  };
  return h("div", { class: "scroll" }, h("table", {}, head, rows.map((row, k) => h("tr", {}, h("th", { scope: "row" }, state.actions[0][k]), row.map(cell)))));
}

function obedience(rows) {
  const head = ["to", "advice", "times", "followed", "paid", "else paid"];
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {},
      h("tr", {}, head.map((name) => h("th", {}, name))),
      rows.map((one) => h("tr", {}, [one.role, one.recommended, one.times, `${Math.round((100 * one.obeyed) / one.times)} %`, digits(one.obeying), digits(one.disobeying)].map((text) => h("td", {}, String(text))))),
    ),
  );
}

function plot(canvas) {
  const box = canvas.getBoundingClientRect();
  const scale = devicePixelRatio || 1;
  canvas.width = box.width * scale;
  canvas.height = box.height * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const found = state.measured;
  const lines =
    canvas.dataset.plot === "gaps"
      ? [
          ["CE gap", found.curve.rounds, found.curve.ce, "--ce"],
          ["CCE gap", found.curve.rounds, found.curve.cce, "--cce"],
        ]
      : state.actions[0].slice(0, 6).map((name, k) => [name, found.history.map((_, t) => t + 1), found.history.map((row) => row[k]), `--p${k}`]);
  const top = canvas.dataset.plot === "gaps" ? Math.max(...lines.flatMap((one) => one[2]), 0.1) : 1;
  const last = Math.max(...lines[0][1], 2);
  const left = 46, right = 10, up = 26, down = 34;
  const x = (at) => left + ((at - 1) / (last - 1)) * (box.width - left - right);
  const y = (value) => up + (1 - value / top) * (box.height - up - down);
  pen.font = "13px system-ui, sans-serif";
  pen.fillStyle = colour("--dim");
  pen.strokeStyle = colour("--line");
  for (const value of [0, top / 2, top]) {
    pen.beginPath();
    pen.moveTo(left, y(value));
    pen.lineTo(box.width - right, y(value));
    pen.stroke();
    pen.textAlign = "right";
    pen.fillText(digits(value), left - 6, y(value) + 4);
  }
  pen.textAlign = "center";
  pen.fillText(canvas.dataset.plot === "gaps" ? "plays of all groups" : "round", (left + box.width) / 2, box.height - 8);
  pen.fillText("1", x(1), box.height - 18);
  pen.fillText(String(last), x(last) - 6, box.height - 18);
  pen.textAlign = "left";
  let at = left;
  for (const [name, xs, ys, tint] of lines) {
    pen.strokeStyle = pen.fillStyle = colour(tint);
    pen.lineWidth = 2.5;
    pen.beginPath();
    xs.forEach((one, k) => (k ? pen.lineTo(x(one), y(ys[k])) : pen.moveTo(x(one), y(ys[k]))));
    pen.stroke();
    if (xs.length === 1) pen.fillRect(x(xs[0]) - 3, y(ys[0]) - 3, 6, 6);
    pen.fillText(name, at, 14);
    at += pen.measureText(name).width + 16;
  }
}

function tick() {
  if (!state) return;
  const { phase, round, rounds, paused } = state;
  const left = ends === null ? "" : paused ? " · paused" : ` · ${Math.ceil(Math.max(0, (ends - performance.now()) / 1000))} s`;
  const words = { lobby: "Waiting for students", open: `Round ${round} of ${rounds}${left}`, closed: `Round ${round} of ${rounds} is over`, ended: "The session has ended" };
  put("status", words[phase] + (phase === "open" && paused && ends === null ? " · paused" : ""));
}

setInterval(tick, 250);
addEventListener("resize", () => state && draw());
