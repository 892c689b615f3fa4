// The payoff table editor: one table of the first two players' actions per action profile of the others. All payoffs and
// labels are editable.

import { h, byId } from "./dom.js";
import { readNumber } from "./numbers.js";

const EDITABLE = 200; // maximum number of payoff fields in an editable table
const LARGEST = 8; // maximum number of actions per player that the editor can reach

export class PayoffTable {
  /** `use(payoffs, actions, players)` is called with the edited game. */
  constructor(mistakes, use) {
    this.mistakes = mistakes;
    this.use = use;
  }

  /** Return the section with the tables of a game, unless they are too large. */
  part(game) {
    this.game = game;
    const fields = (game.payoffs?.flat(Infinity) ?? []).length;
    if (!fields || fields > EDITABLE) {
      const sizes = game.actions.map((labels) => labels.length).join(" × ");
      return h(
        "section",
        {},
        h("p", { class: "about" }, `${game.players.length} players with ${sizes} actions: too large to edit here.`),
      );
    }
    const others = combinations(game.actions.slice(2).map((labels) => labels.length));
    return h(
      "section",
      { "aria-label": "Payoffs" },
      h(
        "div",
        { class: "payoffs" },
        others.map((rest) => this.grid(rest)),
      ),
      game.players.length === 2 ? this.sizeButtons() : null,
      h("p", { id: "table-mistake", class: "mistake", role: "alert" }, this.mistakeText("payoff-")),
    );
  }

  mistakeText(prefix) {
    const found = [...this.mistakes]
      .filter(([id]) => id.startsWith(prefix))
      .map(([, { where, mistake }]) => `${where}: ${mistake}`);
    return found.length ? `${found.join("; ")}. The run keeps the last valid value.` : "";
  }

  /** Return the table of the first two players' actions for one action profile of the others. */
  grid(rest) {
    const { game } = this;
    const [rows, columns] = [game.actions[0], game.actions[1] ?? [""]];
    const name = (player) =>
      this.labelField(`player-${player}-name`, game.players[player], `Name of player ${player + 1}`, (text) => {
        const players = this.game.players.map((old, i) => (i === player ? text : old));
        this.use(this.game.payoffs, this.game.actions, players);
      });
    const action = (player, k) =>
      this.labelField(
        `action-${player}-${k}`,
        game.actions[player][k],
        `${game.players[player]}'s action ${k + 1}`,
        (text) => {
          const actions = this.game.actions.map((labels, i) =>
            labels.map((old, j) => (i === player && j === k ? text : old)),
          );
          this.use(this.game.payoffs, actions);
        },
      );
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
        game.players.length > 1
          ? h(
              "tr",
              {},
              h("td"),
              h("th", { colspan: columns.length, class: "p1", scope: "colgroup" }, first ? name(1) : game.players[1]),
            )
          : null,
        h(
          "tr",
          {},
          h("th", { class: "p0", scope: "col" }, first ? name(0) : game.players[0]),
          columns.map((_, b) => h("th", { scope: "col" }, game.players.length > 1 ? text(1, b) : "payoff")),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((_, a) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, text(0, a)),
            columns.map((__, b) =>
              h(
                "td",
                {},
                h(
                  "div",
                  { class: "cell" },
                  game.players.map((___, i) => this.payoffField(i, game.players.length > 1 ? [a, b, ...rest] : [a])),
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }

  labelField(id, value, label, use) {
    let last = value;
    const change = (event) => {
      const text = event.target.value.trim();
      if (!text) event.target.value = last;
      else if (text !== last) use((last = text));
    };
    return h("input", {
      id,
      class: "label",
      value,
      "aria-label": label,
      maxlength: 40,
      size: Math.max(4, Math.min(value.length, 14)),
      onchange: change,
    });
  }

  payoffField(player, cell) {
    const { game } = this;
    const id = `payoff-${player}-${cell.join("-")}`;
    const now = () => cell.reduce((table, k) => table[k], this.game.payoffs[player]);
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
      if (read.value !== now()) this.use(replaced(this.game.payoffs, [player, ...cell], read.value));
    };
    return h("input", {
      id,
      class: `payoff p${player % 6}`,
      value: wrong ? wrong.typed : brief(now()),
      title: plain(now()),
      autocomplete: "off",
      spellcheck: "false",
      "aria-label": where,
      "aria-invalid": wrong ? "true" : null,
      "aria-describedby": "table-mistake",
      onchange: change,
      onfocus: ({ target }) => {
        if (target.value === brief(now())) target.value = plain(now()); // show all digits while editing
        target.select();
      },
      onblur: ({ target }) => {
        if (target.value === plain(now())) target.value = brief(now());
      },
    });
  }

  sizeButtons() {
    const resize = (player, by) => () => {
      const { game } = this;
      const labels = game.actions[player];
      let fresh = labels.length + 1;
      while (labels.includes(String(fresh))) fresh += 1;
      const actions = game.actions.map((old, i) =>
        i !== player ? old : by > 0 ? [...old, String(fresh)] : old.slice(0, -1),
      );
      const [rows, columns] = actions.map((one) => one.length);
      const payoffs = game.payoffs.map((table) =>
        Array.from({ length: rows }, (_, a) => Array.from({ length: columns }, (__, b) => table[a]?.[b] ?? 0)),
      );
      this.use(payoffs, actions);
    };
    const { game } = this;
    const button = (player, by) =>
      h(
        "button",
        {
          type: "button",
          id: `size-${player}-${by > 0 ? "more" : "less"}`,
          class: "small",
          disabled: game.actions[player].length + by < 1 || game.actions[player].length + by > LARGEST,
          "aria-label": `${by > 0 ? "Add an action for" : "Remove an action of"} ${game.players[player]}`,
          onclick: resize(player, by),
        },
        by > 0 ? "+" : "−",
      );
    return h(
      "p",
      { class: "sizes" },
      game.players.map((name, i) => h("span", {}, button(i, -1), ` ${name}'s actions `, button(i, 1))),
    );
  }
}

const plain = (value) => String(value);
const brief = (value) => String(Number(value.toPrecision(3)));

function combinations(sizes) {
  return sizes.reduce(
    (found, size) => found.flatMap((head) => Array.from({ length: size }, (_, k) => [...head, k])),
    [[]],
  );
}

/** Return a copy of nested arrays with one entry replaced. */
function replaced(table, [first, ...rest], value) {
  return table.map((one, k) => (k !== first ? one : rest.length ? replaced(one, rest, value) : value));
}
