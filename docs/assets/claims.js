// <claims-table>: the table of all claims, of which a reader may see those of one verdict or one subject. Without scripts all of them
// stand there. scripts/pages/claims.py writes it.

import { begin, choice, choices, count } from "./explorer.js";

const ALL = "all";

class ClaimsTable extends HTMLElement {
  connectedCallback() {
    if (this.rows) return;
    this.rows = [...this.querySelectorAll("tbody tr[data-verdict]")];
    const verdict = this.field("verdict", "Verdict", (row) => row.cells[1].firstElementChild);
    const fields = [verdict, this.field("page", "Subject", (row) => row.parentElement.rows[0].cells[0])];
    const status = '<p class="explorer-words" role="status"></p>';
    this.insertAdjacentHTML("afterbegin", `<div class="explorer"><form>${fields.join("")}</form>${status}</div>`);
    this.words = this.querySelector(".explorer-words");
    this.form = this.querySelector("form");
    this.form.addEventListener("change", () => this.show());
    this.form.elements["claims-verdict"].value = this.form.elements["claims-page"].value = ALL;
    this.show();
  }

  // A choice among what the rows' data say under a name, each with the words of the element that says it.
  field(name, legend, said) {
    const words = new Map(this.rows.map((row) => [row.dataset[name], said(row).textContent]));
    const options = [...words].map(([value, label]) => choice(`claims-${name}`, value, label));
    return choices(legend, [choice(`claims-${name}`, ALL, begin(ALL)), ...options], "row");
  }

  show() {
    const { value: verdict } = this.form.elements["claims-verdict"];
    const { value: page } = this.form.elements["claims-page"];
    const fits = ({ dataset }) => [ALL, dataset.verdict].includes(verdict) && [ALL, dataset.page].includes(page);
    for (const row of this.rows) row.hidden = !fits(row);
    for (const { tBodies } of this.querySelectorAll("table")) {
      for (const group of tBodies) group.hidden = !this.rows.some((row) => row.parentElement === group && !row.hidden);
    }
    this.words.textContent = `${count(this.rows.filter(fits).length, "claim")} of ${this.rows.length}.`;
  }
}

if (!customElements.get("claims-table")) customElements.define("claims-table", ClaimsTable);
