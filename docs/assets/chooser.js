// <stack-chooser>: one pattern with every tool. The element comes with a section for each pattern: its sentence, its times as bars, and a table.
// Without scripts all of them stand there. Here a reader chooses one. scripts/pages/chooser_element.py writes it, each figure a record's own.

import { choice, choices } from "./explorer.js";

class StackChooser extends HTMLElement {
  connectedCallback() {
    if (this.sections) return;
    this.sections = [...this.querySelectorAll("section")];
    const frame = this.querySelector(".chooser");
    const options = this.sections.map(({ dataset }) => choice("chooser-pattern", dataset.pattern, dataset.name));
    frame.classList.remove("still");
    frame.insertAdjacentHTML("afterbegin", `<form>${choices("Pattern", options, "row")}</form>`);
    this.querySelectorAll(".explorer-words").forEach((words) => words.setAttribute("role", "status"));
    this.querySelector("form").addEventListener("change", ({ target }) => this.show(target.value));
    this.show(this.sections[0].dataset.pattern);
  }

  show(pattern) {
    for (const section of this.sections) section.hidden = section.dataset.pattern !== pattern;
    this.querySelectorAll("input").forEach((input) => (input.checked = input.value === pattern));
  }
}

if (!customElements.get("stack-chooser")) customElements.define("stack-chooser", StackChooser);
