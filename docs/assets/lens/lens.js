// <compiler-lens>: a kernel's source beside what the compiler made of it, line by line. Loads a kernel's text when it is opened;
// scripts/pages/lens.py writes the texts, the table of kernels that stands on the page, and the element.

import { safe } from "../explorer.js";
import { holders, paint, told } from "./layouts.js";
import { compared, parse } from "./texts.js";

const STAGES = { ttir: "TTIR", ttgir: "TTGIR", ptx: "PTX", sass: "SASS", amdgcn: "AMD assembly", passes: "Passes", layouts: "Layouts" };
const FIGURES = [
  ["registers", "registers per thread"],
  ["spill_bytes", "bytes spilled per thread"],
  ["shared", "bytes of shared memory"],
  ["warps", "warps a program"],
  ["num_stages", "stages"],
  ["programs", "programs at once"],
  ["resident_warps", "of 64 warps in use"],
  ["limit", "is the limit"],
];
const kept = new Map(); // texts that were loaded, by kernel
const count = (n, one) => `${n.toLocaleString("en-US")} ${one}${n === 1 ? "" : "s"}`;
const option = (value, name, chosen) => `<option value="${safe(value)}"${chosen ? " selected" : ""}>${safe(name)}</option>`;
const called = ({ target, label, triton }) => `${target}, ${label}, Triton ${triton}`;

async function text(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(answer.statusText);
  const data = await answer.blob();
  const [first, second] = new Uint8Array(await data.slice(0, 2).arrayBuffer());
  const packed = first === 0x1f && second === 0x8b; // some hosts unpack such files on the way
  return packed ? new Response(data.stream().pipeThrough(new DecompressionStream("gzip"))).text() : data.text();
}

class CompilerLens extends HTMLElement {
  connectedCallback() {
    if (this.ready) return;
    this.ready = true;
    const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("lens.css", import.meta.url).href });
    this.style.minHeight = "6rem";
    this.links = [...document.querySelectorAll("[data-kernel]")];
    this.names = this.links.map((link) => link.dataset.kernel);
    style.addEventListener("load", () => this.begin(), { once: true });
    document.head.append(style);
    this.stop = new AbortController();
    const { signal } = this.stop;
    addEventListener("hashchange", () => this.follow(), { signal });
    for (const link of this.links) {
      link.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        this.open(link.dataset.kernel).then(() => this.scrollIntoView());
      }, { signal });
    }
    this.palette = new MutationObserver(() => this.stage === "layouts" && this.draw());
    this.palette.observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  }

  disconnectedCallback() {
    this.stop?.abort();
    this.palette?.disconnect();
  }

  begin() {
    const list = this.names.map((name) => `<option value="${name}">`).join("");
    this.innerHTML = `<div class="lens" role="group" aria-label="Compiler lens">
      <form class="lens-head"><label>Kernel <input name="kernel" list="lens-names" autocomplete="off" spellcheck="false" placeholder="softmax_kernel"></label><datalist id="lens-names">${list}</datalist><button>Open</button></form>
      <div data-part="chosen"></div><p class="lens-words" role="status" data-part="words">${count(this.names.length, "kernel")} to choose from. Nothing is loaded before you open one.</p><div data-part="body"></div></div>`;
    this.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.open(event.target.kernel.value.trim());
    });
    this.querySelector("[name=kernel]").addEventListener("change", ({ target }) => this.names.includes(target.value) && this.open(target.value));
    this.addEventListener("change", (event) => this.changed(event));
    this.addEventListener("click", (event) => this.clicked(event));
    this.addEventListener("keydown", (event) => this.pressed(event));
    this.addEventListener("mouseover", ({ target }) => this.pointed(target.closest?.("[data-at]")));
    this.follow();
  }

  part(name) {
    return this.querySelector(`[data-part="${name}"]`);
  }

  say(words) {
    this.part("words").textContent = words;
  }

  // The address says what is looked at: #kernel/launch/stage.
  follow() {
    const [kernel, id, stage] = decodeURIComponent(location.hash.slice(1)).split("/");
    if (this.names.includes(kernel) && location.hash !== this.address) this.open(kernel, id, stage).then(() => this.scrollIntoView());
  }

  load(kernel) {
    if (!kept.has(kernel)) kept.set(kernel, text(new URL(`${this.dataset.texts}${kernel}.txt.gz`, document.baseURI)).then(parse));
    kept.get(kernel).catch(() => kept.delete(kernel));
    return kept.get(kernel);
  }

  async open(kernel, id, stage) {
    if (!this.names.includes(kernel)) return this.say(`There is no kernel called “${kernel}”. The table below has all of them.`);
    this.say(`Loading ${kernel} …`);
    try {
      this.data = await this.load(kernel);
    } catch {
      return this.say(`${kernel} could not be loaded.`);
    }
    this.kernel = kernel;
    this.querySelector("[name=kernel]").value = kernel;
    this.launch = this.data.launches.find((launch) => launch.id === id) ?? this.data.launches[0];
    this.stage = stage in STAGES ? stage : "ttgir";
    this.line = this.other = null;
    this.frame();
    this.show();
  }

  get stages() {
    const { stages, passes, layouts = [] } = this.launch;
    return Object.keys(STAGES).filter((name) => (name === "passes" ? passes.length && !this.other : name === "layouts" ? layouts.length && !this.other : name in stages));
  }

  frame() {
    const own = this.data.launches.map((launch) => option(launch.id, called(launch), launch === this.launch));
    const others = this.data.launches.filter((launch) => launch !== this.launch).map((launch) => option(launch.id, called(launch), this.other?.id === launch.id && !this.other.kernel));
    const elsewhere = this.names.filter((name) => name !== this.kernel).map((name) => option(`/${name}`, name, this.other?.kernel === name));
    this.part("chosen").innerHTML = `<div class="lens-head"><label>Compiled for <select name="launch">${own.join("")}</select></label>
      <label>Beside it <select name="other">${option("", "the source", !this.other)}<optgroup label="Another launch of this kernel">${others.join("")}</optgroup><optgroup label="Another kernel">${elsewhere.join("")}</optgroup></select></label></div><div data-part="figures"></div>`;
  }

  figures() {
    const [mine, theirs] = [this.launch.figures, this.other?.figures];
    if (!mine) return `<p>This version of Triton does not compile it for ${this.launch.target}.</p>`;
    const shown = FIGURES.filter(([key]) => mine[key] !== undefined);
    const cell = (key) => {
      const differs = theirs && theirs[key] !== mine[key];
      const value = (told) => (told === undefined ? "–" : safe(told.toLocaleString("en-US")));
      return differs ? `<mark>${value(mine[key])} ⟷ ${value(theirs[key])}</mark>` : value(mine[key]);
    };
    return `<dl class="lens-figures">${shown.map(([key, name]) => `<div><dt>${name}</dt><dd>${cell(key)}</dd></div>`).join("")}</dl>`;
  }

  show() {
    if (!this.stages.includes(this.stage)) this.stage = this.stages.includes("ptx") ? "ptx" : this.stages[0];
    this.part("figures").innerHTML = this.figures();
    this.address = `#${this.kernel}/${this.launch.id}/${this.stage ?? ""}`;
    history.replaceState(history.state, "", this.address);
    const tabs = this.stages.map((name) => `<button type="button" role="tab" id="lens-tab-${name}" data-stage="${name}" aria-controls="lens-panel" aria-selected="${name === this.stage}" tabindex="${name === this.stage ? 0 : -1}">${STAGES[name]}</button>`);
    this.part("body").innerHTML = `<div class="lens-tabs"><div class="lens-tabs" role="tablist" aria-label="What the compiler wrote">${tabs.join("")}</div><button type="button" class="lens-copy">Copy</button></div><div class="lens-panes" id="lens-panel" role="tabpanel" aria-labelledby="lens-tab-${this.stage}">${this.panes()}</div>`;
    this.querySelectorAll(".lens-pane").forEach((pane) => pane.addEventListener("focus", () => this.line === null && this.rest(pane, 0, false)));
    if (this.stage === "layouts") this.layouts();
    else if (!this.other) this.light(this.line);
  }

  panes() {
    const { stages, passes, ran } = this.launch;
    if (this.stage === "passes") {
      const found = passes.map(({ name, out, into, lines }, at) => `<details${at ? "" : " open"}><summary><code>${name}</code> ${count(out, "line")} out, ${into} in</summary><pre tabindex="0">${lines.map((line) => `<span class="${{ "-": "out", "+": "into" }[line[0]] ?? ""}">${safe(line)}</span>`).join("\n")}</pre></details>`);
      this.say(`${ran} passes ran before blocks became instructions. ${passes.length} of them changed the text, in this order; the others found nothing to do.`);
      return `<div class="lens-passes">${found.join("")}</div>`;
    }
    if (this.stage === "layouts") return `<div class="lens-layouts" data-part="layouts"></div>`;
    const text = stages[this.stage] ?? [];
    if (this.other) {
      const theirs = this.other.stages[this.stage] ?? [];
      const both = compared(text, theirs);
      this.say(`Marked are the lines that the other side does not have: ${text.length - both[0].size} of ${text.length} here, ${theirs.length - both[1].size} of ${theirs.length} there. Numbers of registers and names of values are not compared.`);
      return this.pane(called(this.launch), text, both[0]) + this.pane(`${this.other.kernel ?? this.kernel}: ${called(this.other)}`, theirs, both[1]);
    }
    const source = this.data.source.flatMap(({ name, file, lines }) => [{ head: `${name}, ${file}` }, ...lines]);
    return this.pane("Source", source) + this.pane(STAGES[this.stage], text);
  }

  pane(title, lines, same) {
    const id = title.replace(/\W+/g, "-");
    const rows = lines.map(({ at, text, head }, number) => {
      if (head) return `<div class="lens-file" role="presentation">${safe(head)}</div>`;
      const mark = same && !same.has(number) ? " new" : "";
      return `<div class="lens-line${mark}" role="option" id="${id}-${number}" aria-selected="false" data-at="${at}"><i>${at || ""}</i>${safe(text)}</div>`;
    });
    return `<section><p class="lens-title">${safe(title)}<small>${count(rows.filter((row) => row.includes("data-at")).length, "line")}</small></p><div class="lens-pane" role="listbox" tabindex="0" aria-label="${safe(title)}">${rows.join("")}</div></section>`;
  }

  changed({ target: { name, value } }) {
    if (name === "launch") {
      this.launch = this.data.launches.find(({ id }) => id === value);
      if (this.other && !this.other.kernel && this.other.id === value) this.other = null;
    } else if (name === "other") return this.compare(value);
    else if (name === "layout") return this.layouts(+value);
    else return;
    this.line = null;
    this.frame();
    this.show();
  }

  async compare(value) {
    if (!value) this.other = null;
    else if (!value.startsWith("/")) this.other = this.data.launches.find(({ id }) => id === value);
    else {
      try {
        const { launches } = await this.load(value.slice(1));
        this.other = { ...(launches.find(({ target }) => target === this.launch.target) ?? launches[0]), kernel: value.slice(1) };
      } catch {
        return this.say(`${value.slice(1)} could not be loaded.`);
      }
    }
    this.line = null;
    this.show();
  }

  clicked({ target }) {
    const tab = target.closest("[data-stage]");
    const line = target.closest(".lens-line");
    if (tab) this.turn(tab.dataset.stage);
    else if (target.closest(".lens-copy")) this.copy(target.closest(".lens-copy"));
    else if (line) this.rest(line.parentElement, [...line.parentElement.querySelectorAll(".lens-line")].indexOf(line));
  }

  turn(stage) {
    this.stage = stage;
    this.show();
    this.querySelector(`[data-stage="${stage}"]`).focus();
  }

  async copy(button) {
    const text = (this.launch.stages[this.stage] ?? []).map((line) => line.text);
    const lines = this.stage === "passes" ? this.launch.passes.flatMap((pass) => [`# ${pass.name}`, ...pass.lines]) : this.stage === "layouts" ? this.launch.layouts.map((layout) => JSON.stringify(layout)) : text;
    await navigator.clipboard.writeText(`${lines.join("\n")}\n`);
    button.textContent = `Copied ${count(lines.length, "line")}`;
  }

  pressed(event) {
    const { key, target } = event;
    if (target.matches("[role=tab]") && ["ArrowLeft", "ArrowRight"].includes(key)) {
      const at = this.stages.indexOf(this.stage) + (key === "ArrowRight" ? 1 : -1);
      this.turn(this.stages.at(at % this.stages.length));
    } else if (key === "Escape") {
      this.line = null;
      this.light(null);
      return;
    } else if (target.matches(".lens-pane")) {
      const lines = target.querySelectorAll(".lens-line");
      const now = +(target.dataset.now ?? -1);
      const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: lines.length - 1, PageDown: now + 15, PageUp: now - 15 }[key];
      if (next === undefined) return;
      this.rest(target, Math.max(0, Math.min(lines.length - 1, next)));
    } else if (target.matches(".lens-canvas")) {
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.drawn.columns, ArrowUp: -this.drawn.columns }[key];
      if (!step || this.cursor + step < 0 || this.cursor + step >= this.drawn.count) return;
      this.cursor += step;
      this.draw();
    } else return;
    event.preventDefault();
  }

  // The reader rests on a line of a pane: it is lit together with what is linked to it, which comes into view on the other side.
  rest(pane, number, moves = true) {
    const line = pane.querySelectorAll(".lens-line")[number];
    if (!line) return;
    pane.dataset.now = number;
    this.querySelectorAll("[aria-selected=true].lens-line").forEach((one) => one.setAttribute("aria-selected", "false"));
    line.setAttribute("aria-selected", "true");
    pane.setAttribute("aria-activedescendant", line.id);
    if (moves) uncover(pane, line);
    if (this.other) return;
    this.line = +line.dataset.at || null;
    this.light(this.line, pane);
  }

  pointed(line) {
    if (this.other || !line || this.line !== null) return;
    this.light(+line.dataset.at || null, line.parentElement);
  }

  light(at, from) {
    const panes = [...this.querySelectorAll(".lens-pane")];
    if (panes.length < 2 || this.other) return;
    const numbers = panes.map((pane) => {
      pane.querySelectorAll(".lit").forEach((line) => line.classList.remove("lit"));
      const linked = at ? [...pane.querySelectorAll(`[data-at="${at}"]`)] : [];
      linked.forEach((line) => line.classList.add("lit"));
      if (linked.length && pane !== from) uncover(pane, linked[0]);
      return linked.length;
    });
    const stage = STAGES[this.stage];
    if (at) this.say(`Line ${at} of the source: ${numbers[1] ? `${count(numbers[1], "line")} of ${stage}` : `nothing of ${stage} comes from it`}.`);
    else this.say(`Point at a line, or go through them with the arrow keys, to see what became of it. The number before a line of ${stage} is the line of the source that it comes from.`);
  }

  layouts(chosen = 0) {
    const { layouts, shared: accesses = [], target } = this.launch;
    const shared = target.startsWith("sm_") ? accesses : []; // passes are counted over the 32 banks of NVIDIA's GPUs
    this.layout = layouts[chosen];
    this.held = holders(this.layout);
    this.cursor = 0;
    const names = layouts.map(({ name, shape, dtype }, at) => option(at, `${name}, ${shape} ${dtype}`, at === chosen));
    const rows = shared.map(({ operation, shape, dtype, lane_bytes, taken, needed }) => `<tr><th scope="row"><code>${operation}</code></th><td>${shape} ${dtype}</td><td>${lane_bytes}</td><td>${needed}</td><td>${taken}</td></tr>`);
    const banks = rows.length ? `<div class="scroll" tabindex="0" role="region" aria-label="Passes over the banks"><table><thead><tr><th scope="col">access to shared memory</th><th scope="col">block</th><th scope="col">bytes a lane</th><th scope="col">passes it needs</th><th scope="col">passes it takes</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>` : "<p>No access of a warp to shared memory has a layout that can be counted here: there is none, tensor cores and descriptors make it themselves, or it is no GPU of NVIDIA's.</p>";
    this.part("layouts").innerHTML = `<label>Layout <select name="layout">${names.join("")}</select></label><p class="lens-told" role="status" data-part="told"></p><div class="lens-grid"><canvas class="lens-canvas" tabindex="0" role="img" aria-label="Who holds which element; move with the arrow keys"></canvas></div>${banks}`;
    const { bases } = this.layout;
    this.say(bases.offset === undefined ? "One color for each warp, paler and darker by lane. Red is all that the chosen thread holds." : "One color for each of the 32 banks. Red is all that lies in the bank of the chosen element.");
    this.querySelector(".lens-canvas").addEventListener("click", ({ offsetX, offsetY }) => {
      const { side, columns, count: all } = this.drawn;
      this.cursor = Math.min(all - 1, Math.floor(offsetY / side) * columns + Math.min(columns - 1, Math.floor(offsetX / side)));
      this.draw();
    });
    this.draw();
  }

  draw() {
    this.drawn = paint(this.querySelector(".lens-canvas"), this.layout, this.held, this.cursor);
    this.part("told").textContent = told(this.layout, this.cursor, this.held);
  }
}

// A line comes into view within its pane; the page stays where it is.
function uncover(pane, line) {
  const [top, bottom] = [line.offsetTop, line.offsetTop + line.offsetHeight];
  if (top < pane.scrollTop || bottom > pane.scrollTop + pane.clientHeight) pane.scrollTop = top - pane.clientHeight / 3;
}

if (!customElements.get("compiler-lens")) customElements.define("compiler-lens", CompilerLens);
