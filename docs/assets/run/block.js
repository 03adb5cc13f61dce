// Run and Edit of a program on a page: a panel below its block.

import { load, textOf } from "../programs.js";
import { button, make, Outlet, ready, reveal } from "./outlet.js";
import { editor } from "./editing.js";
import { warm } from "./runtime.js";
import { replayer } from "./watch.js";

const work = new Map(); // what the reader made of each block, as long as the site stays open

// A block runs as "this block" copies it, where that shows something and needs no library. Otherwise the whole program runs.
async function chosen(block) {
  const { program } = block.dataset;
  const [own, whole] = await Promise.all([textOf(block), load(`programs/${program}.py`)]);
  const alone = own && /^ *print\((?!"No CUDA)/m.test(own) && !/^ *(from|import) kernels\b/m.test(own);
  const text = alone ? own : (whole ?? own);
  if (!text) throw new Error(`${program}.py could not be loaded`);
  return { program, text, name: alone ? `a part of ${program}.py` : `${program}.py`, line: lineOf(block, text) };
}

// Where what the block shows begins in a longer text.
function lineOf(block, text) {
  const lines = text.split("\n");
  const shown = block.querySelector("code").textContent.split("\n").filter((line) => line.trim());
  const rare = shown.find((line) => /\b(def|=|\w+\[)/.test(line) && lines.filter((other) => other === line).length === 1) ?? shown[0];
  const found = lines.indexOf(rare);
  return found < 0 ? 1 : found + 1 - (/^@/.test(lines[found - 1] ?? "") ? 1 : 0);
}

// The panel stands below the block, below its link, and below the picture that took the block in.
function place(block) {
  const figure = block.closest("figure.stepper-figure");
  if (figure) return figure;
  const next = block.nextElementSibling;
  return next?.matches("p") && next.querySelector("a.program") ? next : next?.matches("a.program") ? next : block;
}

class RunPanel extends HTMLElement {
  async prepare(block) {
    this.block = block;
    this.key = `${location.pathname} ${[...document.querySelectorAll(".highlight[data-program]")].indexOf(block)}`;
    this.given = await chosen(block);
    this.setAttribute("role", "group");
    this.setAttribute("aria-label", `${this.given.name}, run in this page`);
    this.outlet = new Outlet({ busy: (on) => this.busy(on), goTo: (line) => this.goTo(line) });
    this.buttons = {
      run: button("Run", () => this.run(), { className: "run-main" }),
      stop: button("Stop", () => this.stop(), { hidden: true }),
      edit: button("Edit", () => this.edit()),
      watch: button("Watch", () => this.watch(), { hidden: true, title: "Replay a launch of this run, step by step" }),
      reset: button("Reset", () => this.reset(), { hidden: true, title: "Back to the program as the page has it" }),
      close: button("Close", () => this.close()),
    };
    this.editing = make("div");
    this.replay = replayer();
    const bar = make("div", { className: "run-bar" }, make("span", { className: "run-name", textContent: this.given.name }), ...Object.values(this.buttons));
    this.append(bar, this.editing, ...this.outlet.parts, this.replay.element);
    place(block).after(this);
    block.panel = this;
    this.mended();
  }

  disconnectedCallback() {
    this.outlet?.stop(); // the page has changed
  }

  get text() {
    return work.get(this.key) ?? this.given.text;
  }

  mended() {
    this.buttons.reset.hidden = this.text === this.given.text;
  }

  busy(on) {
    this.toggleAttribute("busy", on);
    const focused = document.activeElement;
    this.buttons.stop.hidden = !on;
    this.buttons.run.hidden = on;
    if (on && focused === this.buttons.run) this.buttons.stop.focus();
    if (!on && (focused === this.buttons.stop || focused === document.body) && this.contains(focused)) this.buttons.run.focus();
  }

  async run() {
    this.replay.close();
    this.editor?.mark([]);
    const text = this.text;
    const since = performance.now();
    const result = await this.outlet.run("run", { source: text, name: this.given.program, record: false, launch: 0 });
    this.ran = { text, launches: result.done?.launches ?? [] };
    this.buttons.watch.hidden = !this.ran.launches.length;
    const { error } = result.done ?? {};
    if (error) this.editor?.mark([error.line, ...(error.frames ?? []).map(([line]) => line)].filter(Boolean));
    this.wrong = error;
    if (!result.stopped) reveal(this, { part: this.outlet.state, since });
    return result;
  }

  stop() {
    this.outlet.stop();
  }

  async edit(line = this.given.line) {
    warm(); // what is edited is going to be run
    if (!this.editor) {
      const changed = (text) => {
        text === this.given.text ? work.delete(this.key) : work.set(this.key, text);
        this.mended();
      };
      try {
        this.opening ??= editor(this.editing, { original: this.given.text, text: this.text, label: `${this.given.name}, editor`, run: () => this.run(), changed, tall: true });
        this.editor = await this.opening;
      } catch (error) {
        this.opening = undefined;
        return this.outlet.end({ missing: error.message });
      }
      this.buttons.edit.hidden = true;
      if (this.wrong) this.editor.mark([this.wrong.line].filter(Boolean));
    }
    this.editor.show(line);
    this.editor.focus();
  }

  goTo(line) {
    return this.edit(line);
  }

  reset() {
    work.delete(this.key);
    if (this.editor) this.editor.text = this.given.text;
    this.mended();
    (this.editor ?? this.buttons.run).focus();
  }

  watch() {
    return this.replay.open({ source: this.ran?.text ?? this.text, name: this.given.program }, this.ran?.launches ?? [], this.outlet);
  }

  close() {
    this.outlet.stop();
    this.editor?.destroy();
    this.block.panel = undefined;
    this.remove();
    this.block.querySelector("button.bw-run")?.focus({ preventScroll: true });
  }
}

customElements.define("run-panel", RunPanel);

export async function open(block, how) {
  await ready;
  if (!block.panel?.isConnected) {
    const panel = document.createElement("run-panel");
    await panel.prepare(block);
  }
  const { panel } = block;
  if (how === "edit") await panel.edit();
  else panel.run();
  reveal(panel, how === "edit" ? { block: "start" } : { part: panel.outlet.state });
}
