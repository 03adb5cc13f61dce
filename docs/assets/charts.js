// <chart-values>: the row of a chart's table that belongs to what a reader points at, or walks to with the arrow keys.
// scripts/prepare.py writes the element around both drawings; the places of the rows come with the chart's data.

const REACH = 90; // in the drawing's pixels: farther away, nothing is meant
const QUANTILE = /\bp\d+\b/;
const NUMBER = /^[-−]?[\d.,]+(e[-+]?\d+)?$/;

export const parse = (spots) => spots.map((spot) => { const [row, x, y, x0 = x, y0 = y] = spot.split(" ").map(Number); return { row, x, y, x0, y0 }; });

// How far a place is from a spot, which is a point or, for a bar, a line from its beginning to its end.
export function distance({ x, y, x0, y0 }, px, py) {
  const [dx, dy] = [x - x0, y - y0];
  const along = dx || dy ? Math.min(1, Math.max(0, ((px - x0) * dx + (py - y0) * dy) / (dx * dx + dy * dy))) : 0;
  return Math.hypot(px - x0 - along * dx, py - y0 - along * dy);
}

export function nearest(spots, px, py) {
  const far = spots.map((spot) => distance(spot, px, py));
  const least = Math.min(...far);
  return least <= REACH ? far.indexOf(least) : -1;
}

// A row in words: what it is, then each number with its name; quantiles of one quantity stand in one line.
export function told(heads, cells) {
  const what = cells.filter((cell) => cell && !NUMBER.test(cell));
  const lines = new Map();
  cells.forEach((cell, at) => {
    if (!cell || !NUMBER.test(cell)) return;
    const quantile = heads[at].match(QUANTILE)?.[0];
    const key = quantile ? heads[at].replace(quantile, "") : heads[at];
    const line = lines.get(key) ?? { head: heads[at], quantile, quantiles: [], values: [] };
    if (quantile) line.quantiles.push(quantile);
    line.values.push(cell);
    lines.set(key, line);
  });
  const named = ({ head, quantile, quantiles }) => (quantile ? head.replace(quantile, quantiles.join(" · ")) : head);
  return { what: what.join(" · "), lines: [...lines.values()].map((line) => [named(line), line.values.join(" · ")]) };
}

class ChartValues extends HTMLElement {
  connectedCallback() {
    if (this.tip) return;
    this.at = -1;
    this.insertAdjacentHTML("beforeend", `<span class="chart-ring" hidden></span><div class="chart-tip" role="status" hidden></div>`);
    [this.ring, this.tip] = [this.querySelector(".chart-ring"), this.querySelector(".chart-tip")];
    this.tabIndex = 0;
    this.setAttribute("role", "group");
    this.setAttribute("aria-label", "Values of this chart. The left and right arrow keys go from one to the next.");
    for (const kind of ["pointermove", "pointerdown"]) this.addEventListener(kind, (event) => this.point(event));
    this.addEventListener("pointerleave", () => this.hide());
    this.addEventListener("focus", () => this.matches(":focus-visible") && this.show(0));
    this.addEventListener("blur", () => this.hide());
    this.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(() => this.hide()).observe(this);
  }

  get drawing() {
    return [...this.children].find((child) => child.matches("div") && child !== this.tip && child.offsetParent);
  }

  // The places of the rows in the drawing that is shown. They are asked for once, when a reader first wants them.
  async spots() {
    this.loaded ??= fetch(new URL(this.dataset.src, document.baseURI)).then((answer) => (answer.ok ? answer.json() : Promise.reject(answer)));
    try {
      const { spots } = await this.loaded;
      return parse(spots[this.drawing.className]);
    } catch {
      this.loaded = undefined;
      return [];
    }
  }

  scale() {
    const svg = this.drawing.querySelector("svg");
    const [box, own] = [svg.getBoundingClientRect(), this.getBoundingClientRect()];
    return { by: box.width / svg.viewBox.baseVal.width, left: box.left - own.left, top: box.top - own.top, box, own };
  }

  async point({ clientX, clientY, target }) {
    if (this.tip.contains(target)) return;
    this.wanted = [clientX, clientY];
    const spots = await this.spots();
    if (this.wanted?.[0] !== clientX || this.wanted[1] !== clientY) return;
    const { by, box } = this.scale();
    const at = nearest(spots, (clientX - box.left) / by, (clientY - box.top) / by);
    if (at < 0) this.hide();
    else this.draw(spots, at);
  }

  press(event) {
    const steps = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, Home: 0, End: Infinity };
    if (event.key === "Escape") this.hide();
    if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.show(steps[event.key]);
  }

  async show(at) {
    const spots = await this.spots();
    if (spots.length) this.draw(spots, Math.max(0, Math.min(spots.length - 1, at)));
  }

  draw(spots, at) {
    const { x, y, row } = spots[at];
    const table = this.closest("figure").querySelector("details.data table");
    const text = (cells) => [...cells].map((cell) => cell.textContent.trim());
    const { what, lines } = told(text(table.tHead.rows[0].cells), text(table.tBodies[0].rows[row].cells));
    if (at !== this.at || this.tip.hidden) {
      const strong = Object.assign(document.createElement("strong"), { textContent: what });
      const list = document.createElement("dl");
      for (const [name, value] of lines) {
        const [term, given] = ["dt", "dd"].map((tag) => document.createElement(tag));
        [term.textContent, given.textContent] = [name, value];
        list.append(term, given);
      }
      this.tip.replaceChildren(strong, list);
    }
    this.at = at;
    this.ring.hidden = this.tip.hidden = false;
    this.place(x, y);
  }

  // Above the spot where there is room under the page's head, else below; within the figure's width.
  place(x, y) {
    const { by, left, top, own } = this.scale();
    const [across, down] = [left + x * by, top + y * by];
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const above = own.top + down - height - 14 > 56;
    Object.assign(this.ring.style, { left: `${across}px`, top: `${down}px` });
    this.tip.style.left = `${Math.max(0, Math.min(this.clientWidth - width, across - width / 2))}px`;
    this.tip.style.top = `${above ? down - height - 14 : down + 14}px`;
  }

  hide() {
    this.wanted = undefined;
    this.ring.hidden = this.tip.hidden = true;
  }
}

if (!customElements.get("chart-values")) customElements.define("chart-values", ChartValues);
