// What the widgets that replay recordings share: reading runs, naming elements, drawing sheets of cells.

const ICONS = {
  Restart: "M4.5 3v4h4M4.8 7a5 5 0 1 1-.6 3.6",
  "Step back": "M10 3 5 8l5 5",
  Play: "M5 3v10l8-5z",
  Pause: "M5.5 3v10M10.5 3v10",
  "Step forward": "m6 3 5 5-5 5",
};

export const safe = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
export const product = (shape) => shape.reduce((a, b) => a * b, 1);
export const range = (n) => [...Array(n).keys()];
export const expand = (runs) => runs.flatMap(([first, count, step]) => range(count).map((i) => first + i * step));
export const lanesIn = (event, state) => event.lanes.reduce((sum, run) => sum + (run[0] === state ? run[2] : 0), 0);
export const isAccess = (event) => /^(load|store|atomic)/.test(event.op);

// Rows of a block that repeat with a constant shift are coded once, see scripts/recording/recorder.py.
export const unroll = (coded) => coded?.flatMap((item) => Array.isArray(item[2])
  ? range(item[0]).flatMap((turn) => item[2].map((run) => run.with(-3, run.at(-3) + turn * item[1])))
  : [item]);

export const stridesOf = ({ shape, strides }) => strides ?? shape.map((_, axis) => product(shape.slice(axis + 1)));

// The indices of the element at an offset; undefined where the tensor has none.
export function indexOf(tensor, offset) {
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
export function placeOf(tensor, offset) {
  const index = indexOf(tensor, offset);
  if (index) return index.reduce((number, i, axis) => number * tensor.shape[axis] + i, 0);
  return !tensor.strides && offset >= product(tensor.shape) ? offset : undefined;
}

export function element(name, tensor, offset) {
  const index = indexOf(tensor, offset);
  return index ? `${name}[${index.join(",\u00a0")}]` : `${name} ${offset < 0 ? "−" : "+"} ${Math.abs(offset)}`;
}

// Which elements the lanes of one state point at: x[3], x[0] to x[9], or the tile x[0:4, 8:12].
export function part({ lanes, tensor: name }, tensor, state) {
  const runs = lanes.filter((run) => run[0] === state).map((run) => run.slice(1));
  if (runs[0][0] >= product(tensor.shape) && !tensor.strides) return `past the end of ${name}`;
  const offsets = [...new Set(expand(runs))];
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

// Cells of one look as few rectangles; a look is a class, or undefined for a cell that shows nothing.
export function rectangles(looks, columns) {
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

// A block or a tensor as a sheet of cells. Rows beyond its own, where lanes past its end point, stand below its border.
// What follows a "|" in a look is its style.
export function sheet(looks, columns, rows, texts, cells = "") {
  const all = Math.max(rows, Math.ceil(looks.length / columns));
  const marks = rectangles(looks, columns).map(({ look, column, row, width, height }) => {
    const [classes, style = ""] = look.split("|");
    return `<i class="${classes}" style="left:${(100 * column) / columns}%;top:${(100 * row) / all}%;width:${(100 * width) / columns}%;height:${(100 * height) / all}%;${style}"></i>`;
  });
  const written = texts?.map((text, i) => text && `<b${looks[i]?.includes("outside") ? ' class="outside"' : ""} style="left:${(100 * (i % columns)) / columns}%;top:${(100 * Math.floor(i / columns)) / all}%">${text}</b>`) ?? [];
  const beyond = all > rows ? `<i class="beyond" style="top:${(100 * rows) / all}%"></i>` : "";
  return `<i class="sheet" style="--columns:${columns};--rows:${all}"${cells && ` ${cells.replace(/data-rows="\d+"/, `data-rows="${all}"`)}`}>${beyond}${marks.join("")}<i class="extent" style="height:${(100 * rows) / all}%;--own:${rows}"></i>${written.join("")}</i>`;
}

export const piece = (name, told, drawn, now, more = "") => `<span class="piece ${more}"><b class="name${now ? " now" : ""}">${safe(name)}</b><small>${told}</small>${drawn}</span>`;

export const icon = (name) => `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;

export async function fetched(address, signal) {
  const answer = await fetch(new URL(address, document.baseURI), { signal });
  if (!answer.ok) throw new Error(answer.statusText);
  return unrolled(await answer.json());
}

export function unrolled(trace) {
  for (const event of trace.programs.flatMap((program) => program.events)) {
    event.lanes = unroll(event.lanes);
    event.runs = unroll(event.runs);
  }
  return trace;
}

const SPEEDS = [0.5, 1, 2, 4];
export const button = (label, more = "") => `<button type="button" aria-label="${label}" title="${label}" ${more}>${icon(label)}</button>`;

// The row that moves through time: buttons, a slider over the steps, the count, the speed of playing.
export const controls = (what) => `<div class="player"><div>${button("Restart")}${button("Step back")}${button("Play", "data-play")}${button("Step forward")}</div>
  <input type="range" class="scrub" min="0" value="0" aria-label="${what}"><span class="stepper-count"></span>
  <select class="speed" aria-label="Speed of playing">${SPEEDS.map((speed) => `<option value="${speed}"${speed === 1 ? " selected" : ""}>${speed}×</option>`).join("")}</select></div>`;

// An element that steps through something: `open` loads and shows it, `last` is the number of the last step, `pace` the
// milliseconds a step while playing, `draw` shows the step, `pick` is told which other button or option was chosen.
// Playing from the frame it opened on begins at the beginning.
export class Player extends HTMLElement {
  step = 0;
  speed = 1;

  async connectedCallback() {
    this.still ??= [...this.childNodes];
    this.leaving = new AbortController();
    const { signal } = this.leaving;
    try {
      await this.open(signal);
      this.untouched = true;
      if (this.hasAttribute("plays")) this.begin();
    } catch {
      if (!signal.aborted) this.fail();
    }
  }

  disconnectedCallback() {
    this.leaving.abort();
    clearInterval(this.timer);
  }

  fail() {
    this.replaceChildren(...this.still);
    this.note("The recording could not be loaded, so this picture stands still.");
  }

  note(text) {
    this.find(".stepper-note")?.remove();
    const line = document.createElement("p");
    line.className = "stepper-note";
    line.setAttribute("role", "status");
    line.textContent = text;
    this.append(line);
  }

  find(selector) {
    return this.querySelector(selector);
  }

  // Plays once on its own, where the reader has nothing against motion and has not taken over.
  begin() {
    if (this.untouched && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.play(true);
  }

  listen(signal) {
    const on = (kind, act) => this.addEventListener(kind, act, { signal });
    on("click", (event) => this.press(event.target.closest("button"), event));
    on("input", ({ target }) => target.matches(".scrub") && this.go(+target.value));
    on("change", ({ target }) => (target.matches(".speed") ? this.hurry(+target.value) : target.matches("[data-choice]") && this.pick(+target.value)));
    on("keydown", (event) => this.key(event));
    on("keyup", (event) => this.spaceIsOurs(event) && event.preventDefault());
  }

  press(pressed) {
    const label = pressed?.getAttribute("aria-label");
    if (!pressed) return;
    if (pressed.dataset.pick) this.pick(+pressed.dataset.pick);
    else if (pressed.dataset.play !== undefined) this.toggle();
    else if (label === "Restart") this.go(0);
    else if (label === "Step back") this.go(this.step - 1);
    else if (label === "Step forward") this.go(this.step + 1);
  }

  key(event) {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("select, .scroll")) return;
    if (target.matches(".scrub") && key !== " ") return; // a slider knows its keys
    if (this.steered?.(event)) event.preventDefault();
    else if (key === "ArrowLeft") this.go(this.step - 1);
    else if (key === "ArrowRight") this.go(this.step + 1);
    else if (key === "Home") this.go(0);
    else if (key === "End") this.go(this.last);
    else if (this.spaceIsOurs(event)) this.toggle();
    else return;
    event.preventDefault();
  }

  // Space presses a button, as everywhere. On the choice already made, where it would do nothing, it plays as elsewhere in the picture.
  spaceIsOurs(event) {
    return event.key === " " && !event.target.closest("select, .scroll, [role=button], button:not([aria-pressed=true])");
  }

  go(step) {
    this.play(false);
    this.untouched = false;
    this.step = Math.max(0, Math.min(step, this.last));
    this.draw();
  }

  toggle() {
    const start = !this.timer;
    if (start && (this.step === this.last || this.untouched)) this.go(0);
    this.untouched = false;
    this.play(start);
  }

  hurry(speed) {
    this.speed = speed;
    if (this.timer) this.play(true);
  }

  play(on) {
    clearInterval(this.timer);
    this.timer = on && setInterval(() => this.advance(), this.pace / this.speed);
    this.find(".stepper-sentence").setAttribute("aria-live", on ? "off" : "polite");
    const label = on ? "Pause" : "Play";
    const played = this.find("[data-play]");
    played.setAttribute("aria-label", label);
    played.title = label;
    played.innerHTML = icon(label);
  }

  advance() {
    if (this.step < this.last) this.step++;
    else this.next();
    if (this.step >= this.last && !this.follows) this.play(false);
    this.draw();
  }

  // What every kind of picture says of the step it shows.
  mark(chosen, words) {
    this.querySelectorAll("[data-pick]").forEach((choice) => choice.setAttribute("aria-pressed", +choice.dataset.pick === chosen));
    this.find("[aria-label='Step back']").setAttribute("aria-disabled", this.step === 0);
    this.find("[aria-label='Step forward']").setAttribute("aria-disabled", this.step === this.last);
    const scrub = this.find(".scrub");
    scrub.max = this.last;
    scrub.value = this.step;
    scrub.style.setProperty("--done", `${this.last ? (100 * this.step) / this.last : 0}%`);
    scrub.setAttribute("aria-valuetext", words);
  }
}
