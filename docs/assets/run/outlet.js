// What a run says: how far the runtime is, what the program prints, how it ended, and where an error stands. Used by every place
// of the site where something runs.

import { root } from "../run.js";
import * as runtime from "./runtime.js";

const NOTE = "Triton’s interpreter on a stand-in for PyTorch: right answers, no speed.";
const looks = new CSSStyleSheet(); // a link in the head would go when instant navigation changes the page

export const ready = fetch(new URL("run.css", import.meta.url)).then(async (answer) => {
  looks.replaceSync(await answer.text());
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, looks];
});

export function make(tag, properties = {}, ...children) {
  const { dataset, attributes, ...others } = properties;
  const made = Object.assign(document.createElement(tag), others);
  Object.assign(made.dataset, dataset);
  for (const [name, value] of Object.entries(attributes ?? {})) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== undefined && child !== false));
  return made;
}

export const button = (words, press, properties = {}) => make("button", { type: "button", textContent: words, onclick: press, ...properties });

// Scrolling, as the reader's own goes first

let scrolled = 0; // when the reader last did
const scrolls = () => (scrolled = performance.now());
for (const kind of ["wheel", "touchmove"]) addEventListener(kind, scrolls, { passive: true });
addEventListener("keydown", ({ key }) => /^(Page|Arrow)(Up|Down)$|^(Home|End)$/.test(key) && scrolls());
addEventListener("pointerdown", ({ target }) => target === document.documentElement && scrolls()); // the scroll bar

// Bring a place into view if it is not, and of one higher than the window the part that matters. `from` is what comes along before it.
export function reveal(place, { part = place, since = Infinity, block = "nearest", from } = {}) {
  if (scrolled > since || !place.isConnected) return;
  const fits = place.offsetHeight < 0.8 * innerHeight;
  const shown = fits ? place : part;
  const { top, bottom } = shown.getBoundingClientRect();
  const head = document.querySelector(".md-header")?.offsetHeight ?? 0;
  if (top >= head && bottom <= innerHeight) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  (from ?? shown).scrollIntoView({ block: fits || part === place ? block : "center", behavior: calm ? "instant" : "smooth" });
}

// What the checker writes, with its entries of the error index as links.
export const linked = (words) =>
  words.split(/(errors\/\w+\/#[\w-]+)/).map((part, i) => (i % 2 ? make("a", { href: new URL(part, root), textContent: part }) : part));

// A hint, where `names` stand between backticks, too.
const marked = (words) => words.split("`").flatMap((part, i) => (i % 2 ? make("code", { textContent: part }) : linked(part)));

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

// Put a place for what runs say into `parent`. `busy(on)` is told when one begins and ends, `goTo(line)` what a press on a line does.
export class Outlet {
  constructor({ busy = () => {}, goTo } = {}) {
    Object.assign(this, { busy, goTo });
    this.words = make("span", { attributes: { role: "status" } });
    this.count = make("span", { className: "run-count" });
    this.bar = make("progress", { hidden: true, attributes: { "aria-label": "Loaded" } });
    this.state = make("p", { className: "run-state" }, this.words, this.count, this.bar);
    this.output = make("pre", { className: "run-output", hidden: true, tabIndex: 0, attributes: { role: "log", "aria-label": "What the program printed" } });
    this.problem = make("div", { className: "run-problem", hidden: true, attributes: { role: "alert" } });
    const more = make("a", { href: new URL("reference/compatibility/", root), textContent: "What differs" });
    this.note = make("p", { className: "run-note", hidden: true }, `${NOTE} `, more);
    this.parts = [this.state, this.output, this.problem, this.note];
  }

  // Run, and show what comes of it. `quiet` leaves what an earlier run printed.
  async run(kind, request, { quiet = false } = {}) {
    let waiting = "";
    const flush = () => {
      if (!waiting || !isLatest()) return;
      this.output.append(waiting);
      waiting = "";
      this.output.scrollTop = this.output.scrollHeight;
    };
    const own = (this.latest = {}); // another run of the same place takes this one's place, and says all that is said from then on
    const isLatest = () => this.latest === own;
    this.running = true;
    this.busy(true);
    this.clear(quiet);
    const out = (text) => {
      if (quiet || !isLatest()) return;
      if (!waiting) requestAnimationFrame(flush);
      waiting += text;
      this.output.hidden = this.note.hidden = false;
    };
    const result = await runtime.run(kind, request, { out, stage: (state) => isLatest() && this.stage(state) });
    if (!isLatest()) return result;
    flush();
    this.untimed();
    this.running = false;
    this.end(result, quiet);
    this.busy(false);
    return result;
  }

  stop() {
    if (this.running) runtime.stop();
  }

  clear(quiet) {
    this.problem.hidden = true;
    this.problem.replaceChildren();
    if (quiet) return;
    this.output.textContent = "";
    this.output.hidden = this.note.hidden = true;
  }

  // Leave out of what was printed what is said elsewhere.
  without(texts) {
    this.output.textContent = texts.filter(Boolean).reduce((left, text) => left.replace(text, ""), this.output.textContent).trim();
    this.output.hidden = !this.output.textContent;
  }

  say(words, count = "") {
    if (this.words.textContent !== words) this.words.textContent = words;
    this.count.textContent = count;
  }

  stage({ stage, loaded, total, words = "" }) {
    this.bar.hidden = stage !== "fetch";
    if (stage === "fetch") {
      this.untimed();
      this.say("Loading Python and Triton, this once:", `${megabytes(loaded)} of ${megabytes(total)} MB`);
      Object.assign(this.bar, { max: total, value: loaded });
    } else this.timed(stage === "start" ? "Starting Python and Triton …" : `Running ${words}…`);
  }

  // Words, and after them the seconds since they were first said.
  timed(words) {
    if (this.clock && this.words.textContent === words) return;
    this.untimed();
    this.say(words);
    const begun = performance.now();
    this.clock = setInterval(() => (this.count.textContent = `${Math.floor((performance.now() - begun) / 1000)} s`), 1000);
  }

  untimed() {
    clearInterval(this.clock);
    this.clock = undefined;
  }

  end({ done, stopped, broke, missing }, quiet) {
    this.bar.hidden = true;
    if (missing) {
      this.say("It cannot run here.");
      this.complain(make("p", {}, `A file that runs Triton in the page is missing or damaged: ${missing}. Press Run to try again, or copy the program and run it on your machine.`));
    } else if (broke) {
      this.say("Python gave up.");
      this.complain(make("p", {}, `It ran out of memory or of stack (${broke}). The next run begins afresh.`));
    } else if (stopped) this.say(stopped);
    else if (done.error) {
      this.say(`Ended with an error after ${this.seconds(done)}.`);
      this.explain(done.error);
    } else {
      this.say(`Done in ${this.seconds(done)}.`);
      if (!quiet && this.output.hidden) this.say(`Done in ${this.seconds(done)}. It printed nothing.`);
    }
  }

  seconds({ milliseconds }) {
    return milliseconds < 950 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
  }

  complain(...parts) {
    this.problem.replaceChildren(...parts);
    this.problem.hidden = false;
  }

  // An error's line, its words, and what may help.
  explain({ type, message, line, text, frames = [], hint }, where = "") {
    const place = (number) => (this.goTo ? button(`line ${number}`, () => this.goTo(number), { className: "run-line" }) : `line ${number}`);
    const parts = [make("p", { className: "run-error" }, make("b", { textContent: type }), line || where ? " in " : "", line ? place(line) : "", where, line || where ? ": " : " ", line ? message.replace(`, line ${line},`, ",") : message)];
    if (line && text) parts.push(make("pre", {}, make("code", { textContent: text.trim() })));
    const others = frames.filter(([number]) => number !== line);
    if (others.length) parts.push(make("p", { className: "run-frames" }, "Called from ", ...others.flatMap(([number], i) => [i ? ", " : "", place(number)]), "."));
    if (hint) parts.push(make("p", { className: "run-hint" }, "Usually: ", ...marked(hint)));
    this.complain(...parts);
  }
}
