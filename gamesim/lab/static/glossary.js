// Technical words: each opens its definition.

import { byId, h } from "./dom.js";

export class Glossary {
  /** `entries` have a name, other forms of it, and a text. */
  constructor(entries) {
    this.entries = new Map();
    for (const entry of entries) for (const form of [entry.name, ...entry.also]) this.entries.set(form.toLowerCase(), entry);
    const forms = [...this.entries.keys()].sort((a, b) => b.length - a.length);
    this.pattern = new RegExp(`(?<![\\p{L}-])(?:${forms.map(escaped).join("|")})(?![\\p{L}])`, "giu");
    this.marked = this.marked.bind(this);
  }

  /** Return a text as nodes, in which the first occurrence of every technical word opens its definition. */
  marked(words, except = null) {
    const nodes = [];
    const met = new Set([except]);
    let end = 0;
    for (const found of words.matchAll(this.pattern)) {
      const entry = this.entries.get(found[0].toLowerCase());
      if (met.has(entry)) continue;
      met.add(entry);
      nodes.push(words.slice(end, found.index), this.button(found[0], entry));
      end = found.index + found[0].length;
    }
    return [...nodes, words.slice(end)].filter((node) => node !== "");
  }

  button(words, entry) {
    const onclick = (event) => this.open(entry, event.currentTarget);
    const onkeydown = (event) => event.key === "Enter" && onclick(event);
    const attributes = { class: "term", role: "button", tabindex: 0, title: "What does this mean?", onclick, onkeydown };
    return h("span", attributes, words); // a button would not break across lines
  }

  /** Show the definition of an entry beside the word that asks for it. */
  open(entry, from) {
    const panel = byId("term");
    byId("term-name").textContent = entry.name;
    byId("term-text").replaceChildren(...this.marked(entry.text, entry));
    const box = from.getBoundingClientRect();
    panel.hidePopover();
    panel.showPopover();
    const { width, height } = panel.getBoundingClientRect();
    const below = box.bottom + 6 + height < innerHeight ? box.bottom + 6 : Math.max(6, box.top - height - 6);
    panel.style.left = `${Math.max(6, Math.min(box.left, innerWidth - width - 6))}px`;
    panel.style.top = `${below}px`;
  }
}

const escaped = (words) => words.toLowerCase().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
