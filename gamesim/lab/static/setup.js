// Choosing the game, its payoffs, the players' learners and how they start. Nothing here simulates: every change becomes
// a new scenario, which the server checks and begins.

import { h, byId } from "./dom.js";
import { readNumber, whole } from "./numbers.js";

const EDITABLE = 200; // payoff fields up to which a table can be edited
const OWN = "own table";
const FEEDBACK = { expected: "expected: every action's mean loss", sampled: "sampled: losses against drawn actions", bandit: "bandit: the played action's loss only" };

export class Setup {
  /** `begin(scenario, beside)` starts a scenario; `askGame(game)` asks the server for a game's table. */
  constructor(place, choices, { begin, askGame }) {
    this.place = place;
    this.choices = choices;
    this.begin = begin;
    this.askGame = askGame;
    this.mistakes = new Map(); // by the id of the field: what was typed, and what is wrong with it
  }

  /** Show a scenario and its game; fields that hold a mistake keep what was typed. */
  show(scenario, beside, game) {
    const sameGame = this.game && JSON.stringify(this.game.actions) === JSON.stringify(game.actions);
    if (!sameGame) this.mistakes.clear();
    Object.assign(this, { scenario, beside, game });
    const focused = document.activeElement?.id;
    const open = new Set([...this.place.querySelectorAll("details[open]")].map((details) => details.id));
    this.place.replaceChildren(this.gamePart(), this.tablePart(), this.playersPart(open), this.runPart());
    if (focused && byId(focused) && this.place.contains(byId(focused))) byId(focused).focus();
  }

  change(update, beside = this.beside) {
    this.begin({ ...this.scenario, ...update }, beside);
  }

  learner(name) {
    return this.choices.learners.find((one) => one.name === name);
  }

  // The game.

  gamePart() {
    const { name } = this.scenario.game;
    const chosen = this.choices.games.find((one) => one.name === name);
    const options = this.choices.games.map((one) => h("option", { value: one.name, selected: one.name === name }, one.name));
    return h(
      "section",
      { "aria-labelledby": "game-heading" },
      h("h2", { id: "game-heading" }, "Game"),
      h(
        "select",
        { id: "game", "aria-label": "Game", onchange: (event) => this.pickGame(event.target.value) },
        h("option", { value: OWN, selected: !name }, OWN),
        ...options,
      ),
      h("p", { class: "about" }, chosen ? chosen.about : "Type your own payoffs and labels below."),
      chosen?.teaches ? h("p", { class: "about dim" }, `Teaches: ${chosen.teaches}`) : null,
      chosen?.settings.length ? this.settings("game", chosen.settings, this.scenario.game.settings ?? {}, (settings) => this.askGame({ name, ...(Object.keys(settings).length ? { settings } : {}) })) : null,
    );
  }

  pickGame(name) {
    this.mistakes.clear();
    if (name === OWN) this.useTable(this.game.payoffs);
    else this.askGame({ name });
  }

  /** Begin with payoffs written out; the players keep their learners. */
  useTable(payoffs, actions = this.game.actions, players = this.game.players) {
    const { name } = this.scenario.game;
    const title = name ? `${name}, changed` : this.scenario.title;
    const entries = this.scenario.players.map(({ name: _, ...entry }) => entry);
    this.change({ title, game: { payoffs, players, actions }, players: entries });
  }

  tablePart() {
    const { game } = this;
    const fields = (game.payoffs?.flat(Infinity) ?? []).length;
    if (!fields || fields > EDITABLE) {
      const sizes = game.actions.map((labels) => labels.length).join(" × ");
      return h("section", {}, h("p", { class: "about" }, `${game.players.length} players with ${sizes} actions: too large to edit here.`));
    }
    const others = combinations(game.actions.slice(2).map((labels) => labels.length));
    return h(
      "section",
      { "aria-label": "Payoffs" },
      h("div", { class: "payoffs" }, others.map((rest) => this.grid(rest))),
      game.players.length === 2 ? this.sizeButtons() : null,
      h("p", { id: "table-mistake", class: "mistake", role: "alert" }, this.mistakeText("payoff-")),
    );
  }

  mistakeText(prefix) {
    const found = [...this.mistakes].filter(([id]) => id.startsWith(prefix)).map(([, { where, mistake }]) => `${where}: ${mistake}`);
    return found.length ? `${found.join("; ")}. The run keeps the last good value.` : "";
  }

  /** One table of the first two players' actions, for one choice of the others'. */
  grid(rest) {
    const { game } = this;
    const [rows, columns] = [game.actions[0], game.actions[1] ?? [""]];
    const name = (player) =>
      this.labelField(`player-${player}-name`, game.players[player], `Name of player ${player + 1}`, (text) => {
        const players = game.players.map((old, i) => (i === player ? text : old));
        this.useTable(game.payoffs, game.actions, players);
      });
    const action = (player, k) =>
      this.labelField(`action-${player}-${k}`, game.actions[player][k], `${game.players[player]}'s action ${k + 1}`, (text) => {
        const actions = game.actions.map((labels, i) => labels.map((old, j) => (i === player && j === k ? text : old)));
        this.useTable(game.payoffs, actions);
      });
    const first = rest.every((k) => k === 0);
    const text = (player, k) => (first ? action(player, k) : h("span", {}, game.actions[player][k]));
    const caption = rest.map((k, i) => `${game.players[i + 2]} plays ${game.actions[i + 2][k]}`).join(", ");
    return h(
      "table",
      {},
      caption ? h("caption", {}, caption) : null,
      h(
        "thead",
        {},
        game.players.length > 1 ? h("tr", {}, h("td"), h("th", { colspan: columns.length, class: "p1", scope: "colgroup" }, first ? name(1) : game.players[1])) : null,
        h("tr", {}, h("th", { class: "p0", scope: "col" }, first ? name(0) : game.players[0]), columns.map((_, b) => h("th", { scope: "col" }, game.players.length > 1 ? text(1, b) : "payoff"))),
      ),
      h(
        "tbody",
        {},
        rows.map((_, a) =>
          h("tr", {}, h("th", { scope: "row" }, text(0, a)), columns.map((__, b) => h("td", {}, h("div", { class: "cell" }, game.players.map((___, i) => this.payoffField(i, game.players.length > 1 ? [a, b, ...rest] : [a])))))),
        ),
      ),
    );
  }

  labelField(id, value, label, use) {
    const change = (event) => {
      const text = event.target.value.trim();
      if (!text) event.target.value = value;
      else if (text !== value) use(text);
    };
    return h("input", { id, class: "label", value, "aria-label": label, maxlength: 40, size: Math.max(4, Math.min(value.length, 14)), onchange: change });
  }

  payoffField(player, cell) {
    const { game } = this;
    const id = `payoff-${player}-${cell.join("-")}`;
    const value = cell.reduce((table, k) => table[k], game.payoffs[player]);
    const where = `${game.players[player]}'s payoff at ${cell.map((k, i) => game.actions[i][k]).join(", ")}`;
    const wrong = this.mistakes.get(id);
    const change = (event) => {
      const read = readNumber(event.target.value);
      if (read.mistake) {
        this.mistakes.set(id, { typed: event.target.value, mistake: read.mistake, where });
        event.target.setAttribute("aria-invalid", "true");
        byId("table-mistake").textContent = this.mistakeText("payoff-");
        return;
      }
      this.mistakes.delete(id);
      event.target.removeAttribute("aria-invalid");
      byId("table-mistake").textContent = this.mistakeText("payoff-");
      if (read.value !== value) this.useTable(replaced(this.game.payoffs, [player, ...cell], read.value));
    };
    return h("input", {
      id, class: `payoff p${player % 6}`, value: wrong ? wrong.typed : plain(value), inputmode: "text", autocomplete: "off", spellcheck: "false",
      "aria-label": where, "aria-invalid": wrong ? "true" : null, "aria-describedby": "table-mistake", onchange: change,
      onfocus: (event) => event.target.select(),
    });
  }

  sizeButtons() {
    const { game } = this;
    const resize = (player, by) => () => {
      const labels = game.actions[player];
      let fresh = labels.length + 1;
      while (labels.includes(String(fresh))) fresh += 1;
      const actions = game.actions.map((old, i) => (i !== player ? old : by > 0 ? [...old, String(fresh)] : old.slice(0, -1)));
      const [rows, columns] = actions.map((one) => one.length);
      const payoffs = game.payoffs.map((table) => Array.from({ length: rows }, (_, a) => Array.from({ length: columns }, (__, b) => table[a]?.[b] ?? 0)));
      this.scenario = { ...this.scenario, players: this.scenario.players.map(({ start: _, ...entry }) => entry) };
      this.useTable(payoffs, actions);
    };
    const button = (player, by) =>
      h("button", { type: "button", id: `size-${player}-${by > 0 ? "more" : "less"}`, class: "small", disabled: game.actions[player].length + by < 1 || game.actions[player].length + by > 8, "aria-label": `${by > 0 ? "Add an action to" : "Take an action from"} ${game.players[player]}`, onclick: resize(player, by) }, by > 0 ? "+" : "−");
    return h("p", { class: "sizes" }, game.players.map((name, i) => h("span", {}, button(i, -1), ` ${name}'s actions `, button(i, 1))));
  }

  // The players.

  playersPart(open) {
    const two = this.beside !== null;
    const both = h("input", { type: "checkbox", id: "side-by-side", checked: two, onchange: (event) => this.change({}, event.target.checked ? this.besideDefault() : null) });
    return h(
      "section",
      { "aria-labelledby": "players-heading" },
      h("h2", { id: "players-heading" }, "Players"),
      h("label", { class: "check" }, both, " two runs side by side: same game, same seed"),
      this.game.players.map((name, i) => this.playerPart(name, i, open)),
    );
  }

  besideDefault() {
    return this.scenario.players.map((entry) => ({ ...withoutSettings(entry), learner: entry.learner === "wavelet" ? "hedge" : "wavelet" }));
  }

  playerPart(name, i, open) {
    const entry = this.scenario.players[i];
    const id = `player-${i}`;
    const put = (fresh) => this.change({ players: this.scenario.players.map((old, k) => (k === i ? fresh : old)) });
    const putBeside = (fresh) => this.change({}, this.beside.map((old, k) => (k === i ? fresh : old)));
    const putBoth = (update) => {
      const apply = (old) => cleaned({ ...old, ...update });
      this.change({ players: this.scenario.players.map((old, k) => (k === i ? apply(old) : old)) }, this.beside && this.beside.map((old, k) => (k === i ? apply(old) : old)));
    };
    const start = entry.start ? entry.start.map(plain).join(" ") : "";
    return h(
      "fieldset",
      { class: `player p${i % 6}` },
      h("legend", {}, h("span", { class: "swatch", "aria-hidden": "true" }), name),
      h("div", { class: "learners" }, this.learnerPart(`${id}-learner`, name, entry, put), this.beside ? this.learnerPart(`${id}-beside`, `${name}, second run`, this.beside[i], putBeside) : null),
      h(
        "details",
        { id: `${id}-more`, open: open.has(`${id}-more`) },
        h("summary", {}, "settings and first strategy"),
        this.learnerSettings(`${id}-learner`, entry.learner, entry, put),
        this.beside ? this.learnerSettings(`${id}-beside`, `${this.beside[i].learner}, second run`, this.beside[i], putBeside) : null,
        this.numberField(`${id}-perturb`, "random share of it (perturb)", entry.perturb ?? 0, { least: 0, most: 1 }, (perturb) => putBoth({ perturb: perturb || undefined })),
        this.textField(`${id}-start`, "given probabilities (start)", start, "left to the learner", (text) => {
          if (!text) return { use: () => putBoth({ start: undefined }) };
          const read = text.split(/[\s,;]+/).filter(Boolean).map((one) => readNumber(one));
          const wrong = read.find((one) => one.mistake);
          return wrong ? { mistake: wrong.mistake } : { use: () => putBoth({ start: read.map((one) => one.value) }) };
        }),
      ),
    );
  }

  learnerPart(id, who, entry, put) {
    const chosen = this.learner(entry.learner);
    const feedback = this.scenario.feedback ?? "expected";
    const groups = new Map();
    for (const one of this.choices.learners) {
      const kind = /(swap|internal|external) regret/.exec(one.guarantee)?.[1];
      const group = kind ? `no ${kind} regret` : "no guarantee";
      groups.set(group, [...(groups.get(group) ?? []), one]);
    }
    const order = ["no swap regret", "no internal regret", "no external regret", "no guarantee"].filter((group) => groups.has(group));
    return h(
      "div",
      { class: "learner" },
      h(
        "select",
        { id, "aria-label": `Learner of ${who}`, onchange: (event) => put({ ...withoutSettings(entry), learner: event.target.value }) },
        order.map((group) => h("optgroup", { label: group }, groups.get(group).map((one) => h("option", { value: one.name, selected: one.name === entry.learner, disabled: !one.feedback.includes(feedback) }, one.name)))),
      ),
      h("p", { class: "about" }, chosen?.about ?? ""),
      h("p", { class: "about dim guarantee" }, chosen?.guarantee ?? ""),
    );
  }

  learnerSettings(id, who, entry, put) {
    const chosen = this.learner(entry.learner);
    if (!chosen?.settings.length) return null;
    const use = (settings) => put(cleaned({ ...entry, settings: Object.keys(settings).length ? settings : undefined }));
    return h("div", {}, h("p", { class: "about" }, who), this.settings(id, chosen.settings, entry.settings ?? {}, use));
  }

  /** Fields for settings; one that is left empty is left to the default. */
  settings(prefix, known, given, use) {
    const put = (name, value) => {
      const { [name]: _, ...others } = given;
      use(value === undefined ? others : { ...others, [name]: value });
    };
    return h("div", { class: "settings" }, known.map((one) => {
      const id = `${prefix}-setting-${one.name}`;
      const value = given[one.name];
      if (one.kind === "choice") {
        return h("label", {}, `${one.name} `, h("select", { id, onchange: (event) => put(one.name, event.target.value === one.default ? undefined : event.target.value) }, one.choices.map((choice) => h("option", { value: choice, selected: choice === (value ?? one.default) }, choice))));
      }
      if (one.kind === "switch") {
        return h("label", { class: "check" }, h("input", { id, type: "checkbox", checked: value ?? one.default, onchange: (event) => put(one.name, event.target.checked === one.default ? undefined : event.target.checked) }), ` ${one.name}`);
      }
      const placeholder = one.default === null ? "left to the learner" : Array.isArray(one.default) ? one.default.join(" ") || "uniform" : String(one.default);
      const shownValue = value === undefined ? "" : Array.isArray(value) ? value.join(" ") : String(value);
      return this.textField(id, one.name, shownValue, placeholder, (text) => {
        if (!text) return { use: () => put(one.name, undefined) };
        if (one.kind === "text") return { use: () => put(one.name, text) };
        const read = text.split(/[\s,;]+/).filter(Boolean).map((part) => readNumber(part, { integer: one.kind === "whole number" }));
        const wrong = read.find((part) => part.mistake);
        if (wrong) return { mistake: wrong.mistake };
        const single = one.kind !== "list" || (read.length === 1 && typeof one.default === "number");
        if (single && read.length !== 1) return { mistake: "expected one number" };
        return { use: () => put(one.name, single ? read[0].value : read.map((part) => part.value)) };
      });
    }));
  }

  // The run.

  runPart() {
    const { scenario, choices } = this;
    const feedback = scenario.feedback ?? "expected";
    return h(
      "section",
      { "aria-labelledby": "run-heading" },
      h("h2", { id: "run-heading" }, "Run"),
      h(
        "div",
        { class: "settings" },
        this.numberField("scenario-rounds", "rounds", scenario.rounds, { integer: true, least: 1, most: choices.limits.rounds }, (rounds) => this.change({ rounds })),
        this.numberField("scenario-seed", "seed", scenario.seed ?? 0, { integer: true, least: 0 }, (seed) => this.change({ seed })),
        this.numberField("scenario-perturb", "perturb everyone", Math.max(...scenario.players.map((one) => one.perturb ?? 0)), { least: 0, most: 1 }, (perturb) => {
          const all = (entries) => entries && entries.map((entry) => cleaned({ ...entry, perturb: perturb || undefined }));
          this.change({ players: all(scenario.players) }, all(this.beside));
        }),
        h("label", {}, "feedback ", h("select", { id: "scenario-feedback", onchange: (event) => this.changeFeedback(event.target.value) }, Object.entries(FEEDBACK).map(([name, about]) => h("option", { value: name, selected: name === feedback }, about)))),
      ),
    );
  }

  /** Learners that do not work with this feedback give way to one that does. */
  changeFeedback(feedback) {
    const instead = feedback === "bandit" ? "exp3-ix" : "hedge";
    const fit = (entries) => entries && entries.map((entry) => (this.learner(entry.learner)?.feedback.includes(feedback) ? entry : { ...withoutSettings(entry), learner: instead }));
    this.change({ feedback, players: fit(this.scenario.players) }, fit(this.beside));
  }

  numberField(id, label, value, limits, use) {
    const written = limits.integer ? String(value) : plain(value);
    return this.textField(id, label, written, "", (text) => {
      const read = readNumber(text, limits);
      return read.mistake ? read : { use: () => use(read.value) };
    });
  }

  /** A field whose text is read by `read`: to a mistake, told below it, or to something to use. */
  textField(id, label, value, placeholder, read) {
    const wrong = this.mistakes.get(id);
    const below = h("span", { id: `${id}-mistake`, class: "mistake", role: "alert" }, wrong ? wrong.mistake : "");
    const change = (event) => {
      const typed = event.target.value.trim();
      const { mistake, use } = typed === value ? { use: () => {} } : read(typed);
      if (mistake) this.mistakes.set(id, { typed, mistake, where: label });
      else this.mistakes.delete(id);
      event.target.toggleAttribute("aria-invalid", false);
      if (mistake) event.target.setAttribute("aria-invalid", "true");
      below.textContent = mistake ?? "";
      use?.();
    };
    return h("label", {}, `${label} `, h("input", { id, value: wrong ? wrong.typed : value, placeholder, autocomplete: "off", spellcheck: "false", "aria-invalid": wrong ? "true" : null, "aria-describedby": `${id}-mistake`, onchange: change }), below);
  }
}

const withoutSettings = ({ settings: _, ...entry }) => entry;
const cleaned = (entry) => Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
const plain = (value) => String(value);

function combinations(sizes) {
  return sizes.reduce((found, size) => found.flatMap((head) => Array.from({ length: size }, (_, k) => [...head, k])), [[]]);
}

/** A copy of nested arrays with one entry replaced. */
function replaced(table, [first, ...rest], value) {
  return table.map((one, k) => (k !== first ? one : rest.length ? replaced(one, rest, value) : value));
}

/** A scenario in a line. */
export function inALine(scenario, beside, game) {
  const named = (entries) => [...new Set(entries.map((one) => one.learner))].join(", ");
  return `${game.name}: ${named(scenario.players)}${beside ? ` | ${named(beside)}` : ""}, ${whole(scenario.rounds)} rounds, seed ${scenario.seed ?? 0}`;
}
