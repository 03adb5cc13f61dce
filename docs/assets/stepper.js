// <program-stepper src="trace.json">: replays a recorded execution of a kernel, statement by statement, the code beside the memory.
// It draws what the recording holds and nothing else. Where that cannot be had, its static picture stays. A recording that was made
// in the page is given to `replay`.

import { safe, product, range, lanesIn, isAccess, placeOf, element, fetched, unrolled, controls, Player } from "./recorded.js";
import { chip, everyone } from "./stepper/blocks.js";
import { memory } from "./stepper/tensors.js";
import { above, listed, rangeOf } from "./stepper/listing.js";
import { cellAt, drawCursor, moved, sameCell } from "./stepper/cursor.js";
import { known, laneWords, makers, offsetAt, touches } from "./stepper/touched.js";
import { blockName, firstShown, made, scalarName, sizeOf, words } from "./stepper/words.js";

const CELLS = 32; // up to so many lanes, each has a cell of its own
const CHOICES = 16; // up to so many programs, each has a button of its own
const GRID = 4; // and in a grid of two dimensions up to so many rows
const PACE = 1800; // milliseconds a step while playing
const TALL = 31.8; // so high, in rem, is the whole picture where code and memory stand side by side
const DIGIT = 0.235; // and so wide is a digit in a cell
const READ = 0.58; // and smaller cells show no numbers
const LINE = 88; // so many characters of a sentence stand in a line beside nothing else
const MOST = 3; // so many answers are shown at once
const underlined = globalThis.Highlight && CSS.highlights ? new Highlight() : undefined;
if (underlined) CSS.highlights.set("stepper-part", underlined);

const lines = (event) => range((event.last_line ?? event.line) - event.line + 1).map((i) => event.line + i);

class ProgramStepper extends Player {
  pace = PACE;
  number = 0;
  together = false;

  async open(signal) {
    this.trace = this.given ?? (await fetched(this.getAttribute("src"), signal));
    this.lay();
    this.listen(signal);
    const watched = new ResizeObserver(() => this.clientWidth !== this.fitted && this.fit());
    watched.observe(this);
    signal.addEventListener("abort", () => watched.disconnect());
  }

  // Everything for the recording that it has now.
  lay() {
    this.release();
    this.measure();
    this.step = this.kept === undefined ? firstShown(this.program.events) : Math.min(this.kept, this.last);
    this.innerHTML = this.frame();
    this.adopt();
    this.fit();
  }

  // Show another recording, or with nothing the first one; program and step stay where both have them. One that an error ended is
  // shown at its end.
  async replay(recording, ended = false) {
    this.given = recording && unrolled(structuredClone(recording));
    const most = ended ? Infinity : undefined;
    this.kept = most ?? (this.trace && this.step);
    this.number = Math.min(most ?? this.number, (this.given?.programs.length ?? Infinity) - 1);
    if (!this.isConnected) return;
    this.play(false);
    this.trace = this.given ?? (await fetched(this.getAttribute("src"), this.leaving.signal));
    this.number = Math.min(this.number, this.trace.programs.length - 1);
    this.whole = this.together = false;
    this.cursor = undefined;
    this.lay();
  }

  fail() {
    this.release();
    super.fail();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    if (this.lit) underlined?.delete(this.lit);
  }

  // The page's own listing, if it stands right above, is the code of this picture. A run of other lines shows its own: the page's
  // are put away meanwhile, for out there they would push the picture down, from under the reader's hand.
  adopt() {
    this.listing = above(this.closest("figure"), this.trace.source);
    this.put(!this.listing);
    this.lines = listed(this.find(".stepper-code"), this.listing, this.trace.source);
    const run = new Set(this.trace.programs.flatMap(({ events }) => events.flatMap(lines)));
    this.lines.forEach((line, i) => {
      if (!run.has(i + 1)) return;
      line.dataset.line = i + 1;
      line.setAttribute("role", "button");
    });
    this.code = this.find(".stepper-code code");
    this.find(".stepper-code").classList.toggle("own", !this.listing);
  }

  put(away) {
    for (const part of this.released ?? []) part.hidden = away;
  }

  release() {
    this.put(false);
    if (!this.listing) return;
    this.listing[0].querySelectorAll(".line").forEach((line) => {
      line.classList.remove("lit");
      for (const name of ["role", "tabindex", "aria-current", "data-line", "data-at"]) line.removeAttribute(name);
    });
    this.closest("figure").before(...this.listing);
    this.released = this.listing;
    this.listing = undefined;
  }

  // What holds for every step and program, so that nothing moves while stepping.
  measure() {
    const { trace } = this;
    const events = trace.programs.flatMap((program) => program.events);
    const names = (name) => [...new Set(events.map(name))].filter(Boolean);
    const lanes = Math.max(1, ...events.filter((event) => event.shape.length).map((event) => event.shape.at(-1)));
    const tiled = events.some((event) => event.shape.length > 1) || Object.values(trace.tensors).some((tensor) => tensor.strides);
    this.accesses = events.filter(isAccess);
    this.view = { scalars: names(scalarName), blocks: names(blockName), lanes, tiled, flat: lanes <= CELLS, room: 0 };
    this.view.tensors = Object.entries(trace.tensors).map(([name, tensor]) => this.shown(name, tensor));
    this.view.width = Math.max(lanes, ...this.view.tensors.map(({ columns }) => columns));
    const flattened = (event) => ({ columns: made(event).at(-1), rows: product(made(event).slice(0, -1)), slim: event.dtype === "int1" && made(event).length > 1, counts: /^int/.test(event.dtype) });
    this.view.sheets = new Map(this.view.blocks.map((name) => [name, flattened(events.find((event) => blockName(event) === name))]));
    this.sentence = Math.max(...trace.programs.flatMap(({ id, events: own }) => own.map((event) => `Program ${id.join(", ")} ${words(event, trace)}.`.length)));
    const named = [...this.view.blocks, ...Object.keys(trace.tensors)].map((name) => name.length);
    const pointing = tiled ? [] : Object.keys(trace.tensors).map((name) => Math.ceil(0.75 * `offset in ${name}`.length));
    this.label = Math.min(11, Math.max(...named, ...pointing));
  }

  // How a tensor is drawn: in rows of so many columns, and more rows where lanes point past its end.
  shown(name, tensor) {
    const size = sizeOf(tensor);
    const columns = tensor.shape.length > 1 || this.view.tiled ? tensor.shape.at(-1) ?? 1 : Math.min(size, this.view.lanes);
    const rows = Math.ceil(size / columns);
    const places = this.accesses.filter((event) => event.tensor === name)
      .flatMap((event) => event.lanes.flatMap(([, first, count, step]) => [first, first + (count - 1) * step]))
      .map((offset) => placeOf(tensor, offset) ?? 0);
    const past = Math.floor(places.reduce((a, b) => Math.max(a, b), 0) / columns) + 1 - rows;
    const most = this.view.tiled ? Math.max(4, Math.ceil(rows / 8)) : 1;
    return { name, size, columns, rows, beyond: Math.max(0, Math.min(past, most)) };
  }

  // Makes cells as large as the place allows, so that code and memory are seen together.
  fit() {
    const { view } = this;
    const picture = this.find(".stepper-picture");
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    this.fitted = this.clientWidth;
    const panes = this.find(".stepper-panes");
    const beside = getComputedStyle(panes).gridTemplateColumns.split(" ").length > 1;
    const sizes = view.tiled ? [...range(23).map((i) => 1.4 - 0.05 * i), 0.27, 0.24, 0.21, 0.18, 0.15] : range(14).map((i) => 1.15 - 0.05 * i);
    const fits = (size) => {
      picture.style.setProperty("--full", `${size}rem`);
      view.fine = view.tiled && size < 0.4;
      return picture.scrollWidth <= picture.clientWidth + 1 && (!beside || picture.scrollHeight <= tall);
    };
    const room = (cell) => (cell < READ * rem ? 0 : (cell - 0.5) / (DIGIT * rem));
    view.room = 0;
    view.terse = false;
    this.draw();
    const tall = TALL * rem - (this.find(".stepper").offsetHeight - panes.offsetHeight);
    panes.style.setProperty("--tall", `${tall}px`);
    const row = picture.querySelector(".row");
    if (row && view.flat) {
      view.room = room(row.clientWidth / view.width);
      this.draw();
    }
    let size = sizes.find(fits) ?? sizes.at(-1);
    if (view.tiled && size < READ) {
      for (const block of view.sheets.values()) block.slim ||= block.counts; // numbers of rows and columns give way to the data
      this.draw();
      size = sizes.find(fits);
      if (!size) {
        view.terse = true; // so do the strides of tensors whose rows lie one after another
        this.draw();
        size = sizes.find(fits) ?? sizes.at(-1);
      }
    }
    panes.style.setProperty("--code", `${Math.max(tall, picture.offsetHeight)}px`);
    if (view.tiled) view.room = room(size * rem);
    const code = this.find(".stepper-code");
    code.classList.remove("folded");
    code.classList.toggle("folded", !this.whole && this.code.scrollHeight > this.code.clientHeight + 4);
    const more = this.find("[data-whole]");
    more.hidden = !this.whole && !(code.matches(".folded") && this.code.querySelector(".other"));
    this.draw();
  }

  // Acting

  get program() {
    return this.trace.programs[this.number];
  }

  get last() {
    return Math.max(...(this.together ? this.trace.programs : [this.program]).map(({ events }) => events.length)) - 1;
  }

  // Where it plays on its own, the next program follows.
  get follows() {
    return this.hasAttribute("plays") && !this.together && this.number < this.trace.programs.length - 1;
  }

  next() {
    this.number++;
    this.step = 0;
  }

  pick(number) {
    const changed = this.together;
    this.together = false;
    this.number = number;
    if (changed) this.fit();
    this.go(this.step);
  }

  press(pressed, event) {
    if (pressed?.dataset.touch) return this.show(this.answers[+pressed.dataset.touch]);
    if (pressed?.dataset.together !== undefined) return this.join(!this.together);
    if (pressed?.dataset.whole !== undefined) return this.unfold();
    if (pressed) return super.press(pressed);
    const line = event.target.closest("[data-line]");
    if (line) return this.toLine(+line.dataset.line);
    const cell = event.target.closest(".stepper-picture") && cellAt(event.target, event);
    if (cell) this.ask(cell, true);
  }

  join(together) {
    this.together = together;
    this.cursor = undefined;
    this.step = Math.min(this.step, this.last);
    this.untouched = false;
    this.fit();
  }

  unfold() {
    this.whole = !this.whole;
    this.find(".stepper-code").classList.toggle("whole", this.whole);
    this.find("[data-whole]").textContent = this.whole ? "Only the kernel" : "The whole listing";
    this.fit();
  }

  // To the next step of a line: of this program, or of one that runs it.
  toLine(number) {
    const steps = ({ events }) => events.flatMap((event, step) => (lines(event).includes(number) ? [step] : []));
    const { program, step } = this;
    const runs = steps(program).length ? this.number : this.trace.programs.findIndex((other) => steps(other).length);
    const found = steps(this.trace.programs[runs]);
    const here = runs === this.number && found.includes(step);
    this.show({ program: runs, step: found.find((other) => (here ? other > step : other >= step)) ?? found[0] });
  }

  show({ program, step }) {
    if (!this.together) this.number = program;
    this.go(step);
  }

  // Which line touched this? The answer, and where it is asked for, a jump there: to the next such step if asked again. Without a
  // cursor nothing is chosen any more.
  ask(cursor, jump) {
    const again = sameCell(this.cursor, cursor);
    this.cursor = cursor;
    const found = jump && cursor ? this.touching(cursor) : [];
    if (!found.length) return this.draw();
    const here = found.findIndex((touch) => this.isNow(touch));
    const own = (touch) => this.together || touch.program === this.number;
    const best = found.findLast((touch) => own(touch) && touch.step <= this.step) ?? found.find(own) ?? found[0];
    this.show(again && here >= 0 ? found[(here + 1) % found.length] : best);
  }

  isNow({ program, step }) {
    return step === this.step && (this.together || program === this.number);
  }

  touching({ kind, name, cell }) {
    if (kind === "block") return makers(this.program, name, this.step).found.map((maker) => ({ ...maker, program: this.number }));
    const { on, masked } = touches(this.trace, name, offsetAt(this.trace.tensors[name], cell));
    return on.length ? on : masked.map((touch) => ({ ...touch, off: true }));
  }

  // Arrows choose among neighbors: in a grid of programs, among the cells of the picture, among the lines of the code. Escape puts a
  // chosen cell away.
  steered({ target, key }) {
    const arrow = key.startsWith("Arrow");
    if (target.matches(".stepper-picture")) {
      if (arrow) this.ask(moved(target, this.cursor, key) ?? this.cursor);
      else if (key === "Enter" && this.cursor) this.ask(this.cursor, true);
      else if (key === "Escape" && this.cursor) this.ask(undefined);
      else return false;
      return true;
    }
    if (target.dataset.line) return this.alongLines(target, key);
    if (!this.grid || target.dataset.pick === undefined || !arrow) return false;
    const [rows, columns] = this.trace.grid;
    const row = Math.floor(this.number / columns) + ({ ArrowUp: -1, ArrowDown: 1 }[key] ?? 0);
    const column = (this.number % columns) + ({ ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0);
    if (row < 0 || row >= rows || column < 0 || column >= columns) return true;
    this.pick(row * columns + column);
    this.find(`.choices [data-pick="${this.number}"]`).focus();
    return true;
  }

  alongLines(target, key) {
    if (key === "Enter" || key === " ") this.toLine(+target.dataset.line);
    else if (key !== "ArrowUp" && key !== "ArrowDown") return false;
    const all = this.lines.filter((line) => line.dataset.line);
    const next = key.startsWith("Arrow") ? all[all.indexOf(target) + (key === "ArrowUp" ? -1 : 1)] : target;
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
    return true;
  }

  // Drawing

  frame() {
    const { trace } = this;
    const { grid } = trace;
    const ids = trace.programs.map((program) => program.id.join(", "));
    this.grid = grid.length === 2 && grid[0] > 1 && grid[0] <= GRID && grid[1] <= 12 && ids.length === grid[0] * grid[1];
    const button = (id, i) => `<button type="button" data-pick="${i}" aria-label="Program ${id}">${this.grid ? id.replace(" ", "") : id}</button>`;
    const choices = this.grid
      ? `<div class="program-grid" role="group" aria-label="Program; arrow keys choose. Axis 0 goes down, axis 1 to the right." style="--columns:${grid[1]}">${ids.map(button).join("")}</div>`
      : ids.length > CHOICES
      ? `<select data-choice aria-label="Program">${ids.map((id, i) => `<option value="${i}">${id}</option>`).join("")}</select>`
      : ids.map(button).join("");
    const given = Object.entries(trace.arguments).map(([name, value]) => `${safe(name)} = ${value}`);
    const together = ids.length > 1 && ids.length <= CHOICES ? `<button type="button" data-together>All at once</button>` : "";
    return `<div class="stepper" role="group" tabindex="0" style="--chars:${this.label + 1};--width:${this.view.flat ? this.view.width : 999};--share:${this.view.lanes / this.view.width}" aria-label="${safe(trace.kernel)}, step by step. Arrow keys step, Home and End go to the first and the last step, space plays.">
      <div class="stepper-bar${this.grid ? " tall" : ""}"><div class="choices"><span>Program</span> ${choices}${together}</div>
        <span class="stepper-given">${given.length ? `Launched with ${given.join(", ")}` : ""}</span>
        ${controls("Step")}<code class="stepper-line" aria-hidden="true"></code></div>
      <p class="stepper-sentence${this.sentence > LINE ? " long" : ""}" aria-live="polite"></p>
      <div class="stepper-panes">
        <div class="stepper-left"><div class="stepper-code" role="group" aria-label="The kernel. Up and down choose a line, Enter goes to its step."></div>
          <button type="button" data-whole hidden>The whole listing</button></div>
        <div class="stepper-picture" tabindex="0" role="application" aria-label="The picture. Arrow keys choose a lane or an element, Enter goes to the step that touched it."></div>
      </div>
      <div class="stepper-foot"><div class="stepper-answer" aria-live="polite"></div><div class="legends"></div></div></div>`;
  }

  draw() {
    const { trace, program, step, last, together } = this;
    const event = program.events[Math.min(step, program.events.length - 1)];
    this.drawChoices();
    const rounds = new Map(program.events.slice(0, step + 1).filter((e) => e.op === "loop" && e.line < event.line && event.line <= e.until)
      .map((e) => [e.name, e.runs[0][0]]));
    const turn = together ? "" : [...rounds].map(([name, value]) => `, ${name} = ${value}`).join("");
    const count = `Step ${step + 1} of ${last + 1}${turn}`;
    this.find(".stepper-count").textContent = count;
    this.mark(together ? undefined : this.number, count);
    this.find(".stepper-line").textContent = trace.source[event.line - 1].trim();
    this.find(".stepper-sentence").textContent = together
      ? `All ${trace.programs.length} programs in step. On a GPU they run in any order, each at its own pace.`
      : `Program ${program.id.join(", ")} ${words(event, trace)}.`;
    this.drawCode(together ? trace.programs.map(({ events }) => events[step]) : [event]);
    const picture = this.find(".stepper-picture");
    picture.innerHTML = (together ? everyone(trace, step) : chip(this.view, program, step, this.dataset.registers)) + memory(this.view, this);
    drawCursor(picture, this.cursor);
    this.drawAnswer();
    this.drawLegend();
  }

  drawChoices() {
    const { together } = this;
    this.find("[data-together]")?.setAttribute("aria-pressed", together);
    const select = this.find("[data-choice]");
    if (select) select.value = this.number;
    if (this.grid) this.querySelectorAll(".choices [data-pick]").forEach((button, i) => (button.tabIndex = i === this.number ? 0 : -1));
  }

  // The lines of this step are lit; with all programs together each line says who is there.
  drawCode(events) {
    const focused = document.activeElement;
    const there = new Map();
    events.forEach((event, number) => event && lines(event).forEach((line) => there.set(line, [...(there.get(line) ?? []), number])));
    const first = Math.min(...there.keys());
    this.lines.forEach((line, i) => {
      const lit = there.has(i + 1);
      line.classList.toggle("lit", lit);
      lit ? line.setAttribute("aria-current", "step") : line.removeAttribute("aria-current");
      if (line.dataset.line) line.tabIndex = i + 1 === first || line === focused ? 0 : -1;
      if (this.together && lit) line.dataset.at = there.get(i + 1).map((number) => this.trace.programs[number].id.join(",")).join(" ");
      else delete line.dataset.at;
    });
    const lit = this.lines[first - 1];
    if (underlined) {
      if (this.lit) underlined.delete(this.lit);
      this.lit = this.together ? undefined : rangeOf(lit, events[0].text ?? events[0].name);
      if (this.lit) underlined.add(this.lit);
    }
    if (this.code.scrollHeight <= this.code.clientHeight) return;
    const [window, box] = [this.code, lit].map((found) => found.getBoundingClientRect());
    this.code.scrollTop += box.top - window.top - (window.height - box.height) / 2;
  }

  drawAnswer() {
    const place = this.find(".stepper-answer");
    const answer = this.cursor ? this.answer(this.cursor) : `<span class="keys">Click a lane, an element or a line of code: which step touched it? ← and → step, space plays.</span>`;
    if (place.answered !== answer) place.innerHTML = place.answered = answer;
  }

  answer(cursor) {
    const { kind, name, cell } = cursor;
    const { trace, program, step } = this;
    this.answers = this.touching(cursor);
    const now = kind === "block" && makers(program, name, step).now;
    let said = kind === "block" ? `<b>${safe(name)}</b>, lane ${cell}: ${now ? laneWords(trace, now.event, name, cell) : "not set yet"}` : this.elementWords(name, cell);
    if (kind === "tensor" && !this.answers.length) said += ". No program touches it";
    const at = this.answers.findIndex((touch) => this.isNow(touch));
    const from = Math.max(0, Math.min(at, this.answers.length - MOST));
    const rows = this.answers.slice(from, from + MOST).map((touch, i) => this.touchRow(touch, from + i, kind));
    const more = this.answers.length - rows.length;
    return `<p>${said}.${more > 0 ? ` <small>${this.answers.length} steps in all</small>` : ""}</p>${rows.join("")}`;
  }

  elementWords(name, cell) {
    const tensor = this.trace.tensors[name];
    const offset = offsetAt(tensor, cell);
    const done = this.together ? this.trace.programs.flatMap(({ events }) => events.slice(0, this.step + 1)) : this.program.events.slice(0, this.step + 1);
    const value = known(this.trace, name, done).get(offset);
    return `<b>${safe(element(name, tensor, offset))}</b>${value === undefined ? "" : ` = ${value}`}${cell >= sizeOf(tensor) ? ", past the end" : ""}`;
  }

  touchRow({ program, step, event, off }, number, kind) {
    const { id } = this.trace.programs[program];
    const does = kind === "block" ? "" : off ? "masked off: " : "";
    const code = lines(event).map((line) => this.trace.source[line - 1].trim()).join(" ");
    const now = this.isNow({ program, step }) ? ' aria-current="step"' : "";
    return `<div class="touch"><button type="button" data-touch="${number}"${now}>Program ${id.join(", ")}, step ${step + 1}</button> ${does}<code>${safe(code)}</code></div>`;
  }

  drawLegend() {
    const { accesses, together, view } = this;
    const has = (state) => accesses.some((event) => lanesIn(event, state));
    const undefinedLanes = accesses.some((event) => event.op === "load" && event.values?.includes("?"));
    const swatch = (classes, style = "") => `<i class="${classes}" style="${style}"></i>`;
    const entries = together
      ? [
          [swatch("mark tint now", "--n:0;--m:0"), "this step, in the program’s color"],
          [swatch("mark tint", "--n:0;--m:0"), "earlier"],
          [swatch("mark tint", "--n:0;--m:1"), "two programs"],
          this.trace.programs.length > 2 && [swatch("mark tint many", "--n:0;--m:1"), "three or more"],
        ]
      : [
          view.blocks.length > 0 && [swatch("cell on now"), "on chip, this step"],
          [swatch("mark on now"), "in memory, this step"],
          [swatch("cell on") + swatch("mark on"), "earlier"],
          has("masked") && [swatch("mark masked"), "masked off, not touched"],
          view.tensors.some(({ beyond }) => beyond) && [swatch("beyond"), "past the tensor’s end"],
          has("outside") && [swatch("mark outside"), "outside the tensor"],
          undefinedLanes && ["<b>?</b>", "undefined: nothing was loaded, nothing will be stored"],
        ];
    const kept = this.dataset.registers ?? this.dataset.kept;
    if (kept && !together) entries.push(["", `on chip: ${safe(kept)}`]);
    const drawn = `<p class="legend">${entries.filter(Boolean).map(([sign, text]) => `<span>${sign}${text}</span>`).join("")}</p>`;
    const place = this.find(".legends");
    if (place.drawn !== drawn) place.innerHTML = place.drawn = drawn;
  }
}

customElements.define("program-stepper", ProgramStepper);
