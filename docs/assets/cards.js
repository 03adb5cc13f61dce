// <chart-cards>: the choice of a card on a measured chart. The page comes with the chart of the card that its text is written with; another
// card's drawings, caption, table and files are loaded from beside the chart's data when a reader first asks for them. All charts of a
// page follow one choice, which this browser keeps. scripts/pages/cards.py writes the element where there is more than one card.

import { safe } from "./explorer.js";

const KEY = "blockwise.card"; // the folder of the card's records; empty for the card of the text
const CHOSEN = "blockwise:card";

function remembered() {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

function remember(machine) {
  try {
    localStorage.setItem(KEY, machine);
  } catch {
    // a browser that keeps nothing follows the choice as far as this page
  }
}

class ChartCards extends HTMLElement {
  connectedCallback() {
    if (this.cards) return;
    this.cards = JSON.parse(this.dataset.cards);
    this.loaded = new Map();
    const name = `card-${this.dataset.chart}`;
    const options = this.cards.map(
      ({ machine, gpu, has }) =>
        `<label><input type="radio" name="${name}" value="${safe(machine)}" ${has ? "" : "disabled"}> ${safe(gpu)}${has ? "" : " <small>no record</small>"}</label>`,
    );
    this.innerHTML = `<fieldset><legend>Card</legend>${options.join("")}</fieldset><p role="status"></p>`;
    this.addEventListener("change", ({ target }) => {
      remember(target.value);
      document.dispatchEvent(new CustomEvent(CHOSEN, { detail: target.value }));
    });
    this.follow = ({ detail }) => this.show(detail);
    document.addEventListener(CHOSEN, this.follow);
    this.show(remembered());
  }

  disconnectedCallback() {
    document.removeEventListener(CHOSEN, this.follow);
  }

  // What stands in the figure beside this element.
  get parts() {
    return [...this.parentElement.childNodes].filter((node) => node !== this);
  }

  async show(machine) {
    this.wanted = machine;
    const own = this.cards[0];
    const card = this.cards.find((each) => each.machine === machine) ?? own;
    let shown = card.has ? card : own;
    this.loaded.set("", this.loaded.get("") ?? this.parts);
    let failed = false;
    if (!this.loaded.has(shown.machine)) {
      try {
        this.loaded.set(shown.machine, await this.load(shown.machine));
      } catch {
        [failed, shown] = [true, own];
      }
      if (this.wanted !== machine) return; // another card was chosen meanwhile
    }
    this.put(this.loaded.get(shown.machine));
    for (const input of this.querySelectorAll("input")) input.checked = card.has && input.value === card.machine;
    const why = failed ? `The chart of the ${card.gpu} could not be loaded` : `There is no record of this chart from the ${card.gpu}`;
    const words = shown !== own ? `The text keeps the numbers of the ${own.gpu}.` : `${why}: this is the ${own.gpu}’s.`;
    this.querySelector("[role=status]").textContent = card === own ? "" : words;
  }

  // The other card's chart; its addresses are relative to the file that it stands in.
  async load(machine) {
    const url = new URL(`${this.dataset.charts}${machine}/${this.dataset.chart}.html`, document.baseURI);
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(answer.statusText);
    const found = document.createElement("template");
    found.innerHTML = await answer.text();
    for (const part of found.content.querySelectorAll("[data-src]")) part.dataset.src = new URL(part.dataset.src, url).href;
    for (const part of found.content.querySelectorAll("a[href]:not([href^='#'])")) part.href = new URL(part.getAttribute("href"), url).href;
    return [...found.content.childNodes];
  }

  put(parts) {
    const before = this.parts;
    if (before[0] === parts[0]) return;
    const isOpen = (nodes) => nodes.find((node) => node.localName === "details");
    const open = isOpen(before)?.open;
    for (const node of before) node.remove();
    this.after(...parts);
    if (isOpen(parts)) isOpen(parts).open = open;
  }
}

if (!customElements.get("chart-cards")) customElements.define("chart-cards", ChartCards);
