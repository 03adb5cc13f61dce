// <program-stepper src="trace.json">: replays a recorded execution of a kernel, statement by statement.
// It draws what the recording holds and nothing else. Where that cannot be had, its static picture stays.

import {
  safe, product, range, expand, lanesIn, isAccess, stridesOf, placeOf, part, sheet, piece, fetched, controls, Player,
} from "./recorded.js";

const CELLS = 32; // up to so many lanes, each has a cell of its own
const CHOICES = 16; // up to so many programs, each has a button of its own
const GRID = 144; // and up to so many in a grid of two dimensions
const NUMBERED = 12; // blocks and tensors up to so many elements wide show their values
const BESIDE = 32; // tensors of so many columns together fit beside each other on a phone
const PACE = 1800; // milliseconds a step while playing
const REDUCES = { max: "finds the largest of", min: "finds the smallest of", sum: "adds up" };
const made = (event) => (REDUCES[event.op] ? event.result ?? [] : event.shape); // the shape of what a step makes
const nameOf = (event) => event.op.startsWith("atomic") ? undefined : event.name ?? event.into ?? (REDUCES[event.op] ? event.text ?? event.op : event.op === "dot" ? "tl.dot" : undefined);
const scalarName = (event) => (made(event).length ? undefined : nameOf(event));
const blockName = (event) => (made(event).length ? nameOf(event) : undefined);
const by = (shape) => shape.join(" by ");

function short(text) {
  const size = Math.abs(text);
  if (size < 0.001 && size > 0) text = (+text).toExponential(0);
  else if (size < 1) text = String(+(+text).toFixed(3));
  return text.replace("-", "−").replace("inf", "∞");
}

const single = (event) => (event.values && !event.values.includes(" ") ? short(event.values) : undefined);

// Words

function accessWords(event, tensor) {
  const [on, masked, outside] = ["on", "masked", "outside"].map((state) => lanesIn(event, state));
  const where = on ? part(event, tensor, "on") : outside ? "nothing inside" : "nothing";
  const [, kind] = event.op.split("_");
  const verb = kind ? `atomically ${kind === "add" ? "adds" : `applies ${kind} with`} ${on} ${on === 1 ? "lane" : "lanes"} to` : `${event.op}s`;
  let words = `${verb} ${where}`;
  if (event.into && event.into !== event.tensor && !kind) words += ` into ${event.into}`;
  if (masked) {
    words += masked === 1 ? "; 1 lane is masked off" : `; ${masked} lanes are masked off`;
    if (event.shape.length < 2 && !kind) {
      const target = part(event, tensor, "masked");
      words += ` (${masked === 1 ? "it points" : "they point"}${target.startsWith("past") ? "" : " at"} ${target})`;
    }
    if (event.other) words += ` and filled with ${short(event.other)}`;
  }
  return outside ? `${words}; ${outside} ${outside === 1 ? "lane points" : "lanes point"} outside ${event.tensor}` : words;
}

function words(event, { tensors, grid }) {
  const { op, name, shape } = event;
  const lanes = `its ${by(shape)} lanes`;
  const block = event.runs && expand(event.runs);
  if (isAccess(event)) return accessWords(event, tensors[event.tensor]);
  if (op === "loop") return `begins a round of the loop: ${name} = ${block[0]}`;
  if (op === "dot") return `multiplies a block of ${by(event.of[0])} with one of ${by(event.of[1])}, which makes ${by(shape)}${event.into ? `: ${event.into}` : ""}`;
  if (REDUCES[op]) {
    const along = event.result ? ` along axis ${event.axis}, which leaves ${by(event.result)}` : "";
    return `${REDUCES[op]} ${lanes}${along}${made(event).length || !single(event) ? "" : `: ${single(event)}`}`;
  }
  if (op === "program_id") return `asks for its number${grid.length > 1 ? ` along axis ${event.axis}` : ""}: ${name} = ${block[0]}`;
  if (event.lanes) return `works out ${name}, which points into ${event.tensor}`;
  const value = block?.[0] ?? single(event);
  if (!shape.length) return `sets ${name}${value === undefined ? "" : ` to ${value}`}`;
  if (event.adds) return `adds ${event.adds.join(" and ")} lane by lane into ${name}`;
  if (event.transposes) return `turns ${event.transposes} into ${name}: its rows become columns`;
  if (!block) return `works out ${name} in each of ${lanes}`;
  if (event.dtype !== "int1") {
    const [least, most] = [block.reduce((a, b) => Math.min(a, b)), block.reduce((a, b) => Math.max(a, b))];
    return `works out ${name}, a number for each lane: ${least} to ${most}`;
  }
  const on = block.filter(Boolean).length;
  return `works out ${name}: true in ${on} ${on === 1 ? "lane" : "lanes"}, false in ${block.length - on}`;
}

// Lanes, each as [state, text]

function content(event) {
  const values = event.values?.split(" ").map(short) ?? [];
  if (event.lanes) return offsets(event).map(([state], i) => [state, values[i] ?? ""]);
  if (event.dtype === "int1") return expand(event.runs).map((on) => (on ? ["on", "true"] : ["masked", "false"]));
  if (event.runs) return expand(event.runs).map((number) => ["on", String(number)]);
  return range(product(made(event))).map((i) => [values[i] === "?" ? "masked" : "on", values[i] ?? ""]);
}

const offsets = (event) => event.lanes.flatMap(([state, ...run]) => expand([run]).map((offset) => [state, String(offset)]));

function segments(lanes) {
  const groups = [];
  for (const [state, text] of lanes) {
    if (groups.at(-1)?.state !== state) groups.push({ state, texts: [] });
    groups.at(-1).texts.push(text);
  }
  return groups.map(({ state, texts }) => {
    const counting = texts.every((text, i) => text === texts[0] || +text === +texts[0] + i);
    const thin = texts.length < lanes.length / 8;
    const last = counting && texts.at(-1) === texts[0] ? "" : texts.at(-1);
    const first = thin && last ? "" : counting ? texts[0] : `${texts.slice(0, 3).join(" ")} …`;
    return `<i class="seg ${state}${thin ? " thin" : ""}" style="width:${(100 * texts.length) / lanes.length}%"><b>${first}</b><b>${last}</b></i>`;
  });
}

// Where lanes fall in a tensor drawn in rows of so many columns: one mark for neighbors of one state in one row.
function marks(lanes, columns) {
  const found = [];
  for (const [state, ...run] of lanes) {
    let last;
    for (const offset of expand([run])) {
      const row = Math.floor(offset / columns);
      const column = offset - row * columns;
      if (last?.row === row && last.column + last.width === column) last.width++;
      else found.push((last = { state, row, column, width: 1 }));
    }
  }
  return found;
}

class ProgramStepper extends Player {
  pace = PACE;

  async open(signal) {
    this.trace = await fetched(this.getAttribute("src"), signal);
    this.step = 0;
    this.number = 0;
    this.measure();
    this.innerHTML = this.frame();
    this.listen(signal);
    this.draw();
  }

  // What holds for every step and program, so that nothing moves while stepping.
  measure() {
    const events = this.trace.programs.flatMap((program) => program.events);
    const names = (name) => [...new Set(events.map(name))].filter(Boolean);
    this.scalars = names(scalarName);
    this.blocks = names(blockName);
    this.accesses = events.filter(isAccess);
    this.lanes = Math.max(1, ...events.filter((event) => event.shape.length).map((event) => event.shape.at(-1)));
    this.flat = this.lanes <= CELLS;
    this.tiled = events.some((event) => event.shape.length > 1) || Object.values(this.trace.tensors).some((tensor) => tensor.strides);
    if (this.tiled) return this.measureSheets(events);
    this.tensors = Object.entries(this.trace.tensors).map(([name, { shape }]) => {
      const size = product(shape);
      const columns = shape.length > 1 ? shape.at(-1) : Math.min(size, this.lanes);
      const own = Math.ceil(size / columns);
      const touched = this.accesses.filter((event) => event.tensor === name).flatMap((event) => marks(event.lanes, columns));
      const beyond = touched.some((mark) => mark.row >= own);
      return { name, size, columns, rows: own + beyond, beyond };
    });
    this.width = Math.max(this.lanes, ...this.tensors.map((tensor) => tensor.columns));
  }

  // Blocks and tensors of two dimensions are sheets of cells, all cells of one size.
  measureSheets(events) {
    const flattened = (shape) => ({ columns: shape.at(-1) ?? 1, rows: product(shape.slice(0, -1)) });
    this.sheets = new Map(this.blocks.map((name) => [name, flattened(made(events.find((event) => blockName(event) === name)))]));
    this.tensors = Object.entries(this.trace.tensors).map(([name, tensor]) => ({ name, tensor, ...flattened(tensor.shape) }));
    const all = [...this.sheets.values(), ...this.tensors];
    this.widest = Math.max(...all.map(({ columns }) => columns));
    this.most = Math.max(...all.map(({ rows }) => rows), this.widest);
    const together = (this.together = this.tensors.reduce((sum, { columns }) => sum + columns, 0));
    this.unit = this.most <= NUMBERED ? 1.25 : Math.min(0.8, Math.max(13 / this.most / 2, Math.min(13 / this.most, 27 / together)));
    for (const drawn of this.tensors) {
      const places = this.accesses.filter((event) => event.tensor === drawn.name)
        .flatMap((event) => event.lanes.flatMap(([, first, count, step]) => [first, first + (count - 1) * step]))
        .map((offset) => placeOf(drawn.tensor, offset) ?? 0);
      const beyond = Math.floor(places.reduce((a, b) => Math.max(a, b), 0) / drawn.columns) + 1 - drawn.rows;
      drawn.beyond = Math.max(0, Math.min(beyond, Math.max(4, Math.ceil(drawn.rows / 8))));
    }
  }

  // Acting

  get program() {
    return this.trace.programs[this.number];
  }

  get last() {
    return this.program.events.length - 1;
  }

  pick(number) {
    this.number = number;
    this.go(this.step);
  }

  // In a grid of programs the arrows lead to the neighbors.
  steered({ target, key }) {
    if (!this.grid || !target.dataset.pick || !key.startsWith("Arrow")) return false;
    const [rows, columns] = this.trace.grid;
    const row = Math.floor(this.number / columns) + ({ ArrowUp: -1, ArrowDown: 1 }[key] ?? 0);
    const column = (this.number % columns) + ({ ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0);
    if (row < 0 || row >= rows || column < 0 || column >= columns) return true;
    this.pick(row * columns + column);
    this.find(`[data-pick="${this.number}"]`).focus();
    return true;
  }

  // Drawing

  frame() {
    const { trace } = this;
    const ids = trace.programs.map((program) => program.id.join(", "));
    const { grid } = trace;
    this.grid = grid.length === 2 && grid[0] > 1 && ids.length <= GRID && grid[1] <= 12;
    const choices = this.grid
      ? `<output></output>`
      : ids.length > CHOICES
      ? `<select aria-label="Program">${ids.map((id, i) => `<option value="${i}">${id}</option>`).join("")}</select>`
      : ids.map((id, i) => `<button type="button" data-pick="${i}" aria-label="Program ${id}">${id}</button>`).join("");
    const given = Object.entries(trace.arguments).map(([name, value]) => `${safe(name)} = ${value}`);
    return `<div class="stepper" role="group" tabindex="0" aria-label="${safe(trace.kernel)}, step by step. Arrow keys step, Home and End go to the first and the last step, space plays.">
      <div class="stepper-bar"><div class="choices">Program ${choices}</div><span class="stepper-count"></span>
        <code class="stepper-line" aria-hidden="true"></code>${controls()}</div>
      <div class="stepper-top"><pre class="stepper-code" role="group" aria-label="The kernel"><code></code></pre>${this.grid ? programGrid(ids, grid) : ""}</div>
      <p class="stepper-given"><span>${given.length ? `Launched with ${given.join(", ")}.` : ""}</span><span class="keys">${this.grid ? "Arrows choose in the grid; elsewhere" : "Click the picture, then"} ← and → step, space plays</span></p>
      <p class="stepper-sentence" aria-live="polite"></p>
      <div class="stepper-picture" role="img" aria-label="The block on chip and the tensors in memory"></div></div>`;
  }

  draw() {
    const { program, step, last } = this;
    const event = program.events[step];
    this.mark(this.number);
    if (this.grid) this.querySelectorAll("[data-pick]").forEach((button, i) => (button.tabIndex = i === this.number ? 0 : -1));
    if (this.grid) this.find("output").textContent = program.id.join(", ");
    this.find("[aria-label='Step back']").setAttribute("aria-disabled", step === 0);
    this.find("[aria-label='Step forward']").setAttribute("aria-disabled", step === last);
    const rounds = new Map(program.events.slice(0, step + 1).filter((e) => e.op === "loop" && e.line < event.line && event.line <= e.until)
      .map((e) => [e.name, e.runs[0][0]]));
    const turn = [...rounds].map(([name, value]) => `, ${name} = ${value}`).join("");
    this.find(".stepper-count").textContent = `Step ${step + 1} of ${last + 1}${turn}`;
    this.find(".stepper-code code").innerHTML = this.trace.source.map((text, i) => line(text, i + 1, event)).join("");
    this.find(".stepper-line").innerHTML = marked(this.trace.source[event.line - 1].trim(), event);
    this.center(this.find(".stepper-code"));
    this.find(".stepper-sentence").textContent = `Program ${program.id.join(", ")} ${words(event, this.trace)}.`;
    this.find(".stepper-picture").innerHTML = this.chip(event) + this.memory(event) + this.legend();
  }

  // On a phone the code is a window of a few lines; the one of this step stands in its middle.
  center(code) {
    const scrolls = code.scrollHeight > code.clientHeight;
    if (scrolls) code.tabIndex = 0;
    else code.removeAttribute("tabindex");
    const [window, lit] = [code, code.querySelector(".lit")].map((element) => element.getBoundingClientRect());
    if (scrolls) code.scrollTop += lit.top - window.top - (window.height - lit.height) / 2;
  }

  chip(event) {
    const past = this.program.events.slice(0, this.step + 1);
    const latest = (kind, name) => past.findLast((e) => kind(e) === name);
    const scalars = this.scalars.map((name) => {
      const e = latest(scalarName, name);
      const value = e ? `= ${e.runs?.[0][0] ?? single(e) ?? "…"}` : "";
      return `<span class="name${e === event ? " now" : ""}">${safe(name)} ${value}</span>`;
    });
    const title = `<p class="where">On chip: the ${this.blocks.length === 1 ? "block" : "blocks"} of program ${this.program.id.join(", ")}</p>
      <div class="scalars">${scalars.join("")}</div>`;
    if (this.tiled) {
      const pieces = this.blocks.map((name) => {
        const e = latest(blockName, name);
        const { rows, columns } = this.sheets.get(name);
        const lanes = e ? content(e) : [];
        const look = e === event ? "mark chip now" : "mark chip";
        const texts = this.most <= NUMBERED && lanes.every(([, text]) => text.length < 5) && e?.dtype !== "int1" ? lanes.map(([, text]) => text) : undefined;
        return piece(name, `${made(e ?? { shape: [rows, columns] }).join(" × ")}`, sheet(lanes.map(([state]) => `${look} ${state}`), columns, rows, texts), e === event);
      });
      return `${title}<div class="sheets${this.unit < 0.35 ? " fine" : ""}" style="${this.scale()}">${pieces.join("")}</div>`;
    }
    const rows = this.blocks.map((name) => {
      const e = latest(blockName, name);
      return this.strips(safe(name), e && content(e), e === event);
    });
    const pointing = event.shape.length > 0 && isAccess(event);
    return `${title}
      <div class="block ${this.flat ? "cells" : ""}" style="--lanes:${this.lanes};--share:${this.lanes / this.width}">
        ${this.strips("<em>lane</em>", range(this.lanes).map((i) => ["axis", String(i)]))}${rows.join("")}
        <div class="offsets${pointing ? "" : " unused"}">${this.strips(`<em>offset in ${safe(event.tensor ?? "")}</em>`, pointing && offsets(event), pointing)}</div></div>`;
  }

  strips(label, lanes, now) {
    const all = range(Math.max(this.lanes, lanes?.length ?? 0)).map((i) => lanes?.[i] ?? ["none", ""]);
    const lit = now ? " now" : "";
    const name = `<span class="name${lit}">${label}</span>`;
    if (this.flat) return name + all.map(([state, text]) => `<i class="cell ${state}${lit}"><b>${text}</b></i>`).join("");
    const rows = range(all.length / this.lanes).map((i) => segments(all.slice(i * this.lanes, (i + 1) * this.lanes)).join(""));
    return `${name}<div>${rows.map((row) => `<div class="strip${lit}">${row}</div>`).join("")}</div>`;
  }

  memory(event) {
    const touched = this.program.events.slice(0, this.step + 1).filter(isAccess);
    if (this.tiled) return this.memorySheets(event, touched);
    const drawn = this.tensors.map((tensor) => {
      const found = touched.filter((e) => e.tensor === tensor.name).flatMap((e) =>
        marks(e.lanes, tensor.columns).filter((mark) => e === event || mark.state === "on").map((mark) => ({ ...mark, now: e === event })));
      return `<div class="tensor">${range(tensor.rows).map((row) => this.row(tensor, row, found)).join("")}</div>`;
    });
    return `<p class="where memory">In memory<small>Each row begins at the offset beside it.</small></p>${drawn.join("")}`;
  }

  memorySheets(event, touched) {
    const pieces = this.tensors.map(({ name, tensor, columns, rows, beyond }) => {
      const looks = Array((rows + beyond) * columns).fill(undefined);
      for (const e of touched.filter((e) => e.tensor === name))
        for (const [state, offset] of offsets(e)) {
          const place = placeOf(tensor, +offset);
          if (place < looks.length && (e === event || state === "on")) looks[place] = `mark ${state}${e === event ? " now" : ""}`;
        }
      const strides = stridesOf(tensor);
      const told = `${tensor.shape.join(" × ")}${strides.length > 1 ? `, strides ${strides.join(", ")}` : ""}`;
      return piece(name, told, sheet(looks, columns, rows), event.tensor === name && isAccess(event));
    });
    return `<p class="where memory">In memory</p><div class="sheets${this.unit < 0.35 ? " fine" : ""}" style="${this.scale()}">${pieces.join("")}</div>`;
  }

  scale() {
    const beside = this.most > NUMBERED && this.together <= BESIDE; // on a phone, tensors then stand side by side
    return `--unit:min(${this.unit}rem, ${beside ? `(100cqi - 3.2rem) / ${this.together}` : `(100cqi - 2.2rem) / ${this.widest}`})`;
  }

  row({ name, size, columns, rows }, row, found) {
    const percent = (n) => `${(100 * n) / this.width}%`;
    const extent = Math.max(0, Math.min(columns, size - row * columns));
    const inside = found.filter((mark) => mark.row === row).map(({ state, now, column, width }) =>
      `<i class="mark ${state}${now ? " now" : ""}" style="left:${percent(column)};width:${percent(width)}"></i>`);
    if (extent) inside.push(`<i class="extent" style="width:${percent(extent)};background-size:${100 / extent}% 100%"></i>`);
    if (!extent) inside.unshift(`<i class="beyond" style="width:${percent(columns)}"></i>`);
    const lit = found.some((mark) => mark.now) ? " now" : "";
    return `<b class="name${lit}">${row ? "" : safe(name)}</b><span class="at">${extent && rows <= 16 ? row * columns : ""}</span>
      <div class="row${this.width <= CELLS ? " large" : ""}">${inside.join("")}</div>`;
  }

  legend() {
    const has = (state) => this.accesses.some((event) => lanesIn(event, state));
    const undefinedLanes = this.accesses.some((event) => event.op === "load" && event.values?.includes("?"));
    const swatch = (classes) => `<i class="${classes}"></i>`;
    const entries = [
      [swatch("cell on now"), "set on chip in this step"],
      [swatch("mark on now"), "read or written in memory in this step"],
      [swatch("cell on") + swatch("mark on"), "in an earlier step"],
      has("masked") && [swatch("mark masked"), "masked off, not touched"],
      this.tensors.some(({ beyond }) => beyond) && [swatch("beyond"), "past the tensor’s end"],
      has("outside") && [swatch("mark outside"), "outside the tensor"],
      undefinedLanes && ["<b>?</b>", "undefined: nothing was loaded, nothing will be stored"],
    ];
    return `<p class="legend">${entries.filter(Boolean).map(([sign, text]) => `<span>${sign}${text}</span>`).join("")}</p>`;
  }
}

// A grid of programs of two dimensions: axis 0 goes down, axis 1 to the right.
const programGrid = (ids, [, columns]) => `<div class="program-grid"><span>Programs: axis 0 ↓, axis 1 →</span>
  <div role="group" aria-label="Program; arrow keys choose" style="--columns:${columns}">${ids.map((id, i) =>
    `<button type="button" data-pick="${i}" aria-label="Program ${id}">${id.replace(" ", "")}</button>`).join("")}</div></div>`;

function line(text, number, event) {
  const hang = `style="--hang:${text.search(/\S/) + 2}ch"`; // a wrapped line goes on to the right of where it began
  if (number < event.line || number > (event.last_line ?? event.line)) return `<span class="line" ${hang}>${safe(text)}</span>`;
  return `<span class="line lit" ${hang} aria-current="step">${marked(text, event)}</span>`;
}

function marked(text, event) {
  const part = event.text ?? event.name;
  const [before, ...after] = text.split(part);
  return after.length ? `${safe(before)}<u>${safe(part)}</u>${safe(after.join(part))}` : safe(text);
}

customElements.define("program-stepper", ProgramStepper);
