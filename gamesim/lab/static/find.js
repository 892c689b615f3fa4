// Find a lesson, a game or a learner by any part of its name or description.

import { byId, h } from "./dom.js";

const MOST = 12; // results shown

/** `offers` are { kind, name, about, pick }; `pick()` is called for the one that is chosen. */
export function makeFind(offers) {
  const [field, list] = [byId("find"), byId("found")];
  let results = [];
  let active = 0;
  const close = () => {
    list.hidden = true;
    field.value = "";
    field.blur();
  };
  const show = () => {
    list.hidden = !field.value.trim();
    list.replaceChildren(
      ...(results.length
        ? results.map(({ kind, name, about, pick }, k) =>
            h(
              "li",
              {},
              h(
                "button",
                {
                  type: "button",
                  tabindex: -1,
                  "aria-current": k === active ? "true" : null,
                  onmousedown: (event) => event.preventDefault(), // keep the focus until the click
                  onclick: () => {
                    close();
                    pick();
                  },
                },
                h("b", {}, name),
                h("span", { class: "dim" }, ` ${kind}: ${about}`),
              ),
            ),
          )
        : [h("li", { class: "dim" }, "nothing found")]),
    );
  };
  field.addEventListener("input", () => {
    results = matching(offers, field.value);
    active = 0;
    show();
  });
  field.addEventListener("blur", () => (list.hidden = true));
  field.addEventListener("focus", () => (list.hidden = !field.value.trim()));
  field.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && results.length) {
      active = (active + by + results.length) % results.length;
      show();
    } else if (event.key === "Enter" && results[active]) {
      list.querySelectorAll("button")[active].click();
    } else if (event.key !== "Escape") {
      return;
    } else {
      close();
    }
    event.preventDefault();
  });
}

/** Return the best matches: names that begin with what is typed, then names that contain it, then descriptions. */
function matching(offers, typed) {
  const words = typed.toLowerCase().split(/[\s-]+/).filter(Boolean);
  if (!words.length) return [];
  const rank = ({ name, about }) => {
    const [head, rest] = [name, about].map((text) => text.toLowerCase().replace(/-/g, " "));
    if (!words.every((word) => head.includes(word) || rest.includes(word))) return null;
    return head.startsWith(words.join(" ")) ? 0 : words.every((word) => head.includes(word)) ? 1 : 2;
  };
  return offers
    .map((offer) => [rank(offer), offer])
    .filter(([at]) => at !== null)
    .sort(([a], [b]) => a - b)
    .slice(0, MOST)
    .map(([, offer]) => offer);
}
