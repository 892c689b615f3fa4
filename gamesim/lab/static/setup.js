// Choose the game, its payoffs, the learners and their initial strategies. Nothing is simulated here: every change makes
// a new scenario, which the server validates and starts.

import { h, byId } from "./dom.js";
import { Fields } from "./fields.js";
import { readNumber, share, shown as digits, whole } from "./numbers.js";
import { PayoffTable } from "./table.js";

const OWN = "custom table";
const LONGEST = 2 ** 17; // characters of a game, see gamesim/lab/limits.py
const MOST_FILES = 12;
const FEEDBACK = {
  expected: "expected: expected loss of every action",
  sampled: "sampled: losses against the opponents' sampled actions",
  bandit: "bandit: loss of the played action only",
};

export class Setup {
  /**
   * `begin(scenario, beside)` starts a scenario; `askGame(game)` requests the table of a game from the server;
   * `readGame(files)` sends texts of games to it; `notify(words)` reports the side effects of a change.
   */
  constructor(place, choices, { begin, askGame, readGame, notify }) {
    Object.assign(this, { place, choices, begin, askGame, readGame, notify });
    this.fields = new Fields();
    this.table = new PayoffTable(this.fields.mistakes, (...edited) => this.useTable(...edited));
    this.typing = this.pressed = this.late = false;
    place.addEventListener("input", ({ target }) => (this.typing = target.matches("input:not([type])")));
    place.addEventListener("pointerdown", () => (this.pressed = true));
    place.addEventListener("change", ({ target }) => {
      this.typing = false;
      if (target.matches("select")) this.pressed = false; // the browser's own list may swallow the pointerup
    });
    place.addEventListener("focusout", () => this.settle("typing"));
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => this.settle("pressed"));
  }

  /** Show a scenario and its game; fields with a mistake keep the typed text. */
  show(scenario, beside, game) {
    const sameGame = this.game && JSON.stringify(this.game.actions) === JSON.stringify(game.actions);
    if (!sameGame) this.fields.mistakes.clear();
    if (JSON.stringify(this.game?.payoffs) !== JSON.stringify(game.payoffs)) this.sets = null;
    Object.assign(this, { scenario, beside, game, late: true });
    if (!sameGame || !(this.typing || this.pressed)) this.build();
  }

  /** Show pending changes once typing and clicking have ended and the focus has moved. */
  settle(what) {
    this[what] = false;
    setTimeout(() => this.late && !this.typing && !this.pressed && this.build());
  }

  build() {
    const { id, selectionStart, selectionEnd } = document.activeElement ?? {};
    const open = new Set([...this.place.querySelectorAll("details[open]")].map((details) => details.id));
    this.typing = this.late = false;
    this.place.replaceChildren(
      this.gamePart(open),
      this.table.part(this.game),
      equilibriaPart(this.game, this.sets),
      this.playersPart(open),
      this.runPart(),
    );
    const focused = id && byId(id);
    if (!focused || !this.place.contains(focused)) return;
    focused.focus();
    if (typeof selectionStart === "number") focused.setSelectionRange?.(selectionStart, selectionEnd);
  }

  /** Start the shown scenario with a change; later changes build on it even before the server answers. */
  change(update, beside = this.beside) {
    Object.assign(this, { scenario: { ...this.scenario, ...update }, beside });
    this.begin(this.scenario, beside);
  }

  learner(name) {
    return this.choices.learners.find((one) => one.name === name);
  }

  get feedback() {
    return this.scenario.feedback ?? "expected";
  }

  // The game.

  gamePart(open) {
    const { name } = this.scenario.game;
    const chosen = this.choices.games.find((one) => one.name === name);
    const options = this.choices.games.map((one) =>
      h("option", { value: one.name, selected: one.name === name }, one.name),
    );
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
      chosen ? h("p", { class: "about" }, chosen.about) : this.namePart(),
      this.pastePart(open),
      chosen?.teaches
        ? h("details", { class: "about dim", id: "teaches" }, h("summary", {}, "What it teaches"), chosen.teaches)
        : null,
      chosen?.settings.length
        ? this.fields.settings("game", chosen.settings, this.scenario.game.settings ?? {}, (settings) =>
            this.askGame({ name, ...(Object.keys(settings).length ? { settings } : {}) }),
          )
        : null,
    );
  }

  /** The name of a game with its own payoffs. */
  namePart() {
    const use = ({ target }) => target.value.trim() && this.change({ title: target.value.trim() });
    const { name } = this.game;
    const field = h("input", { id: "game-name", value: name, maxlength: 80, autocomplete: "off", onchange: use });
    return h("div", { class: "settings" }, h("label", { class: "wide" }, "name of the game ", field));
  }

  pastePart(open) {
    const example = "3,1\t0,0\n0,0\t1/2,3";
    const area = h("textarea", { id: "paste", rows: 4, placeholder: example, "aria-label": "Payoffs", spellcheck: "false" });
    const use = () => area.value.trim() && this.read([["pasted game", area.value]]);
    const files = h("input", {
      ...{ type: "file", id: "game-file", "aria-label": "File of a game", accept: ".csv,.nfg,.gam,.txt,.tsv", multiple: true, hidden: true },
      onchange: ({ target }) => this.readFiles(target.files),
    });
    return h(
      "details",
      { class: "about", id: "own-game", open: open.has("own-game") },
      h("summary", {}, "Paste or open a game"),
      h("p", { class: "dim" }, "Copy cells such as 3,1 or 1/2,0 from a spreadsheet, or one block of payoffs per player. A .csv, .nfg or .gam file can also be dropped anywhere on the page."),
      area,
      h("button", { type: "button", id: "use-pasted", class: "small", onclick: use }, "Use these payoffs"),
      h("button", { type: "button", class: "small", onclick: () => files.click() }, "Open a file"),
      files,
    );
  }

  /** Send games as texts to the server, which answers with the game or with what is wrong. */
  read(files) {
    const length = files.reduce((sum, [, text]) => sum + text.length, 0);
    if (length > LONGEST) this.notify(`a game must have at most ${whole(LONGEST)} characters of text, got ${whole(length)}`, true);
    else this.readGame(files);
  }

  async readFiles(files) {
    const few = [...files].slice(0, MOST_FILES);
    if (few.some((file) => file.size > 4 * LONGEST)) this.notify(`a game must have at most ${whole(LONGEST)} characters of text`, true);
    else this.read(await Promise.all(few.map(async (file) => [file.name, await file.text()])));
  }

  /** Show the equilibria of the game, once they are known. */
  showEquilibria(sets) {
    this.sets = sets;
    const old = byId("equilibria");
    if (old && this.game) old.replaceWith(equilibriaPart(this.game, sets));
  }

  pickGame(name) {
    this.fields.mistakes.clear();
    if (name === OWN) this.useTable(this.game.payoffs);
    else this.askGame({ name });
  }

  /** Give a learner to all players, if it supports the feedback. */
  pickLearner(name) {
    const chosen = this.learner(name);
    if (!chosen.feedback.includes(this.feedback)) {
      this.notify(`${shown(name)} ${needs(chosen)}: change the feedback first.`);
      return;
    }
    this.change({ players: this.scenario.players.map((entry) => ({ ...withoutSettings(entry), learner: name })) });
  }

  /** Start a game given by its payoffs; the players keep their learners. */
  useTable(payoffs, actions = this.game.actions, players = this.game.players) {
    const { name } = this.scenario.game;
    const title = name ? `${name}, modified` : this.scenario.title;
    const fitting = (entry, i) => {
      const fits = (strategy) => (strategy?.length === actions[i].length ? strategy : undefined);
      return cleaned({ ...entry, start: fits(entry.start), opening: fits(entry.opening), name: undefined });
    };
    const entries = this.scenario.players.map(fitting);
    this.game = this.table.game = { ...this.game, payoffs, actions, players };
    this.change({ title, game: { payoffs, players, actions }, players: entries }, this.beside?.map(fitting) ?? null);
  }

  // The players.

  playersPart(open) {
    const two = this.beside !== null;
    const both = h("input", {
      type: "checkbox",
      id: "side-by-side",
      checked: two,
      onchange: (event) => this.change({}, event.target.checked ? this.besideDefault() : null),
    });
    return h(
      "section",
      { "aria-labelledby": "players-heading" },
      h("h2", { id: "players-heading" }, "Players"),
      h("label", { class: "check" }, both, " compare two runs with the same game and seed"),
      this.game.players.map((name, i) => this.playerPart(name, i, open)),
    );
  }

  besideDefault() {
    return this.scenario.players.map((entry) => ({
      ...withoutSettings(entry),
      learner: usual(this.feedback).findLast((name) => name !== entry.learner),
    }));
  }

  playerPart(name, i, open) {
    const entry = this.scenario.players[i];
    const id = `player-${i}`;
    const changed = (entries, update) =>
      entries && entries.map((old, k) => (k === i ? cleaned({ ...old, ...update }) : old));
    const put = (update) => this.change({ players: changed(this.scenario.players, update) });
    const putBeside = (update) => this.change({}, changed(this.beside, update));
    const putBoth = (update) =>
      this.change({ players: changed(this.scenario.players, update) }, changed(this.beside, update));
    return h(
      "fieldset",
      { class: `player p${i % 6}` },
      h("legend", {}, h("span", { class: "swatch", "aria-hidden": "true" }), name),
      h(
        "div",
        { class: "learners" },
        this.learnerPart(`${id}-learner`, name, entry, put),
        this.beside ? this.learnerPart(`${id}-beside`, `${name}, second run`, this.beside[i], putBeside) : null,
      ),
      h(
        "details",
        { id: `${id}-more`, open: open.has(`${id}-more`) },
        h("summary", {}, "settings and initial strategy"),
        this.learnerSettings(`${id}-learner`, shown(entry.learner), entry, put),
        this.beside
          ? this.learnerSettings(
              `${id}-beside`,
              `${shown(this.beside[i].learner)}, second run`,
              this.beside[i],
              putBeside,
            )
          : null,
        this.fields.number(
          `${id}-perturb`,
          "perturbation of the initial strategy (perturb)",
          entry.perturb ?? 0,
          { least: 0, most: 1 },
          (perturb) => putBoth({ perturb: perturb || undefined }),
        ),
        this.strategyPart(`${id}-start`, "the learner starts at (start)", entry, "start", putBoth),
        this.strategyPart(`${id}-opening`, "first round only (opening)", entry, "opening", putBoth),
      ),
    );
  }

  strategyPart(id, label, entry, key, put) {
    const given = Array.isArray(entry[key]) ? entry[key].map(plain).join(" ") : "";
    return this.fields.text(id, label, given, "chosen by the learner", (text) => {
      if (!text) return { use: () => put({ [key]: undefined }) };
      const read = text
        .split(/[\s,;]+/)
        .filter(Boolean)
        .map((one) => readNumber(one));
      const wrong = read.find((one) => one.mistake);
      return wrong ? { mistake: wrong.mistake } : { use: () => put({ [key]: read.map((one) => one.value) }) };
    });
  }

  learnerPart(id, who, entry, put) {
    const chosen = this.learner(entry.learner);
    const groups = new Map();
    for (const one of this.choices.learners) {
      const kind = /(swap|internal|external) regret/.exec(one.guarantee)?.[1];
      const group = kind ? `bounded ${kind} regret` : "no guarantee";
      groups.set(group, [...(groups.get(group) ?? []), one]);
    }
    const order = ["swap", "internal", "external"].map((kind) => `bounded ${kind} regret`);
    return h(
      "div",
      { class: "learner" },
      h(
        "select",
        {
          id,
          "aria-label": `Learner of ${who}`,
          onchange: (event) => put({ learner: event.target.value, settings: undefined }),
        },
        [...order, "no guarantee"].filter((group) => groups.has(group)).map((group) =>
          h(
            "optgroup",
            { label: group },
            groups.get(group).map((one) => {
              const fits = one.feedback.includes(this.feedback);
              return h(
                "option",
                { value: one.name, selected: one.name === entry.learner, disabled: !fits },
                fits ? shown(one.name) : `${shown(one.name)}: ${needs(one)}`,
              );
            }),
          ),
        ),
      ),
      h("p", { class: "about" }, chosen?.about ?? ""),
      h("p", { class: "about dim guarantee" }, chosen?.guarantee ?? ""),
    );
  }

  learnerSettings(id, who, entry, put) {
    const chosen = this.learner(entry.learner);
    if (!chosen?.settings.length) return null;
    const use = (settings) => put({ settings: Object.keys(settings).length ? settings : undefined });
    return h(
      "div",
      {},
      h("p", { class: "about" }, who),
      this.fields.settings(id, chosen.settings, entry.settings ?? {}, use),
    );
  }

  // The run.

  runPart() {
    const { scenario, choices } = this;
    return h(
      "section",
      { "aria-labelledby": "run-heading" },
      h("h2", { id: "run-heading" }, "Run"),
      h(
        "div",
        { class: "settings" },
        this.fields.number(
          "scenario-rounds",
          "rounds",
          scenario.rounds,
          { integer: true, least: 1, most: choices.limits.rounds },
          (rounds) => this.change({ rounds }),
        ),
        this.fields.number("scenario-seed", "seed", scenario.seed ?? 0, { integer: true, least: 0 }, (seed) =>
          this.change({ seed }),
        ),
        this.fields.number(
          "scenario-perturb",
          "perturb all players",
          Math.max(...scenario.players.map((one) => one.perturb ?? 0)),
          { least: 0, most: 1 },
          (perturb) => this.perturbEveryone(perturb),
        ),
        h(
          "label",
          { class: "wide" },
          "feedback ",
          h(
            "select",
            { id: "scenario-feedback", onchange: (event) => this.changeFeedback(event.target.value) },
            Object.entries(FEEDBACK).map(([name, about]) =>
              h("option", { value: name, selected: name === this.feedback }, about),
            ),
          ),
        ),
      ),
    );
  }

  perturbEveryone(perturb) {
    const all = (entries) => entries && entries.map((entry) => cleaned({ ...entry, perturb: perturb || undefined }));
    this.change({ players: all(this.scenario.players) }, all(this.beside));
  }

  /** Change the feedback; replace learners that do not support it, and notify the user. */
  changeFeedback(feedback) {
    const [instead] = usual(feedback);
    const unfit = new Map(); // learner → its players
    const fit = (entries) =>
      entries &&
      entries.map((entry, i) => {
        const old = this.learner(entry.learner);
        if (!old || old.feedback.includes(feedback)) return entry;
        unfit.set(old, new Set(unfit.get(old)).add(this.game.players[i]));
        return { ...withoutSettings(entry), learner: instead };
      });
    this.change({ feedback, players: fit(this.scenario.players) }, fit(this.beside));
    this.build(); // the lists of learners depend on the feedback
    const replaced = (who) => `replaced by ${instead} for ${new Intl.ListFormat("en-GB").format(who)}`;
    this.notify([...unfit].map(([old, who]) => `${shown(old.name)} ${needs(old)}: ${replaced(who)}.`).join(" "));
  }
}

/** The Nash equilibria of a game and the range of its CE payoffs, in words. */
function equilibriaPart(game, sets) {
  const part = (...inside) => h("section", { id: "equilibria", "aria-label": "Equilibria" }, ...inside);
  if (!sets) return part();
  const { profiles, note } = sets.nash;
  const played = (strategy, i) => {
    const played = strategy.map((chance, a) => [chance, game.actions[i][a]]).filter(([chance]) => chance > 1e-9);
    return played.length === 1 ? played[0][1] : played.map(([chance, label]) => `${share(chance)} ${label}`).join(" + ");
  };
  const list = (name, some) =>
    h(
      "details",
      { class: "about", open: some.length <= 3 },
      h("summary", {}, `${some.length || "No"} ${name} Nash equilibri${some.length === 1 ? "um" : "a"}`),
      some.map(({ strategies, payoffs }) =>
        h("p", {}, `(${strategies.map(played).join(", ")}): payoffs ${payoffs.map((one) => digits(one)).join(", ")}`),
      ),
    );
  const isPure = ({ strategies }) => strategies.every((strategy) => Math.max(...strategy) > 1 - 1e-9);
  const ranges = sets.ce.range.map(([low, high], i) => `${game.players[i]} ${digits(low)} to ${digits(high)}`);
  const all = note === "all equilibria";
  return part(
    h("h2", {}, "Equilibria"),
    list("pure", profiles.filter(isPure)),
    note.startsWith("only pure") ? null : list("mixed", profiles.filter((one) => !isPure(one))),
    all ? null : h("p", { class: "about dim" }, `Nash equilibria: ${note}.`),
    h("p", { class: "about" }, `CE payoffs: ${ranges.join(", ")}.`),
  );
}

/** Two default learners for a feedback. */
const usual = (feedback) => (feedback === "bandit" ? ["exp3-ix", "exp3"] : ["hedge", "wavelet"]);
/** Return the name of a learner without the hash of a user's file. */
const shown = (name) => name.replace(/@[0-9a-f]{64}:/, ":");
const needs = ({ feedback }) => `needs ${feedback.join(" or ")} feedback`;
const withoutSettings = ({ settings: _, ...entry }) => entry;
const cleaned = (entry) => Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
const plain = (value) => String(value);

/** Return a one-line summary of a scenario. */
export function inALine(scenario, beside, game) {
  const named = (entries) => [...new Set(entries.map((one) => shown(one.learner)))].join(", ");
  return `${game.name}: ${named(scenario.players)}${beside ? ` | ${named(beside)}` : ""}, ${whole(scenario.rounds)} rounds, seed ${scenario.seed ?? 0}`;
}
