// Numbers of a program that slide: each change runs it anew and redraws its picture. slides.json says which, and where they stand in
// the program; tests/docs/test_slides.py holds it against the programs.

import { load } from "../programs.js";
import { button, make, Outlet, ready, reveal } from "./outlet.js";
import { bounds, shown } from "./watch.js";

const PAUSE = 250; // milliseconds without a change before it runs

// The program with other numbers. What counts programs follows from two of them, rounded up.
export function changed(text, { counts = {}, places }, values) {
  const filled = (place, given) => place.replace(/\{(\w+)\}/g, (_, name) => {
    const [n, block] = counts[name] ?? [];
    return n ? Math.ceil(given[n] / given[block]) : given[name];
  });
  return places.reduce((left, place) => left.split(filled(place, values.is)).join(filled(place, values.now)), text);
}

function control(name, { is, of, from, to, by, label }, tell) {
  const words = make("span", { textContent: label });
  if (of && typeof is === "string") {
    const select = make("select", { ariaLabel: label }, ...of.map((text) => make("option", { value: text, textContent: text })));
    select.value = is;
    select.addEventListener("change", () => tell(name, select.value));
    return { element: make("label", {}, words, select), reset: () => (select.value = is) };
  }
  const said = make("output", { textContent: is });
  const range = make("input", { type: "range", ariaLabel: label, min: of ? 0 : from, max: of ? of.length - 1 : to, step: of ? 1 : by });
  const put = () => (range.value = of ? of.indexOf(is) : is);
  const read = () => {
    const value = of ? of[+range.value] : +range.value;
    said.textContent = value;
    range.setAttribute("aria-valuetext", value);
    return value;
  };
  put();
  read();
  range.addEventListener("input", () => tell(name, read()));
  return { element: make("label", {}, words, range, said), reset: () => (put(), read()) };
}

class NumberPanel extends HTMLElement {
  async build(program, place, figure) {
    Object.assign(this, { program, figure });
    this.className = "run-panel sliding";
    const [all, text] = await Promise.all([load("assets/run/slides.json"), load(`programs/${program}.py`)]);
    if (!all || !text) throw new Error("not loaded");
    Object.assign(this, { text, told: all[program] });
    this.is = Object.fromEntries(Object.entries(this.told.numbers).map(([name, { is }]) => [name, is]));
    this.now = { ...this.is };
    this.setAttribute("role", "group");
    this.setAttribute("aria-label", `The numbers of ${program}.py`);
    this.controls = Object.entries(this.told.numbers).map(([name, number]) => control(name, number, (...change) => this.tell(...change)));
    this.outlet = new Outlet();
    this.resetter = button("Reset", () => this.reset(), { disabled: true });
    const { state, problem, output, note } = this.outlet;
    this.append(make("div", { className: "run-choices" }, ...this.controls.map(({ element }) => element), this.resetter), state, problem);
    // The numbers stand above the picture, with what went wrong, and what the program prints below it.
    if (!figure) {
      this.figure = make("figure", { className: "stepper-figure" });
      place.after(this.figure);
    }
    this.caption = this.figure.querySelector("figcaption");
    this.said = make("div", { className: "run-panel saying" }, output, note);
    this.figure.prepend(this);
    this.caption ? this.caption.before(this.said) : this.figure.append(this.said);
    place.querySelector(".bw-slides").remove();
  }

  disconnectedCallback() {
    clearTimeout(this.waiting);
    this.outlet?.stop();
  }

  get stepper() {
    return this.figure.querySelector("program-stepper");
  }

  tell(name, value) {
    this.now[name] = value;
    this.resetter.disabled = Object.entries(this.is).every(([other, is]) => this.now[other] === is);
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.run(), PAUSE);
  }

  async run() {
    const source = changed(this.text, this.told, this);
    const { done } = await this.outlet.run("run", { source, name: this.program, record: true, launch: 0, ...bounds });
    if (!done) return;
    const trace = shown(done.recording);
    const why = done.launches[0]?.why_not;
    if (trace) await this.draw(trace, Boolean(done.error));
    else this.outlet.say(`The picture shows another launch: ${why ?? "of this one nothing was recorded"}.`);
    if (trace && (done.error || done.recording_is_partial)) this.outlet.say(done.error ? "It ended with an error, and the picture goes that far." : `The picture shows a part of it${why ? `: ${why}` : ""}.`);
  }

  async draw(trace, ended) {
    await import("../stepper.js");
    if (this.caption) this.caption.hidden = true; // it tells of the recorded run
    if (this.stepper) return this.stepper.replay(trace, ended);
    const stepper = document.createElement("program-stepper");
    await stepper.replay(trace, ended);
    this.said.before(stepper);
  }

  reset() {
    this.querySelector("input, select").focus();
    for (const { reset } of this.controls) reset();
    this.now = { ...this.is };
    this.resetter.disabled = true;
    clearTimeout(this.waiting);
    this.outlet.stop();
    this.outlet.clear();
    this.outlet.say("");
    if (!this.caption) return this.run();
    this.caption.hidden = false;
    this.stepper.replay();
  }
}

customElements.define("number-panel", NumberPanel);

export async function open(program, place, figure) {
  await ready;
  const panel = document.createElement("number-panel");
  await panel.build(program, place, figure);
  const first = panel.querySelector("input, select");
  first.focus({ preventScroll: true });
  reveal(panel, { part: first.closest("label"), block: "start" });
  await panel.run();
}
