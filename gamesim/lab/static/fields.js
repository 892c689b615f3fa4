// Input fields that validate: an error is shown below its field, and the typed text stays until it is valid.

import { h } from "./dom.js";
import { readNumber } from "./numbers.js";

export class Fields {
  constructor() {
    this.mistakes = new Map(); // field id → typed text and error
  }

  /** Fields for settings; an empty field means the default. */
  settings(prefix, known, given, use) {
    const put = (name, value) => {
      const { [name]: _, ...others } = given;
      given = value === undefined ? others : { ...others, [name]: value };
      use(given);
    };
    return h(
      "div",
      { class: "settings" },
      known.map((one) => {
        const id = `${prefix}-setting-${one.name}`;
        const value = given[one.name];
        if (one.kind === "choice") {
          return h(
            "label",
            {},
            `${one.name} `,
            h(
              "select",
              {
                id,
                onchange: (event) => put(one.name, event.target.value === one.default ? undefined : event.target.value),
              },
              one.choices.map((choice) =>
                h("option", { value: choice, selected: choice === (value ?? one.default) }, choice),
              ),
            ),
          );
        }
        if (one.kind === "switch") {
          return h(
            "label",
            { class: "check" },
            h("input", {
              id,
              type: "checkbox",
              checked: value ?? one.default,
              onchange: (event) =>
                put(one.name, event.target.checked === one.default ? undefined : event.target.checked),
            }),
            ` ${one.name}`,
          );
        }
        const placeholder =
          one.default === null
            ? "chosen by the learner"
            : Array.isArray(one.default)
              ? one.default.join(" ") || "uniform"
              : String(one.default);
        const shownValue = value === undefined ? "" : Array.isArray(value) ? value.join(" ") : String(value);
        return this.text(id, one.name, shownValue, placeholder, (text) => {
          if (!text) return { use: () => put(one.name, undefined) };
          if (one.kind === "text") return { use: () => put(one.name, text) };
          const read = text
            .split(/[\s,;]+/)
            .filter(Boolean)
            .map((part) => readNumber(part, { integer: one.kind === "whole number" }));
          const wrong = read.find((part) => part.mistake);
          if (wrong) return { mistake: wrong.mistake };
          const single = one.kind !== "list" || (read.length === 1 && typeof one.default === "number");
          if (single && read.length !== 1) return { mistake: "expected a single number" };
          return { use: () => put(one.name, single ? read[0].value : read.map((part) => part.value)) };
        });
      }),
    );
  }

  number(id, label, value, limits, use) {
    return this.text(id, label, String(value), "", (text) => {
      const read = readNumber(text, limits);
      return read.mistake ? read : { use: () => use(read.value) };
    });
  }

  /** A text field; `read` parses its text and returns { mistake } to show below it, or { use } to apply it. */
  text(id, label, value, placeholder, read) {
    const wrong = this.mistakes.get(id);
    const below = h("span", { id: `${id}-mistake`, class: "mistake", role: "alert" }, wrong ? wrong.mistake : "");
    let last = value;
    const change = (event) => {
      const typed = event.target.value.trim();
      const { mistake, use } = typed === last ? { use: () => {} } : read(typed);
      if (mistake) this.mistakes.set(id, { typed, mistake, where: label });
      else this.mistakes.delete(id);
      if (!mistake) last = typed;
      event.target.toggleAttribute("aria-invalid", false);
      if (mistake) event.target.setAttribute("aria-invalid", "true");
      below.textContent = mistake ?? "";
      use?.();
    };
    return h(
      "label",
      {},
      `${label} `,
      h("input", {
        id,
        value: wrong ? wrong.typed : value,
        placeholder,
        autocomplete: "off",
        spellcheck: "false",
        "aria-invalid": wrong ? "true" : null,
        "aria-describedby": `${id}-mistake`,
        onchange: change,
      }),
      below,
    );
  }
}
