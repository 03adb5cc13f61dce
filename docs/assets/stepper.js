// <program-stepper src="trace.json">: replays a recorded execution of a kernel, statement by statement.
// It draws what the recording holds and nothing else. Where that cannot be had, its static picture stays.

const CELLS = 32; // up to so many lanes, each has a cell of its own
const CHOICES = 16; // up to so many programs, each has a button of its own
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
const isAccess = (event) => event.op === "load" || event.op === "store";
const scalarName = (event) => (REDUCES[event.op] ? event.text ?? event.op : event.shape.length ? undefined : event.name ?? event.into);
const blockName = (event) => (event.shape.length && !REDUCES[event.op] ? event.name ?? event.into : undefined);

function short(text) {
  const size = Math.abs(text);
  if (size < 0.001 && size > 0) text = (+text).toExponential(0);
  else if (size < 1) text = String(+(+text).toFixed(3));
  return text.replace("-", "−").replace("inf", "∞");
}

const single = (event) => (event.values && !event.values.includes(" ") ? short(event.values) : undefined);

// Words

function element(name, shape, offset) {
  const indices = [];
  for (const size of shape.slice(1).reverse()) {
    indices.unshift(offset % size);
    offset = Math.floor(offset / size);
  }
  return `${name}[${[offset, ...indices].join(",\u00a0")}]`;
}

function span({ lanes, tensor }, shape, state) {
  const runs = lanes.filter((run) => run[0] === state);
  const [, first, count, step] = runs.at(-1);
  if (runs[0][1] >= product(shape)) return `past the end of ${tensor}`;
  const ends = [runs[0][1], first + (count - 1) * step].map((offset) => element(tensor, shape, offset));
  return ends[0] === ends[1] ? ends[0] : ends.join(" to ");
}

function accessWords(event, shape) {
  const [on, masked, outside] = ["on", "masked", "outside"].map((state) => lanesIn(event, state));
  let words = `${event.op}s ${on ? span(event, shape, "on") : "nothing"}`;
  if (event.into && event.into !== event.tensor) words += ` into ${event.into}`;
  if (masked) {
    const where = span(event, shape, "masked");
    words += masked === 1 ? "; 1 lane is masked off (it points" : `; ${masked} lanes are masked off (they point`;
    words += `${where.startsWith("past") ? "" : " at"} ${where})${event.other ? ` and filled with ${short(event.other)}` : ""}`;
  }
  return outside ? `${words}; ${outside} ${outside === 1 ? "lane points" : "lanes point"} outside ${event.tensor}` : words;
}

function words(event, tensors) {
  const { op, name, shape } = event;
  const lanes = `its ${shape.join(" by ")} lanes`;
  const block = event.runs && expand(event.runs);
  if (isAccess(event)) return accessWords(event, tensors[event.tensor].shape);
  if (REDUCES[op]) return `${REDUCES[op]} ${lanes}${single(event) ? `: ${single(event)}` : ""}`;
  if (op === "program_id") return `asks for its number: ${name} = ${block[0]}`;
  if (event.lanes) return `works out ${name}, which points into ${event.tensor}`;
  const value = block?.[0] ?? single(event);
  if (!shape.length) return `sets ${name}${value === undefined ? "" : ` to ${value}`}`;
  if (event.adds) return `adds ${event.adds.join(" and ")} lane by lane into ${name}`;
  if (!block) return `works out ${name} in each of ${lanes}`;
  if (event.dtype !== "int1") return `works out ${name}, a number for each lane: ${Math.min(...block)} to ${Math.max(...block)}`;
  const on = block.filter(Boolean).length;
  return `works out ${name}: true in ${on} ${on === 1 ? "lane" : "lanes"}, false in ${block.length - on}`;
}

// Lanes, each as [state, text]

function content(event) {
  const values = event.values?.split(" ").map(short) ?? [];
  if (event.lanes) return offsets(event).map(([state], i) => [state, values[i] ?? ""]);
  if (event.dtype === "int1") return expand(event.runs).map((on) => (on ? ["on", "true"] : ["masked", "false"]));
  if (event.runs) return expand(event.runs).map((number) => ["on", String(number)]);
  return range(product(event.shape)).map((i) => [values[i] === "?" ? "masked" : "on", values[i]]);
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
    this.flat = this.lanes <= CELLS && events.every((event) => event.shape.length < 2);
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
    if (event.key === "ArrowLeft") this.go(this.step - 1);
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
    const choices = ids.length > CHOICES
      ? `<select aria-label="Program">${ids.map((id, i) => `<option value="${i}">${id}</option>`).join("")}</select>`
      : ids.map((id, i) => `<button type="button" data-program="${i}" aria-label="Program ${id}">${id}</button>`).join("");
    const given = Object.entries(trace.arguments).map(([name, value]) => `${safe(name)} = ${value}`);
    return `<div class="stepper" role="group" tabindex="0" aria-label="${safe(trace.kernel)}, step by step. Arrow keys step, space plays.">
      <div class="stepper-bar"><div class="choices">Program ${choices}</div><span class="stepper-count"></span>
        <code class="stepper-line" aria-hidden="true"></code><div>${button("Restart")}${button("Step back")}${button("Play", "data-play")}${button("Step forward")}</div></div>
      <pre class="stepper-code"><code></code></pre>
      <p class="stepper-given"><span>Launched with ${given.join(", ")}.</span><span class="keys">Click the picture, then ← and → step, space plays</span></p>
      <p class="stepper-sentence" aria-live="polite"></p>
      <div class="stepper-picture" role="img" aria-label="The block on chip and the tensors in memory"></div></div>`;
  }

  draw() {
    const { program, step } = this;
    const event = program.events[step];
    const last = program.events.length - 1;
    this.querySelectorAll("[data-program]").forEach((button, i) => button.setAttribute("aria-pressed", i === this.number));
    this.find("[aria-label='Step back']").setAttribute("aria-disabled", step === 0);
    this.find("[aria-label='Step forward']").setAttribute("aria-disabled", step === last);
    this.find(".stepper-count").textContent = `Step ${step + 1} of ${last + 1}`;
    this.find(".stepper-code code").innerHTML = this.trace.source.map((text, i) => line(text, i + 1, event)).join("");
    this.find(".stepper-line").innerHTML = marked(this.trace.source[event.line - 1].trim(), event);
    this.find(".stepper-sentence").textContent = `Program ${program.id.join(", ")} ${words(event, this.trace.tensors)}.`;
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
    const rows = this.blocks.map((name) => {
      const e = latest(blockName, name);
      return this.strips(safe(name), e && content(e), e === event);
    });
    const pointing = event.shape.length > 0 && isAccess(event);
    const id = this.program.id.join(", ");
    const blocks = this.blocks.length === 1 ? "block" : "blocks";
    return `<p class="where">On chip: the ${blocks} of program ${id}</p>
      <div class="scalars">${scalars.join("")}</div>
      <div class="block ${this.flat ? "cells" : ""}" style="--lanes:${this.lanes};--share:${this.lanes / this.width}">
        ${this.strips("<em>lane</em>", range(this.lanes).map((i) => ["axis", String(i)]))}${rows.join("")}
        <div class="offsets${pointing ? "" : " unused"}">${this.strips(`<em>offset in ${safe(event.tensor ?? "")}</em>`, pointing && offsets(event), pointing)}</div></div>`;
  }

  strips(label, lanes, now) {
    const all = lanes || Array(this.lanes).fill(["none", ""]);
    const lit = now ? " now" : "";
    const name = `<span class="name${lit}">${label}</span>`;
    if (this.flat) return name + all.map(([state, text]) => `<i class="cell ${state}${lit}"><b>${text}</b></i>`).join("");
    const rows = range(all.length / this.lanes).map((i) => segments(all.slice(i * this.lanes, (i + 1) * this.lanes)).join(""));
    return `${name}<div>${rows.map((row) => `<div class="strip${lit}">${row}</div>`).join("")}</div>`;
  }

  memory(event) {
    const touched = this.program.events.slice(0, this.step + 1).filter(isAccess);
    const drawn = this.tensors.map((tensor) => {
      const found = touched.filter((e) => e.tensor === tensor.name).flatMap((e) =>
        marks(e.lanes, tensor.columns).filter((mark) => e === event || mark.state === "on").map((mark) => ({ ...mark, now: e === event })));
      return `<div class="tensor">${range(tensor.rows).map((row) => this.row(tensor, row, found)).join("")}</div>`;
    });
    return `<p class="where memory">In memory<small>Each row begins at the offset beside it.</small></p>${drawn.join("")}`;
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
