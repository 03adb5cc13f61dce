// <config-picker>: one product in Triton and in CUDA C++. A reader chooses a shape and a configuration; both texts change where they differ,
// and what was measured stands beside them. scripts/pages/picker.py writes the element with its still picture, and the data, a record's own.

import { choice, choices, safe } from "./explorer.js";

const SIDES = { triton: "Triton", cuda: "CUDA C++" };
const whole = (n) => n.toLocaleString("en-US");
const us = (n) => (n < 100 ? n.toFixed(1) : whole(Math.round(n)));
const times = (sizes) => sizes.join("\u00a0×\u00a0");
const called = ([m, n, k, warps, stages]) => `${times([m, n, k])}, ${warps} warps, ${stages} stages`;
const sized = (shape) => times(shape.split("x"));
// A line's indent, its code and its comment.
const PARTS = { triton: /^(\s*)(.*?)(#.*)?$/, cuda: /^(\s*)(.*?)(\/\/.*)?$/ };
const rate = ({ tflops }) => (tflops === null ? "fails" : whole(Math.round(tflops)));
const bytes = (n) => (n ? `${whole(n)} bytes` : "none");

const ROWS = [
  ["time", ({ us: middle }) => `${us(middle)} µs`],
  ["p20 to p80, µs", ({ us_p20, us_p80 }) => `${us(us_p20)} to ${us(us_p80)}`],
  ["rate", (row) => `${rate(row)} TFLOP/s`],
  ["registers per thread", ({ registers }) => whole(registers)],
  ["spilled, a thread", ({ spills }) => bytes(spills)],
  ["shared memory", ({ shared }) => bytes(shared)],
  ["programs at once", ({ programs }) => whole(programs)],
  ["occupancy", ({ occupancy }) => `${Math.round(100 * occupancy)}%`],
  ["what limits that", ({ limit }) => limit],
];
const KEYS = ["us", "us_p20", "tflops", "registers", "spills", "shared", "programs", "occupancy", "limit"];

// The lines of a configuration, and which of them another one has otherwise.
export function linesOf({ lines, changes }, number, before) {
  const [mine, theirs] = [changes[number], changes[before] ?? changes[number]];
  return lines.map((line, at) => [mine[at] ?? line, (mine[at] ?? line) !== (theirs[at] ?? line)]);
}

const told = (name, row) => (row.failure ? `${name} fails: ${safe(row.failure.replace(/\.$/, ""))}.` : `${name} takes ${us(row.us)} µs, ${rate(row)} TFLOP/s.`);

function lineHtml([, indent, code, comment], changed) {
  const tag = changed ? "mark" : "span";
  return `<${tag} class="line" style="--in:${indent.length}">${indent}${safe(code)}${comment ? `<i>${safe(comment)}</i>` : ""}\n</${tag}>`;
}

// The chosen row comes into view within the list; the page stays where it is.
function uncover(list) {
  const [row, head] = [list.querySelector(".lit"), list.querySelector("thead")];
  const top = row.offsetTop - head.offsetHeight;
  if (top < list.scrollTop || row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 3;
}

// The first changed line comes into view within its pane; the page stays where it is.
function reveal(pane) {
  const marks = [...pane.querySelectorAll("mark")];
  const [first, last] = [marks[0], marks.at(-1)];
  if (!first) return;
  const end = last.offsetTop + last.offsetHeight;
  if (first.offsetTop < pane.scrollTop || end > pane.scrollTop + pane.clientHeight) pane.scrollTop = first.offsetTop - pane.clientHeight / 4;
}

class ConfigPicker extends HTMLElement {
  async connectedCallback() {
    if (this.data || this.loading) return;
    this.loading = true;
    try {
      const answer = await fetch(new URL(this.dataset.src, document.baseURI));
      if (!answer.ok) throw new Error(answer.statusText);
      this.data = await answer.json();
    } catch {
      this.insertAdjacentHTML("beforeend", `<p class="picker-note">What was measured could not be loaded. The picture stays as it is.</p>`);
      return;
    }
    this.frame();
    this.number = this.opens;
    this.before = this.number ? 0 : 1;
    this.show();
  }

  get measured() {
    return this.data.shapes[this.shape];
  }

  // What the autotuner chooses, else the fastest.
  get opens() {
    const { chosen, triton } = this.measured;
    return chosen ?? triton.reduce((best, { us: time }, at) => (time !== null && !(triton[best].us <= time) ? at : best), 0);
  }

  frame() {
    const { configurations, shapes } = this.data;
    const names = Object.keys(shapes);
    this.shape = names[0];
    const options = configurations.map((configuration, at) => `<tr data-at="${at}"><th scope="row"><label class="choice"><input type="radio" name="picker-at" value="${at}" aria-label="${called(configuration)}"><span>${times(configuration.slice(0, 3))}</span></label></th><td>${configuration[3]}</td><td>${configuration[4]}</td><td></td><td></td></tr>`);
    const heads = ["BLOCK_M × N × K", "warps", "stages", "Triton, TFLOP/s", "CUDA C++, TFLOP/s"].map((name) => `<th scope="col">${name}</th>`);
    const panes = Object.entries(SIDES).map(([side, name]) => `<section><p class="where">${name}<small data-part="count-${side}"></small></p><div class="picker-code" tabindex="0" role="region" aria-label="${name} of this configuration"><code data-part="${side}"></code></div></section>`);
    this.innerHTML = `<div class="explorer picker" role="group" aria-label="Configuration picker"><form>
      ${choices("Shape, <i>M × N × K</i>", names.map((name) => choice("picker-shape", name, sized(name))), "row")}
      <div class="picker-tables"><fieldset><legend>Configuration</legend><div class="picker-scroll"><table class="picker-list"><thead><tr>${heads.join("")}</tr></thead><tbody>${options.join("")}</tbody></table></div></fieldset>
      <table class="picker-takes"><thead><tr><td></td>${Object.values(SIDES).map((name) => `<th scope="col">${name}</th>`).join("")}</tr></thead><tbody data-part="takes"></tbody></table></div></form>
      <p class="explorer-words" role="status" data-part="words"></p>
      <p class="note" data-part="marks"></p><div class="picker-panes">${panes.join("")}</div></div>`;
    this.querySelector("form").addEventListener("change", ({ target }) => this.choose(target));
    this.addEventListener("click", ({ target }) => {
      const row = target.closest("tbody tr[data-at]");
      if (row && !target.closest("label")) row.querySelector("input").click();
    });
  }

  choose({ name, value }) {
    if (name === "picker-shape") this.shape = value;
    else [this.before, this.number] = [this.number, +value];
    this.show();
  }

  show() {
    const { configurations, texts } = this.data;
    const { chosen, eager_us: eager, eager_tflops } = this.measured;
    const [triton, cuda] = Object.keys(SIDES).map((side) => this.measured[side][this.number]);
    this.querySelectorAll("input").forEach((input) => (input.checked = [this.shape, String(this.number)].includes(input.value)));
    for (const row of this.querySelectorAll("tr[data-at]")) {
      const at = +row.dataset.at;
      row.classList.toggle("lit", at === this.number);
      row.classList.toggle("winner", at === chosen);
      row.querySelector("span").innerHTML = times(configurations[at].slice(0, 3)) + (at === chosen ? "<b> ✓ autotuner’s choice</b>" : "");
      row.querySelector("input").setAttribute("aria-label", called(configurations[at]) + (at === chosen ? ", the autotuner’s choice" : ""));
      Object.keys(SIDES).forEach((side, column) => (row.cells[3 + column].textContent = rate(this.measured[side][at])));
    }
    const compared = triton.us && cuda.us ? ` The CUDA C++ takes ${(cuda.us / triton.us).toFixed(2)} times as long as Triton.` : "";
    const tuned = this.number === chosen ? " <em>It is what the autotuner chooses for this shape.</em>" : "";
    const parts = {
      words: `${called(configurations[this.number])}, for ${sized(this.shape)}: ${told("Triton", triton)} ${told("The CUDA C++", cuda)}${compared} PyTorch takes ${us(eager)} µs, ${whole(Math.round(eager_tflops))} TFLOP/s.${tuned}`,
      takes: ROWS.map(([name, shown], at) => {
        const cells = [triton, cuda].map((row) => `<td>${row[KEYS[at]] === null ? "–" : shown(row)}</td>`);
        return `<tr><th scope="row">${name}</th>${cells.join("")}</tr>`;
      }).join(""),
      marks: `Marked with <b class="mark">▸</b>: the lines that ${called(configurations[this.before])}, the configuration before, has differently.`,
    };
    for (const side of Object.keys(SIDES)) {
      const lines = linesOf(texts[side], this.number, this.before);
      parts[side] = lines.map(([line, changed]) => lineHtml(PARTS[side].exec(line), changed)).join("");
      parts[`count-${side}`] = `${lines.length} lines, ${lines.filter(([, changed]) => changed).length} marked`;
    }
    for (const [name, html] of Object.entries(parts)) this.querySelector(`[data-part="${name}"]`).innerHTML = html;
    this.querySelectorAll(".picker-code").forEach(reveal);
    uncover(this.querySelector(".picker-scroll"));
  }
}

if (!customElements.get("config-picker")) customElements.define("config-picker", ConfigPicker);
