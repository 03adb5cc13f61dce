// <tile-order>: which tiles of c are in flight together, and what of a and b they need, for several heights of a group.
//
// A page writes  --8<-- "docs/generated/tile_order.html". scripts/prepare.py makes that piece, and the data it reads, from the map that
// snippets/tile_order/order.py recorded and from what snippets/tile_order/groups.py measured. No index is worked out here:
// tiles, blocks and bytes are counted from the recorded map. Without scripts it is a still picture and the ledger.

import { choice, choices, facts, number, range } from "./explorer.js";

const [A, B, C] = [[8, 56], [56, 8], [56, 56]];
const [SIDE, BAND] = [256, 40];
const megabytes = (bytes) => `${number(Math.round(bytes / 1e6))} MB`;
const shape = (look, boxes) => `<path class="${look}" d="${boxes.map(([x, y, w, h]) => `M${x} ${y}h${w}v${h}h${-w}z`).join("")}"/>`;
let made = 0;

class TileOrder extends HTMLElement {
  async connectedCallback() {
    if (this.form) return;
    this.leaving = new AbortController();
    const { signal } = this.leaving;
    try {
      const answer = await fetch(new URL(this.dataset.src, document.baseURI), { signal });
      if (!answer.ok) throw new Error(answer.statusText);
      this.data = await answer.json();
    } catch {
      if (!signal.aborted) this.note();
      return;
    }
    this.orders = Object.fromEntries(Object.entries(this.data.orders).map(([group, tiles]) => [group, tiles.split(" ").map(Number)]));
    this.waves = Math.ceil((this.data.rows * this.data.columns) / this.data.at_once);
    this.build();
    this.show();
  }

  disconnectedCallback() {
    this.leaving?.abort();
  }

  note() {
    if (this.querySelector(".stepper-note")) return;
    const line = document.createElement("p");
    line.className = "stepper-note";
    line.setAttribute("role", "status");
    line.textContent = "The recorded map could not be loaded, so this picture stands still.";
    this.append(line);
  }

  build() {
    const live = document.createElement("div");
    const id = `tile-order-${++made}`;
    live.className = "explorer";
    live.setAttribute("role", "group");
    live.setAttribute("aria-label", "The order of tiles, for several values of GROUP_M");
    const groups = Object.keys(this.orders).map((group) => choice(`${id}-group`, group, group));
    live.innerHTML = `<form autocomplete="off">${choices("<code>GROUP_M</code>", groups, "row")}
      <label class="order-moment">Moment <input type="range" min="0" max="${this.waves - 1}" value="${this.data.wave}"></label></form>
      <p class="explorer-words" role="status"></p><div class="order-shown"><div class="order-picture"></div><div class="order-facts"></div></div>
      <p class="legend"><span><i class="order-now"></i>tile of c in flight</span><span><i class="order-block"></i>needed of a and b</span><span><i class="order-done"></i>finished before</span></p>`;
    this.querySelector(".still").replaceWith(live);
    this.form = live.querySelector("form");
    this.form.querySelector(`input[value="${this.data.opens}"]`).checked = true;
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", () => this.show());
  }

  // The tiles of a wave, and the rows and columns of blocks that they need.
  touched(group, wave) {
    const { at_once, columns, row_bytes, column_bytes } = this.data;
    const now = this.orders[group].slice(wave * at_once, (wave + 1) * at_once);
    const rows = new Set(now.map((tile) => Math.floor(tile / columns)));
    const across = new Set(now.map((tile) => tile % columns));
    return { now, rows: [...rows], columns: [...across], bytes: rows.size * row_bytes + across.size * column_bytes };
  }

  show() {
    const group = this.form.querySelector("[type=radio]:checked").value;
    const slider = this.form.querySelector("[type=range]");
    const wave = +slider.value;
    const { now, rows, columns, bytes } = this.touched(group, wave);
    const first = wave * this.data.at_once;
    const programs = `${number(first)} to ${number(first + now.length - 1)}`;
    slider.setAttribute("aria-valuetext", `programs ${programs}`);
    this.querySelector(".explorer-words").textContent =
      `GROUP_M = ${group}. Programs ${programs} have ${now.length} tiles of c. They need ${rows.length} rows of tiles of a and ` +
      `${columns.length} columns of tiles of b: ${megabytes(bytes)}.`;
    this.querySelector(".order-picture").innerHTML = this.drawing(group, wave, now, rows, columns);
    const all = range(this.waves).reduce((sum, each) => sum + this.touched(group, each).bytes, 0);
    const pairs = [["Rows of a", rows.length], ["Columns of b", columns.length], ["Needed now", megabytes(bytes)], ["Needed by all waves", megabytes(all)]];
    const found = this.data.measured[group];
    if (found) pairs.push(["Read from memory, counted", megabytes(found.read_bytes)]);
    if (found?.l2_hits !== undefined) pairs.push(["Hits in L2, counted", `${Math.round(100 * found.l2_hits)}%`]);
    if (found) pairs.push(["Time, measured", `${found.ms.toFixed(2)} ms`], ["Rate, measured", `${Math.round(found.tflops)} TFLOP/s`]);
    this.querySelector(".order-facts").innerHTML = facts(pairs);
    this.querySelectorAll("[data-group]").forEach((row) => row.classList.toggle("lit", row.dataset.group === group));
  }

  drawing(group, wave, now, rows, columns) {
    const [tall, wide] = [SIDE / this.data.rows, SIDE / this.data.columns];
    const tile = (id) => [C[0] + (id % this.data.columns) * wide, C[1] + Math.floor(id / this.data.columns) * tall, wide, tall];
    const done = this.orders[group].slice(0, wave * this.data.at_once);
    const blocks = [...rows.map((row) => [A[0], A[1] + row * tall, BAND, tall]), ...columns.map((column) => [B[0] + column * wide, B[1], wide, BAND])];
    const parts = [shape("sheet", [[...A, BAND, SIDE], [...B, SIDE, BAND], [...C, SIDE, SIDE]]), shape("done", done.map(tile)), shape("now", now.map(tile)), shape("block", blocks)];
    const names = [["a", 24, 48], ["b", 44, 32], ["c", 44, 48]].map(([name, x, y]) => `<text x="${x}" y="${y}">${name}</text>`);
    return `<svg viewBox="0 0 320 320" role="img" aria-label="The tiles of c in flight, and the blocks of a and b that they need, as said above">${parts.join("")}${names.join("")}</svg>`;
  }
}

if (!customElements.get("tile-order")) customElements.define("tile-order", TileOrder);
