// The course: groups of lessons, each a sequence of steps. A lesson asks for a prediction before it shows anything, and
// shows what to look for only when it is revealed.

import { byId, h } from "./dom.js";

const STEPS = {
  predict: "Predict",
  run: "Run",
  reveal: "Reveal",
  why: "Why",
  exercise: "Exercise",
};

export class Course {
  /**
   * `begin(lesson)` starts the scenario of a lesson; `play()` plays it; `look(views)` opens views in front of the others,
   * and `prepare(views)` computes them before; `changed()` reports the lesson and step.
   */
  constructor(choices, { begin, play, look, prepare, changed, marked }) {
    Object.assign(this, { lessons: choices.lessons, begin, play, look, prepare, changed, marked });
    this.lesson = null;
    this.step = 0;
    this.votes = [];
    this.differs = false; // whether the scenario is no longer that of the lesson
    const groups = choices.course.map(({ title, lessons }) => {
      const found = lessons.map((name) => this.find(name));
      return h("section", {}, h("h2", {}, title), h("ol", {}, found.map((lesson) => h("li", {}, this.item(lesson)))));
    });
    byId("course").replaceChildren(...groups);
  }

  find(name) {
    return this.lessons.find((lesson) => lesson.name === name) ?? null;
  }

  item(lesson) {
    const onclick = () => {
      this.open(lesson);
      this.close();
    };
    return h("button", { type: "button", "data-lesson": lesson.name, onclick }, lesson.title);
  }

  /** The steps that this lesson has. */
  get steps() {
    const { lesson } = this;
    if (!lesson) return [];
    const has = { predict: lesson.question, run: true, reveal: lesson.reveal, why: lesson.why, exercise: lesson.exercise };
    return Object.keys(STEPS).filter((step) => has[step]);
  }

  /** Whether the lesson asks for a prediction. */
  get asks() {
    return this.steps[this.step] === "predict";
  }

  /** Open a lesson, from its first step, and begin its scenario. */
  open(lesson) {
    this.show(lesson, 0);
    this.begin(lesson);
  }

  /** Show a lesson at a step, or none. */
  show(lesson, step = 0) {
    if (lesson !== this.lesson) this.votes = lesson?.answers?.map(() => 0) ?? [];
    this.lesson = lesson;
    this.step = Math.max(0, Math.min(step, this.steps.length - 1));
    this.build();
    this.changed();
  }

  /** Go to the next or previous step; after the last step, to the next lesson. */
  move(by) {
    const at = this.lessons.indexOf(this.lesson);
    const to = this.step + by;
    if (to >= 0 && to < this.steps.length) this.go(to);
    else if (this.lessons[at + by]) this.open(this.lessons[at + by]);
  }

  /** Go to a step, and open the views that it talks about. */
  go(step) {
    this.show(this.lesson, step);
    const { opens } = this.lesson;
    const name = this.steps[this.step];
    if (name === "run") this.prepare(Object.values(opens).flat());
    if (opens[name]) this.look(opens[name]);
    byId("lesson").scrollIntoView({ block: "nearest" }); // on a phone, the pictures may be on the screen instead
  }

  toggle() {
    byId("course").hidden = !byId("course").hidden;
    byId("course-button").setAttribute("aria-expanded", String(!byId("course").hidden));
  }

  close() {
    if (!byId("course").hidden) this.toggle();
  }

  /** Note whether the scenario that runs is still that of the lesson. */
  compare(scenario, beside) {
    const differs = this.lesson !== null && (beside !== null || !same(scenario, this.lesson.scenario));
    if (differs === this.differs) return;
    this.differs = differs;
    this.build();
  }

  build() {
    const { lesson } = this;
    const place = byId("lesson");
    place.hidden = !lesson;
    for (const button of byId("course").querySelectorAll("button"))
      button.toggleAttribute("aria-current", button.dataset.lesson === lesson?.name);
    if (!lesson) return;
    const focused = place.contains(document.activeElement) ? document.activeElement.id : null;
    const parts = [
      h(
        "header",
        {},
        h("p", { class: "dim about" }, lesson.group ? `${lesson.group}: lesson ${lesson.number}` : "Your scenario"),
        h("button", { type: "button", class: "small", "aria-label": "Close the lesson", onclick: () => this.show(null) }, "✕"),
      ),
      h("h2", { id: "lesson-title" }, lesson.title),
      this.stages(),
      h("div", { id: "lesson-step", "aria-live": "polite" }, this.content()),
      this.differs
        ? h(
            "p",
            { class: "about dim" },
            "The settings are no longer those of the lesson. ",
            h("button", { type: "button", class: "small", onclick: () => this.begin(lesson) }, "restore"),
          )
        : null,
      this.buttons(),
    ];
    place.replaceChildren(...parts.filter(Boolean));
    if (focused) byId(focused)?.focus();
  }

  stages() {
    const stage = (name, k) =>
      h(
        "li",
        {},
        h(
          "button",
          { type: "button", class: "small", "aria-current": k === this.step ? "step" : null, onclick: () => this.go(k) },
          STEPS[name],
        ),
      );
    return h("ol", { class: "stages" }, this.steps.map(stage));
  }

  buttons() {
    const [back, next] = [this.steps[this.step - 1], this.steps[this.step + 1]];
    const following = this.lessons[this.lessons.indexOf(this.lesson) + 1];
    const words = next ? `Next: ${STEPS[next].toLowerCase()}` : "Next lesson";
    return h(
      "footer",
      {},
      h("button", { type: "button", id: "lesson-back", disabled: !back, onclick: () => this.move(-1) }, "Back"),
      next || following
        ? h("button", { type: "button", id: "lesson-next", class: "main-button", onclick: () => this.move(1) }, words)
        : null,
    );
  }

  content() {
    const { lesson, marked } = this;
    const text = (words, id) => h("p", { id }, marked(words));
    switch (this.steps[this.step]) {
      case "predict":
        return [text(lesson.question, "lesson-question"), this.ballot(false)];
      case "run":
        return [
          lesson.question ? h("p", { class: "dim about" }, lesson.question) : null,
          text(lesson.watch || "Press Run, and watch.", "lesson-watch"),
          h("button", { type: "button", id: "lesson-run", onclick: () => this.play() }, "▶ Run"),
        ];
      case "reveal":
        return [this.ballot(true), text(lesson.reveal, "lesson-reveal")];
      case "why":
        return [text(lesson.why, "lesson-why")];
      case "exercise":
        return [
          text(lesson.exercise, "lesson-exercise"),
          lesson.solution
            ? h("details", { id: "lesson-solution" }, h("summary", {}, "Solution"), text(lesson.solution))
            : null,
        ];
    }
    return [];
  }

  /** The answers with the votes for each; the right one is marked once it is revealed. */
  ballot(revealed) {
    const { lesson } = this;
    if (!lesson.answers?.length) return null;
    const all = this.votes.reduce((sum, one) => sum + one, 0);
    const answer = (words, k) => {
      const right = revealed && k === lesson.right;
      const button = h(
        "button",
        {
          type: "button",
          id: `answer-${k}`,
          class: right ? "answer right" : "answer",
          disabled: revealed,
          title: revealed ? null : "One click per vote",
          onclick: () => {
            this.votes[k] += 1;
            this.build();
          },
        },
        h("span", {}, `${right ? "✓ " : ""}${words}`),
        h("b", { class: "votes" }, this.votes[k] ? String(this.votes[k]) : ""),
      );
      button.style.setProperty("--share", all ? `${(100 * this.votes[k]) / all}%` : "0%");
      return h("li", {}, button);
    };
    const clear = () => {
      this.votes.fill(0);
      this.build();
    };
    return h(
      "div",
      { class: "ballot" },
      h("ul", {}, lesson.answers.map(answer)),
      revealed || !all
        ? h("p", { class: "dim about" }, revealed ? (all ? `${all} ${all === 1 ? "vote" : "votes"}` : "") : "Think, or count votes: one click each.")
        : h("button", { type: "button", class: "small", onclick: clear }, `clear ${all} ${all === 1 ? "vote" : "votes"}`),
    );
  }
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
