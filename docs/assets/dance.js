// <memory-dance>: blocks travelling between memory and chip, as recorded runs with blocks of several sizes say.
//
// A page writes  --8<-- "docs/generated/dances/add.html"  (or matmul.html). scripts/prepare.py makes that piece from the
// traces of scripts/recording/cases/dances.py and, where a GPU has measured snippets/memory/trips.py and tiled_matmul.py, their
// times. Without scripts it is a still picture and the ledger; with them the picture moves and the ledger stays.
// Trips and bytes are counted here from the recorded events, never from the ledger.

import { safe, product, lanesIn, isAccess, placeOf, part, piece, fetched, controls, Player } from "./recorded.js";

const TRAVEL = 450; // milliseconds a block is on its way, at most
const SLOWEST = 1100; // milliseconds a trip while playing
const FASTEST = 50;
const WHOLE = 24000; // milliseconds a whole run may take, where that is not too fast to see

const sizeOf = (dtype) => parseInt(dtype.match(/\d+/)[0], 10) / 8;
const words = (number) => number.toLocaleString("en-US");
const isFloat = (dtype) => /^b?f/.test(dtype ?? "");

// The block of floating-point numbers that an event gives a name to: [name, shape, bytes a number].
function named(event, tensors) {
  const dtype = event.op === "load" ? tensors[event.tensor].dtype : event.dtype;
  const name = event.name ?? event.into;
  const makes = name && event.shape.length && ["load", "set", "dot"].includes(event.op) && isFloat(dtype);
  return makes ? [name, event.shape, sizeOf(dtype)] : undefined;
}

const flat = (shape) => ({ columns: shape.at(-1), rows: product(shape.slice(0, -1)) });

// Where an access lies in a tensor drawn in rows: its rows of neighbors, those that stand one above the other as one.
function places(event, tensor) {
  const { columns } = flat(tensor.shape);
  const found = [];
  for (const [state, first, count] of event.lanes) {
    if (state !== "on") continue;
    const place = placeOf(tensor, first);
    const next = { column: place % columns, row: Math.floor(place / columns), width: count, height: 1 };
    const above = found.at(-1);
    if (above?.column === next.column && above.width === next.width && above.row + above.height === next.row) above.height++;
    else found.push(next);
  }
  return found;
}

class MemoryDance extends Player {
  async open(signal) {
    this.signal = signal;
    this.replaceChildren(...this.still);
    this.runs = JSON.parse(this.dataset.runs);
    this.ledger = this.find(".dance-ledger");
    this.run = await this.fetchRun(this.runs.findIndex(({ block }) => String(block) === this.dataset.opens));
    const stage = this.find(".dance-stage");
    this.find(".still").replaceWith(this.frame());
    this.find(".dance-stage").style = stage.getAttribute("style");
    this.find(".dance-stage").className = stage.className;
    this.listen(signal);
    this.show();
    const seen = new IntersectionObserver(([entry]) => {
      if (!entry.isIntersecting) return;
      seen.disconnect();
      this.begin();
    }, { threshold: 0.6 });
    seen.observe(this.find(".dance"));
    signal.addEventListener("abort", () => seen.disconnect());
  }

  async fetchRun(number) {
    const known = this.runs[number];
    known.number = number;
    known.trace ??= await fetched(known.src, this.signal);
    known.trips ??= known.trace.programs.flatMap((program) =>
      program.events.flatMap((event, index) => (isAccess(event) ? [this.trip(known.trace, program, event, index)] : [])));
    return known;
  }

  trip({ tensors }, program, event, index) {
    const tensor = tensors[event.tensor];
    return { program, event, index, bytes: lanesIn(event, "on") * sizeOf(tensor.dtype), places: places(event, tensor) };
  }

  get last() {
    return this.run.trips.length;
  }

  get pace() {
    return Math.max(FASTEST, Math.min(SLOWEST, WHOLE / this.last));
  }

  async pick(number) {
    this.play(false);
    this.wanted = number;
    try {
      const run = await this.fetchRun(number);
      if (this.wanted !== number) return;
      this.run = run;
      this.untouched = false;
      this.find(".stepper-note")?.remove();
      this.show();
    } catch {
      if (!this.signal.aborted) this.note(`The recording for ${this.runs[number].block} could not be loaded. The picture stays as it was.`);
    }
  }

  // A run opens on the moment before its first store, when a program has all on chip that it needs.
  show() {
    const { programs, tensors } = this.run.trace;
    this.step = this.run.trips.findIndex(({ event }) => event.op !== "load");
    this.blocks = new Map(programs[0].events.map((event) => named(event, tensors)).filter(Boolean));
    this.ledger.querySelectorAll("[data-block]").forEach((row) => row.classList.toggle("lit", row.dataset.block === String(this.run.block)));
    this.draw();
  }

  frame() {
    const live = document.createElement("div");
    const { trace } = this.run;
    const choices = this.runs.map(({ block }, i) => `<button type="button" data-pick="${i}" aria-label="${this.dataset.label} ${block}">${block}</button>`);
    live.className = "stepper dance";
    live.tabIndex = 0;
    live.setAttribute("role", "group");
    live.setAttribute("aria-label", `${trace.kernel}, trip by trip between memory and chip. Arrow keys step, Home and End go to the first and the last trip, space plays.`);
    live.innerHTML = `<div class="stepper-bar"><div class="choices">${this.dataset.label} ${choices.join("")}</div>${controls("Trip")}</div>
      <p class="stepper-sentence" aria-live="polite"></p>
      <div class="dance-stage" role="img" aria-label="Blocks on chip, and the tensors in memory below"></div>
      <p class="dance-sum"></p><p class="keys">← and → step, space plays</p>
      <p class="legend"><span><i class="mark chip on now"></i>on chip</span><span><i class="mark on now"></i>in memory, this trip</span><span><i class="mark on"></i>asked for by an earlier trip</span></p>`;
    return live;
  }

  draw() {
    const { trace, trips, block, number } = this.run;
    const trip = trips[this.step - 1];
    const done = trips.slice(0, this.step);
    const bytes = (op) => done.reduce((sum, { event, bytes }) => sum + (event.op === op ? bytes : 0), 0);
    const count = `Trip ${words(this.step)} of ${words(this.last)}`;
    this.mark(number, count);
    this.find(".stepper-count").textContent = count;
    this.find(".stepper-sentence").textContent = trip ? this.sentence(trip) : "Nothing has moved yet. All the numbers lie in memory.";
    this.find(".dance-sum").innerHTML = `${this.summary()} So far <b>${words(bytes("load"))}</b> bytes loaded, <b>${words(bytes("store"))}</b> stored.`;
    this.find(".dance-stage").innerHTML = this.chip(trip) + this.memory(trip, done);
    this.travel(trip);
    this.dataset.block = block;
  }

  summary() {
    const { trace, trips, block } = this.run;
    const moved = trips.reduce((sum, trip) => sum + trip.bytes, 0);
    const [programs, all] = [trace.programs.length, trips.length];
    return `${this.dataset.label} ${block}: ${programs} ${programs === 1 ? "program" : "programs"}, ${words(all)} trips to memory, ${words(moved)} bytes.`;
  }

  sentence({ program, event, bytes }) {
    const where = bytes ? part(event, this.run.trace.tensors[event.tensor], "on") : `nothing of ${event.tensor}`;
    return `Program ${program.id.join(", ")} ${event.op}s ${where}: ${words(bytes)} bytes ${event.op === "load" ? "up to the chip" : "down to memory"}.`;
  }

  // What the program of this trip has a name for. Places for its other blocks stay free, so that nothing moves.
  chip(trip) {
    const { tensors } = this.run.trace;
    const held = new Map(trip?.program.events.slice(0, trip.index + 1).map((event) => named(event, tensors)).filter(Boolean).map((block) => [block[0], block]));
    const bytes = [...held.values()].reduce((sum, [, shape, size]) => sum + product(shape) * size, 0);
    const now = trip && (trip.event.op === "load" ? trip.event.into : this.stored(trip));
    const pieces = [...this.blocks].map(([name, shape]) => {
      const { columns, rows } = flat(shape);
      const look = held.has(name) ? `<i class="mark chip on${name === now ? " now" : ""}" style="inset:0"></i>` : "";
      return piece(name, shape.join(" × "), `<i class="sheet" data-chip="${safe(name)}" style="--columns:${columns};--rows:${rows}">${look}<i class="extent" style="height:100%"></i></i>`, name === now);
    });
    const title = trip ? `On chip: program ${trip.program.id.join(", ")}` : "On chip";
    return `<p class="where">${title}<small>${words(bytes)} bytes held</small></p><div class="sheets fine on-chip">${pieces.join("")}</div>`;
  }

  // The name of the block that a store sends down: the variable that stands in its text.
  stored({ event }) {
    return [...this.blocks.keys()].findLast((name) => new RegExp(`\\b${name}\\b`).test((event.text ?? "").split(",").slice(1).join(",")));
  }

  memory(trip, done) {
    const pieces = Object.entries(this.run.trace.tensors).map(([name, tensor]) => {
      const { columns, rows } = flat(tensor.shape);
      const rectangle = ({ column, row, width, height }, look) =>
        `<i class="mark on${look}" style="left:${(100 * column) / columns}%;top:${(100 * row) / rows}%;width:${(100 * width) / columns}%;height:${(100 * height) / rows}%"></i>`;
      const past = new Set(done.filter(({ event }) => event !== trip.event && event.tensor === name).flatMap((other) => other.places.map((place) => rectangle(place, ""))));
      const now = trip?.event.tensor === name ? trip.places.map((place) => rectangle(place, " now")) : [];
      return piece(name, tensor.shape.join(" × "), `<i class="sheet" style="--columns:${columns};--rows:${rows}">${[...past, ...now].join("")}<i class="extent" style="height:100%"></i></i>`, now.length > 0);
    });
    return `<div class="dance-way" aria-hidden="true"></div><p class="where memory">In memory (HBM)</p><div class="sheets fine">${pieces.join("")}</div>`;
  }

  // A block on its way: from its place in memory to its place on chip, or back.
  travel(trip) {
    if (!trip || matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden) return;
    const name = trip.event.op === "load" ? trip.event.into : this.stored(trip);
    const ends = [this.find(".mark.now:not(.chip)"), this.find(`[data-chip="${CSS.escape(name ?? "")}"]`)];
    if (!ends.every(Boolean)) return;
    const stage = this.find(".dance-stage");
    const frame = stage.getBoundingClientRect();
    const boxes = ends.map((end) => end.getBoundingClientRect());
    const [from, to] = trip.event.op === "load" ? boxes : boxes.reverse();
    const moving = document.createElement("i");
    moving.className = `traveller ${trip.event.op}`;
    const at = (box) => ({ left: `${box.left - frame.left}px`, top: `${box.top - frame.top}px`, width: `${box.width}px`, height: `${box.height}px` });
    stage.append(moving);
    const colors = ["--bw-memory", "--bw-chip"].map((name) => getComputedStyle(this).getPropertyValue(name));
    const [first, then] = trip.event.op === "load" ? colors : colors.reverse();
    moving.animate([{ ...at(from), backgroundColor: first }, { ...at(to), backgroundColor: then }],
      { duration: Math.min(TRAVEL, this.timer ? this.pace * 0.9 : TRAVEL), easing: "ease-in-out" }).onfinish = () => moving.remove();
  }
}

customElements.define("memory-dance", MemoryDance);
