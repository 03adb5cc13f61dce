// <stack-chooser>: one pattern with every tool. A reader chooses a pattern; a table has each tool's lines of code, time, speed relative to
// the best and what it cannot do, and a curve draws speed against lines. scripts/chooser_element.py writes the element with the same as a still
// picture, and scripts/chooser.py the data, each figure a record's own.

import { choice, choices, safe } from "./explorer.js";

const SIZE = { width: 640, height: 250, left: 46, right: 14, top: 16, bottom: 40 };
const MOST_LINES = 256;
const TICKS = { lines: [1, 4, 16, 64, 256], shares: [0, 50, 100] };
const HEADS = ["Tool", "Lines", "Build", "Time", "Speed of the best", "What it cannot do"];

const us = (ms) => (ms * 1e3 >= 100 ? Math.round(ms * 1e3).toLocaleString("en-US") : (ms * 1e3).toFixed(1));
const percent = (share) => `${Math.round(100 * share)}%`;
const fixed = (value) => value.toFixed(1);

function cells({ lines, build_seconds: build, ms, speed, why }) {
  const head = [lines ?? "not counted", build === null ? "–" : `${build.toFixed(2)} s`];
  return ms ? [...head, `${us(ms[1])} µs`, percent(speed)] : [...head, `not measured: ${why}`, "not measured"];
}

function place({ lines, speed }) {
  const x = SIZE.left + ((SIZE.width - SIZE.left - SIZE.right) * Math.log2(Math.max(lines, 1))) / Math.log2(MOST_LINES);
  return [x, SIZE.top + (SIZE.height - SIZE.top - SIZE.bottom) * (1 - speed)];
}

const drawn = ({ tools }) => tools.filter(({ speed, lines }) => speed && lines).sort((a, b) => a.lines - b.lines);
const polyline = (look, rows) => (rows.length ? `<polyline class="${look}" points="${rows.map((row) => place(row).map(fixed).join()).join(" ")}"/>` : "");

function curve(patterns, chosen) {
  const [low, right] = [SIZE.height - SIZE.bottom, SIZE.width - SIZE.right];
  const text = (x, y, anchor, words, look = ` class="tick"`) => `<text${look} x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}">${words}</text>`;
  const rows = drawn(chosen);
  const labels = rows.map((row) => {
    const [x, y] = place(row);
    const side = x < SIZE.left + 40 ? "start" : x > right - 60 ? "end" : "middle";
    return `<circle cx="${fixed(x)}" cy="${fixed(y)}" r="4.5"/>${text(x, y + (row.speed > 0.5 ? 18 : -9), side, row.name, "")}`;
  });
  return `<svg viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" aria-label="Lines of code against speed, ${chosen.name}">
    <path class="axis" d="M${SIZE.left} ${SIZE.top}V${low}H${right}"/>
    ${TICKS.lines.map((lines) => text(place({ lines, speed: 0 })[0], low + 16, "middle", lines)).join("")}
    ${TICKS.shares.map((share) => text(SIZE.left - 6, place({ lines: 1, speed: share / 100 })[1] + 4, "end", `${share}%`)).join("")}
    ${text((SIZE.left + right) / 2, SIZE.height - 6, "middle", "lines of code")}
    ${patterns.filter((pattern) => pattern !== chosen).map((pattern) => polyline("other", drawn(pattern))).join("")}
    ${polyline("chosen", rows)}${labels.join("")}</svg>`;
}

// The sentence under the choice: the fastest tool, the shortest one that comes near it, and what is missing.
function words({ name, case: shape, tools }) {
  const rows = drawn({ tools });
  const missing = tools.filter(({ ms }) => !ms).map((row) => row.name);
  const left = missing.length ? ` Not measured: ${missing.join(", ")}.` : "";
  if (!rows.length) return `<b>${name}</b>, ${shape}.${left}`;
  const best = rows.reduce((a, b) => (b.speed > a.speed ? b : a));
  const near = rows.find(({ speed }) => speed >= 0.9);
  const short = near === best ? "and none that comes near it is shorter" : `and ${near.name} reaches ${percent(near.speed)} of that with ${count(near.lines)}`;
  return `<b>${name}</b>, ${shape}. The fastest is ${best.name}, ${us(best.ms[1])} µs with ${count(best.lines)}, ${short}.${left}`;
}

const count = (lines) => (lines === 1 ? "one line" : `${lines} lines`);

class StackChooser extends HTMLElement {
  async connectedCallback() {
    if (this.data || this.loading) return;
    this.loading = true;
    try {
      const answer = await fetch(new URL(this.dataset.src, document.baseURI));
      if (!answer.ok) throw new Error(answer.statusText);
      this.data = await answer.json();
    } catch {
      this.insertAdjacentHTML("beforeend", `<p class="chooser-note">What was measured could not be loaded. The tables stay as they are.</p>`);
      return;
    }
    this.frame();
    this.show(this.data.patterns[0].key);
  }

  frame() {
    const options = this.data.patterns.map(({ key, name }) => choice("chooser-pattern", key, name));
    this.innerHTML = `<div class="explorer chooser" role="group" aria-label="Choose your stack"><form>${choices("Pattern", options, "row")}</form>
      <p class="explorer-words" role="status" data-part="words"></p>
      <div class="chooser-curve" data-part="curve"></div>
      <div class="scroll" tabindex="0" role="region" aria-label="The pattern with every tool" data-part="table"></div></div>`;
    this.querySelector("form").addEventListener("change", ({ target }) => this.show(target.value));
  }

  show(key) {
    const { patterns } = this.data;
    const chosen = patterns.find((pattern) => pattern.key === key);
    this.querySelectorAll("input").forEach((input) => (input.checked = input.value === key));
    const link = (address, text) => `<a href="${this.dataset.root}${address}">${text}</a>`;
    const rows = chosen.tools.map((row) => `<tr data-tool="${row.tool}"${row.speed === 1 ? ` class="winner"` : ""}><th scope="row">${row.name}</th>${[...cells(row), row.cannot].map((cell) => `<td>${safe(cell)}</td>`).join("")}</tr>`);
    const parts = {
      words: words(chosen),
      curve: curve(patterns, chosen),
      table: `<table class="chooser-list"><caption>Every figure: ${link(chosen.chapter, "its chapter")}, ${link(chosen.program, "its program")}</caption><thead><tr>${HEADS.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`,
    };
    for (const [name, html] of Object.entries(parts)) this.querySelector(`[data-part="${name}"]`).innerHTML = html;
  }
}

if (!customElements.get("stack-chooser")) customElements.define("stack-chooser", StackChooser);
