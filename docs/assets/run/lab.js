// A lab solved in its page: every exercise has an editor, its check and its hint. What a reader writes is kept in the browser.

import { load } from "../programs.js";
import { tick } from "../progress.js";
import { cellsShown, root, tellHead } from "../run.js";
import { editor } from "./editing.js";
import { button, linked, make, Outlet, ready, reveal } from "./outlet.js";
import { warm } from "./runtime.js";
import { notebook, script } from "./takealong.js";

const KEPT = "blockwise-lab-";
const SETUP = "No GPU found: Triton's interpreter runs the kernels."; // what the first cell of every lab prints here

// Whether a cell makes a name that other cells may use.
const sets = (text, name) => new RegExp(`^(def |class |.*\\bimport .*\\b)?${name}\\b`, "m").test(text);

const labName = () => location.pathname.slice(root.pathname.length).split("/")[1];

// {work: {cell: text}, solved: [cells]}, as it lies in the browser; where nothing may lie there, it lives as long as the page.
const inMemory = new Map();
function kept(name) {
  try {
    return { work: {}, solved: [], ...JSON.parse(localStorage.getItem(KEPT + name)) };
  } catch {
    return inMemory.get(name) ?? { work: {}, solved: [] };
  }
}
function keep(name, state) {
  inMemory.set(name, state);
  try {
    localStorage.setItem(KEPT + name, JSON.stringify(state));
  } catch {
    // It is kept in memory.
  }
}

class Lab {
  constructor(name, cells) {
    Object.assign(this, { name, cells, panels: new Map() });
    Object.assign(this, kept(name));
    this.exercises = cells.flatMap(({ tag }, number) => (tag === "exercise" ? [number] : []));
    this.kind = name === "puzzles" ? "Puzzle" : "Exercise";
  }

  save() {
    keep(this.name, { work: this.work, solved: this.solved });
    this.tell();
  }

  text(number) {
    return this.work[number] ?? this.cells[number].text;
  }

  write(number, text) {
    if (text === this.cells[number].text) delete this.work[number];
    else this.work[number] = text;
    this.save();
  }

  // The check that belongs to an exercise is the next one, and the other way round.
  checkOf(number) {
    return this.cells.findIndex(({ tag }, other) => other > number && tag === "check");
  }

  exerciseOf(number) {
    return this.cells.findLastIndex(({ tag }, other) => other <= number && tag === "exercise");
  }

  // The exercise to go on with after another.
  after(number) {
    const left = this.exercises.filter((other) => !this.solved.includes(other));
    return left.find((other) => other > number) ?? left[0];
  }

  // The cells up to one, as the reader has them. Of the checks before it, only those run whose verdict it asks for by name.
  until(number) {
    const isAskedFor = (check) => this.text(number).includes(/^(\w+) = /.exec(check)?.[1] ?? check);
    return this.cells.slice(0, number + 1).map(({ tag, text }, at) => (tag === "check" && at !== number && !isAskedFor(text) ? "" : this.text(at)));
  }

  // The error that explains what came of a cell. Where the exercise of a check did not run, the check only lacks what it should
  // have made; and where anything lacks a name that an earlier cell did not come to set, that cell's error is the cause.
  cause({ error, earlier }, number, words = "") {
    const own = this.cells[number].tag === "check" && earlier.find(({ cell }) => cell === this.exerciseOf(number));
    const follow = (found, said, until) => {
      const lacking = /name '(\w+)' is not defined/.exec(said)?.[1];
      const maker = lacking && earlier.find(({ cell }) => cell < until && sets(this.text(cell), lacking));
      return maker ? follow(maker, maker.message, maker.cell) : found;
    };
    const first = own || error || undefined;
    return follow(first, first?.message ?? words, first?.cell ?? number);
  }

  mark(number, passed) {
    this.solved = this.solved.filter((other) => other !== number);
    if (passed) this.solved.push(number);
    this.save();
    if (passed && this.after(number) === undefined) tick();
  }

  reset() {
    this.work = {};
    this.solved = [];
    this.save();
    for (const panel of this.panels.values()) panel.refill();
  }

  // The row at the head of the lab: how many are solved, and the work to take along.
  head(place) {
    this.count = make("span", { className: "run-name", attributes: { role: "status" } });
    const all = button("Reset all", () => confirm("Throw away all that you wrote in this lab?") && this.reset());
    const taken = async (write) => {
      try {
        await write(this);
      } catch {
        this.count.textContent = "The notebook could not be loaded.";
      }
    };
    this.row = make("div", { className: "run-panel run-lab" }, make("div", { className: "run-bar" }, this.count,
      button("Download my notebook", () => taken(notebook)), button("Download my .py file", () => taken(script)), all));
    place.after(this.row);
    this.tell();
  }

  tell() {
    tellHead(this);
    if (!this.count) return;
    const done = this.solved.filter((number) => this.exercises.includes(number)).length;
    this.count.textContent = `${done} of ${this.exercises.length} solved here. Your work is kept in this browser.`;
  }
}

class LabPanel extends HTMLElement {
  build(lab, number, cell) {
    Object.assign(this, { lab, number, cell });
    const { kind } = lab;
    const { tag } = lab.cells[number];
    const step = lab.exercises.indexOf(lab.exerciseOf(number)) + 1;
    this.exercise = tag === "exercise";
    this.setAttribute("role", "group");
    this.setAttribute("aria-label", tag === "" || tag === "setup" ? "Output of this cell" : `${kind} ${step}${this.exercise ? "" : ", its check"}`);
    this.outlet = new Outlet({ busy: (on) => this.busy(on) });
    this.verdict = make("div", { className: "run-verdict", hidden: true, attributes: { role: "status" } });
    this.main = button(tag === "exercise" || tag === "check" ? "Check" : "Run", () => this.run(), { className: "run-main" });
    this.stopper = button("Stop", () => this.outlet.stop(), { hidden: true });
    this.resetter = button("Reset", () => this.reset(), { hidden: true, title: "Back to the exercise as the page has it" });
    this.next = button(`Next ${kind.toLowerCase()}`, () => open(undefined, cellsShown()[lab.after(number)]), { hidden: true });
    this.outlet.state.append(this.next);
    const hint = this.exercise && this.fold("Hint");
    const hinter = hint && button("Hint", () => this.unfold(hint));
    this.place = make("div");
    const name = make("span", { className: "run-name", textContent: this.exercise ? `${kind} ${step} of ${lab.exercises.length}` : "" });
    const bar = make("div", { className: "run-bar" }, name, this.main, this.stopper, this.resetter, hinter, button("Close", () => this.close()));
    this.append(...(this.exercise ? [this.place, bar] : [bar]), this.verdict, ...this.outlet.parts);
    cell.after(this);
    lab.panels.set(number, this);
    if (this.exercise && lab.solved.includes(number)) this.say("Solved.");
  }

  disconnectedCallback() {
    this.outlet?.stop();
  }

  say(words) {
    this.outlet.say(words);
    this.next.hidden = words !== "Solved." || this.lab.after(this.number) === undefined;
  }

  // Where the task begins, or of a long one as much as leaves room for the editor.
  get task() {
    const { top } = this.getBoundingClientRect();
    let first = this;
    for (let before = this.cell.previousElementSibling; before && top - before.getBoundingClientRect().top < 0.6 * innerHeight; before = before.previousElementSibling) {
      first = before;
      if (before.matches("h2")) break;
    }
    return first;
  }

  // The fold of that title that follows the cell, before the next one.
  fold(title) {
    for (let next = this.cell.nextElementSibling; next && !next.matches(".lab-cell"); next = next.nextElementSibling)
      if (next.matches("details") && next.querySelector("summary")?.textContent === title) return next;
    return undefined;
  }

  unfold(fold) {
    fold.open = true;
    fold.scrollIntoView({ block: "nearest" });
    fold.querySelector("summary").focus({ preventScroll: true });
  }

  async edit() {
    warm(); // what is edited is going to be run
    if (!this.editor) {
      const { lab, number } = this;
      const changed = (text) => {
        lab.write(number, text);
        this.mended();
      };
      try {
        this.opening ??= editor(this.place, { original: lab.cells[number].text, text: lab.text(number), label: this.getAttribute("aria-label"), run: () => this.run(), changed, enter: "checks" });
        this.editor = await this.opening;
      } catch (error) {
        this.opening = undefined;
        return this.outlet.end({ missing: error.message });
      }
      this.cell.hidden = true;
      this.mended();
    }
    const line = this.editor.text.split("\n").findIndex((text) => text.includes("YOUR TURN")) + 1;
    if (line) this.editor.show(line);
    this.editor.focus();
  }

  mended() {
    this.resetter.hidden = this.lab.work[this.number] === undefined;
  }

  refill() {
    if (this.editor) this.editor.text = this.lab.text(this.number);
    this.mended();
    this.verdict.hidden = true;
    this.outlet.stop();
    this.outlet.clear();
    this.say("");
  }

  reset() {
    this.lab.write(this.number, this.lab.cells[this.number].text);
    this.lab.mark(this.number, false);
    this.refill();
    this.lab.panels.get(this.lab.checkOf(this.number))?.refill();
    this.editor?.focus();
  }

  busy(on) {
    const focused = document.activeElement;
    this.stopper.hidden = !on;
    this.main.hidden = on;
    if (on && focused === this.main) this.stopper.focus();
    if (!on && focused === this.stopper) this.main.focus();
  }

  // To a line of an exercise, which may have no editor yet.
  async goTo(number, line) {
    const panel = panelOf(this.lab, number);
    await panel.edit();
    panel.editor?.mark([line]);
    panel.editor?.show(line);
    reveal(panel, { block: "start", from: panel.task });
  }

  async run() {
    const { lab } = this;
    const target = this.exercise ? lab.checkOf(this.number) : this.number;
    this.verdict.hidden = this.next.hidden = true;
    for (const { editor: other } of lab.panels.values()) other?.mark([]);
    const since = performance.now();
    const { done } = await this.outlet.run("lab", { lab: lab.name, cells: lab.until(target), upto: target });
    if (!done) return;
    const isCheck = lab.cells[target].tag === "check";
    const found = done.verdicts.find(({ cell }) => cell === target);
    const error = found?.passed ? undefined : lab.cause(done, target, found?.message);
    if (isCheck) {
      this.outlet.without([SETUP, found?.message]);
      const elsewhere = error && error.cell !== lab.exerciseOf(target); // then what the check says is beside the point
      this.show(found && !elsewhere ? found : { passed: false, message: "" }, target);
    }
    if (error) this.where(error, target);
    reveal(this, { part: this.verdict.hidden ? this.outlet.state : this.verdict, since });
  }

  show({ passed, message, hint }, target) {
    this.lab.mark(this.lab.exerciseOf(target), passed);
    this.verdict.className = `run-verdict ${passed ? "passed" : ""}`;
    this.verdict.replaceChildren(...linked(message), hint && !message.includes(hint) ? make("p", { className: "run-hint" }, ...linked(hint)) : "");
    this.verdict.hidden = !message && !hint;
    this.say(passed ? "Solved." : "Not yet.");
    this.outlet.note.hidden = false;
  }

  // An error may stand in another cell than the one that was checked. A line of an exercise can be gone to.
  where(error, target) {
    const own = error.cell === this.number || error.cell === target;
    const number = this.lab.exercises.indexOf(error.cell) + 1;
    this.outlet.goTo = number ? (line) => this.goTo(error.cell, line) : undefined;
    this.outlet.explain(error, own || !number ? "" : `${error.line ? " of " : ""}${this.lab.kind.toLowerCase()} ${number}`);
    this.lab.panels.get(error.cell)?.editor?.mark([error.line].filter(Boolean));
  }

  close() {
    this.outlet.stop();
    this.editor?.destroy();
    this.lab.panels.delete(this.number);
    this.cell.hidden = false;
    this.remove();
    (this.opener?.isConnected ? this.opener : this.cell.querySelector("button.bw-run"))?.focus();
  }
}

customElements.define("lab-panel", LabPanel);

let current; // the lab of this page

async function here() {
  const name = labName();
  const first = cellsShown()[0];
  if (current?.first !== first) {
    const found = await load(`data/labs/${name}.json`);
    if (!found) throw new Error(`data/labs/${name}.json could not be loaded`);
    current = new Lab(name, found.cells);
    current.first = first;
    current.head(document.querySelector("article .files") ?? first);
  }
  return current;
}

function panelOf(lab, number) {
  let panel = lab.panels.get(number);
  if (!panel) {
    panel = document.createElement("lab-panel");
    panel.className = "run-panel";
    panel.build(lab, number, cellsShown()[number]);
  }
  return panel;
}

// Open a cell, or the first exercise that is not solved.
export async function open(opener, cell) {
  await ready;
  const lab = await here();
  const shown = cellsShown();
  cell ??= shown[lab.after(-1) ?? lab.exercises[0]];
  const panel = panelOf(lab, shown.indexOf(cell));
  panel.opener = opener;
  if (panel.exercise) await panel.edit();
  else panel.run();
  reveal(panel, panel.exercise ? { block: "start", from: panel.task } : { part: panel.outlet.state });
}
