// <program-stepper src="trace.json">: replays a recorded execution of a kernel, statement by statement.
// It draws what the recording holds and nothing else. Where that cannot be had, its static picture stays.

const CELLS = 32; // up to so many lanes, each has a cell of its own
const CHOICES = 16; // up to so many programs, each has a button of its own
const GRID = 144; // and up to so many in a grid of two dimensions
const NUMBERED = 12; // blocks and tensors up to so many elements wide show their values
const PACE = 1800; // milliseconds a step while playing
const REDUCES = { max: "finds the largest of", min: "finds the smallest of", sum: "adds up" };
const ICONS = {
  Restart: "M4.5 3v4h4M4.8 7a5 5 0 1 1-.6 3.6",
  "Step back": "M10 3 5 8l5 5",
  Play: "M5 3v10l8-5z",
  Pause: "M5.5 3v10M10.5 3v10",
  "Step forward": "m6 3 5 5-5 5",
};

const safe = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const product = (shape) => shape.reduce((a, b) => a * b, 1);
const range = (n) => [...Array(n).keys()];
const expand = (runs) => runs.flatMap(([first, count, step]) => range(count).map((i) => first + i * step));
const lanesIn = (event, state) => event.lanes.reduce((sum, run) => sum + (run[0] === state ? run[2] : 0), 0);
const isAccess = (event) => /^(load|store|atomic)/.test(event.op);
const made = (event) => (REDUCES[event.op] ? event.result ?? [] : event.shape); // the shape of what a step makes
const nameOf = (event) => event.op.startsWith("atomic") ? undefined : event.name ?? event.into ?? (REDUCES[event.op] ? event.text ?? event.op : event.op === "dot" ? "tl.dot" : undefined);
const scalarName = (event) => (made(event).length ? undefined : nameOf(event));
const blockName = (event) => (made(event).length ? nameOf(event) : undefined);
const by = (shape) => shape.join(" by ");

// Rows of a block that repeat with a constant shift are coded once, see scripts/recorder.py.
const unroll = (coded) => coded?.flatMap((item) => Array.isArray(item[2])
  ? range(item[0]).flatMap((turn) => item[2].map((run) => run.with(-3, run.at(-3) + turn * item[1])))
  : [item]);

function short(text) {
  const size = Math.abs(text);
  if (size < 0.001 && size > 0) text = (+text).toExponential(0);
  else if (size < 1) text = String(+(+text).toFixed(3));
  return text.replace("-", "−").replace("inf", "∞");
}

const single = (event) => (event.values && !event.values.includes(" ") ? short(event.values) : undefined);

// Words

const stridesOf = ({ shape, strides }) => strides ?? shape.map((_, axis) => product(shape.slice(axis + 1)));

// The indices of the element at an offset; undefined where the tensor has none.
function indexOf(tensor, offset) {
  const { shape } = tensor;
  const index = shape.map(() => 0);
  const axes = stridesOf(tensor).map((stride, axis) => [stride, axis]).filter(([stride, axis]) => stride && shape[axis] > 1);
  let rest = offset;
  for (const [stride, axis] of axes.sort((a, b) => b[0] - a[0])) {
    index[axis] = Math.floor(rest / stride);
    rest -= index[axis] * stride;
  }
  return offset >= 0 && !rest && index.every((number, axis) => number < shape[axis]) ? index : undefined;
}

// Where an element is drawn, counted row by row. Past the end of a plain tensor the count goes on.
function placeOf(tensor, offset) {
  const index = indexOf(tensor, offset);
  if (index) return index.reduce((number, i, axis) => number * tensor.shape[axis] + i, 0);
  return !tensor.strides && offset >= product(tensor.shape) ? offset : undefined;
}

function element(name, tensor, offset) {
  const index = indexOf(tensor, offset);
  return index ? `${name}[${index.join(",\u00a0")}]` : `${name} ${offset < 0 ? "−" : "+"} ${Math.abs(offset)}`;
}

// Which elements the lanes of one state point at: x[3], x[0] to x[9], or the tile x[0:4, 8:12].
function part({ lanes, tensor: name, shape }, tensor, state) {
  const runs = lanes.filter((run) => run[0] === state).map((run) => run.slice(1));
  if (runs[0][0] >= product(tensor.shape) && !tensor.strides) return `past the end of ${name}`;
  const offsets = shape.length > 1 || tensor.strides || runs.length > 1 ? [...new Set(expand(runs))] : expand(runs);
  const indices = offsets.map((offset) => indexOf(tensor, offset));
  const ends = [offsets.reduce((a, b) => Math.min(a, b)), offsets.reduce((a, b) => Math.max(a, b))].map((offset) => element(name, tensor, offset));
  if (indices.every(Boolean)) {
    const sides = tensor.shape.map((_, axis) => indices.map((index) => index[axis]))
      .map((numbers) => [numbers.reduce((a, b) => Math.min(a, b)), numbers.reduce((a, b) => Math.max(a, b)) + 1]);
    const full = product(sides.map(([first, end]) => end - first)) === indices.length;
    if (full && sides.filter(([first, end]) => end - first > 1).length > 1)
      return `${name}[${sides.map(([first, end]) => (end - first > 1 ? `${first}:${end}` : first)).join(",\u00a0")}]`;
    if (!full) return `${offsets.length} elements from ${ends.join(" to ")}`;
  }
  return ends[0] === ends[1] ? ends[0] : ends.join(" to ");
}

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

// Cells of one look as few rectangles; a look is a class, or undefined for a cell that shows nothing.
function rectangles(looks, columns) {
  const left = [...looks];
  const found = [];
  for (let cell = 0; cell < left.length; cell++) {
    const look = left[cell];
    if (!look) continue;
    const column = cell % columns;
    let width = 1;
    while (column + width < columns && left[cell + width] === look) width++;
    let height = 1;
    while (range(width).every((w) => left[cell + height * columns + w] === look)) height++;
    for (const h of range(height)) left.fill(undefined, cell + h * columns, cell + h * columns + width);
    found.push({ look, column, row: Math.floor(cell / columns), width, height });
  }
  return found;
}

// A block or a tensor as a sheet of cells. Rows beyond its own are drawn without its border.
function sheet(looks, columns, rows, texts) {
  const all = Math.max(rows, Math.ceil(looks.length / columns));
  const marks = rectangles(looks, columns).map(({ look, column, row, width, height }) =>
    `<i class="${look}" style="left:${(100 * column) / columns}%;top:${(100 * row) / all}%;width:${(100 * width) / columns}%;height:${(100 * height) / all}%"></i>`);
  const written = texts?.map((text, i) => text && `<b style="left:${(100 * (i % columns)) / columns}%;top:${(100 * Math.floor(i / columns)) / all}%">${text}</b>`) ?? [];
  return `<i class="sheet" style="--columns:${columns};--rows:${all}">${marks.join("")}<i class="extent" style="height:${(100 * rows) / all}%;--own:${rows}"></i>${written.join("")}</i>`;
}

class ProgramStepper extends HTMLElement {
  async connectedCallback() {
    this.still ??= [...this.childNodes];
    this.leaving = new AbortController();
    const { signal } = this.leaving;
    try {
      const answer = await fetch(new URL(this.getAttribute("src"), document.baseURI), { signal });
      if (!answer.ok) throw new Error(answer.statusText);
      this.start(await answer.json(), signal);
    } catch {
      if (!signal.aborted) this.fail();
    }
  }

  disconnectedCallback() {
    this.leaving.abort();
    clearInterval(this.timer);
  }

  fail() {
    const line = document.createElement("p");
    line.className = "stepper-note";
    line.setAttribute("role", "status");
    line.textContent = "The recording could not be loaded, so this picture stands still.";
    this.replaceChildren(...this.still, line);
  }

  start(trace, signal) {
    this.trace = trace;
    for (const event of trace.programs.flatMap((program) => program.events)) {
      event.lanes = unroll(event.lanes);
      event.runs = unroll(event.runs);
    }
    this.step = 0;
    this.number = 0;
    this.measure();
    this.innerHTML = this.frame();
    this.find = (selector) => this.querySelector(selector);
    this.addEventListener("click", (event) => this.press(event.target.closest("button")), { signal });
    this.addEventListener("change", (event) => this.choose(+event.target.value), { signal });
    this.addEventListener("keydown", (event) => this.key(event), { signal });
    this.addEventListener("keyup", (event) => this.spaceIsOurs(event) && event.preventDefault(), { signal });
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
      return { name, size, columns, rows: own + beyond };
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
    this.unit = this.most <= NUMBERED ? 1.25 : Math.min(0.8, 13 / this.most);
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

  press(button) {
    if (!button) return;
    const label = button.getAttribute("aria-label");
    if (button.dataset.program) this.choose(+button.dataset.program);
    else if (label === "Play" || label === "Pause") this.toggle();
    else this.go(label === "Restart" ? 0 : this.step + (label === "Step back" ? -1 : 1));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
    if (this.grid && event.target.dataset.program && event.key.startsWith("Arrow")) this.walk(event.target, event.key.slice(5));
    else if (event.key === "ArrowLeft") this.go(this.step - 1);
    else if (event.key === "ArrowRight") this.go(this.step + 1);
    else if (this.spaceIsOurs(event)) this.toggle();
    else return;
    event.preventDefault();
  }

  // Space presses the buttons that act; on one that chooses a program it plays, as elsewhere in the picture.
  spaceIsOurs(event) {
    return event.key === " " && !event.target.matches("select, button:not([data-program])");
  }

  choose(number) {
    this.number = number;
    this.go(this.step);
  }

  // In a grid of programs the arrows lead to the neighbors.
  walk(button, direction) {
    const [rows, columns] = this.trace.grid;
    const number = +button.dataset.program;
    const row = Math.floor(number / columns) + ({ Up: -1, Down: 1 }[direction] ?? 0);
    const column = (number % columns) + ({ Left: -1, Right: 1 }[direction] ?? 0);
    if (row < 0 || row >= rows || column < 0 || column >= columns) return;
    this.choose(row * columns + column);
    this.find(`[data-program="${this.number}"]`).focus();
  }

  go(step) {
    this.play(false);
    this.step = Math.max(0, Math.min(step, this.program.events.length - 1));
    this.draw();
  }

  toggle() {
    const start = !this.timer;
    if (start && this.step === this.program.events.length - 1) this.go(0);
    this.play(start);
  }

  play(on) {
    clearInterval(this.timer);
    this.timer = on && setInterval(() => this.advance(), PACE);
    this.find(".stepper-sentence").setAttribute("aria-live", on ? "off" : "polite");
    const button = this.find("[data-play]");
    const label = on ? "Pause" : "Play";
    button.setAttribute("aria-label", label);
    button.title = label;
    button.innerHTML = icon(label);
  }

  advance() {
    this.step++;
    if (this.step >= this.program.events.length - 1) this.play(false);
    this.draw();
  }

  // Drawing

  frame() {
    const { trace } = this;
    const button = (label, more = "") =>
      `<button type="button" aria-label="${label}" title="${label}" ${more}>${icon(label)}</button>`;
    const ids = trace.programs.map((program) => program.id.join(", "));
    const { grid } = trace;
    this.grid = grid.length === 2 && grid[0] > 1 && ids.length <= GRID && grid[1] <= 12;
    const choices = this.grid
      ? `<output></output>`
      : ids.length > CHOICES
      ? `<select aria-label="Program">${ids.map((id, i) => `<option value="${i}">${id}</option>`).join("")}</select>`
      : ids.map((id, i) => `<button type="button" data-program="${i}" aria-label="Program ${id}">${id}</button>`).join("");
    const given = Object.entries(trace.arguments).map(([name, value]) => `${safe(name)} = ${value}`);
    return `<div class="stepper" role="group" tabindex="0" aria-label="${safe(trace.kernel)}, step by step. Arrow keys step, space plays.">
      <div class="stepper-bar"><div class="choices">Program ${choices}</div><span class="stepper-count"></span>
        <code class="stepper-line" aria-hidden="true"></code><div>${button("Restart")}${button("Step back")}${button("Play", "data-play")}${button("Step forward")}</div></div>
      <div class="stepper-top"><pre class="stepper-code"><code></code></pre>${this.grid ? programGrid(ids, grid) : ""}</div>
      <p class="stepper-given"><span>${given.length ? `Launched with ${given.join(", ")}.` : ""}</span><span class="keys">Click the picture, then ← and → step, space plays</span></p>
      <p class="stepper-sentence" aria-live="polite"></p>
      <div class="stepper-picture" role="img" aria-label="The block on chip and the tensors in memory"></div></div>`;
  }

  draw() {
    const { program, step } = this;
    const event = program.events[step];
    const last = program.events.length - 1;
    this.querySelectorAll("[data-program]").forEach((button, i) => {
      button.setAttribute("aria-pressed", i === this.number);
      if (this.grid) button.tabIndex = i === this.number ? 0 : -1;
    });
    if (this.grid) this.find("output").textContent = program.id.join(", ");
    this.find("[aria-label='Step back']").setAttribute("aria-disabled", step === 0);
    this.find("[aria-label='Step forward']").setAttribute("aria-disabled", step === last);
    const rounds = new Map(program.events.slice(0, step + 1).filter((e) => e.op === "loop" && e.line < event.line && event.line <= e.until)
      .map((e) => [e.name, e.runs[0][0]]));
    const turn = [...rounds].map(([name, value]) => `, ${name} = ${value}`).join("");
    this.find(".stepper-count").textContent = `Step ${step + 1} of ${last + 1}${turn}`;
    this.find(".stepper-code code").innerHTML = this.trace.source.map((text, i) => line(text, i + 1, event)).join("");
    this.find(".stepper-line").innerHTML = marked(this.trace.source[event.line - 1].trim(), event);
    this.find(".stepper-sentence").textContent = `Program ${program.id.join(", ")} ${words(event, this.trace)}.`;
    this.find(".stepper-picture").innerHTML = this.chip(event) + this.memory(event) + this.legend();
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
    return `--unit:min(${this.unit}rem, (100cqi - 2.2rem) / ${this.widest})`;
  }

  row({ name, size, columns, rows }, row, found) {
    const percent = (n) => `${(100 * n) / this.width}%`;
    const extent = Math.max(0, Math.min(columns, size - row * columns));
    const inside = found.filter((mark) => mark.row === row).map(({ state, now, column, width }) =>
      `<i class="mark ${state}${now ? " now" : ""}" style="left:${percent(column)};width:${percent(width)}"></i>`);
    if (extent) inside.push(`<i class="extent" style="width:${percent(extent)};background-size:${100 / extent}% 100%"></i>`);
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
      has("outside") && [swatch("mark outside"), "outside the tensor"],
      undefinedLanes && ["<b>?</b>", "undefined: nothing was loaded, nothing will be stored"],
    ];
    return `<p class="legend">${entries.filter(Boolean).map(([sign, text]) => `<span>${sign}${text}</span>`).join("")}</p>`;
  }
}

const icon = (name) => `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;

const piece = (name, told, drawn, now) => `<span class="piece"><b class="name${now ? " now" : ""}">${safe(name)}</b><small>${told}</small>${drawn}</span>`;

// A grid of programs of two dimensions: axis 0 goes down, axis 1 to the right.
const programGrid = (ids, [, columns]) => `<div class="program-grid"><span>Programs: axis 0 ↓, axis 1 →</span>
  <div role="group" aria-label="Program; arrow keys choose" style="--columns:${columns}">${ids.map((id, i) =>
    `<button type="button" data-program="${i}" aria-label="Program ${id}">${id.replace(" ", "")}</button>`).join("")}</div></div>`;

function line(text, number, event) {
  if (number < event.line || number > (event.last_line ?? event.line)) return `<span class="line">${safe(text)}</span>`;
  return `<span class="line lit" aria-current="step">${marked(text, event)}</span>`;
}

function marked(text, event) {
  const part = event.text ?? event.name;
  const [before, ...after] = text.split(part);
  return after.length ? `${safe(before)}<u>${safe(part)}</u>${safe(after.join(part))}` : safe(text);
}

customElements.define("program-stepper", ProgramStepper);
