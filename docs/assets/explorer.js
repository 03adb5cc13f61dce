// What the explorers share: numbers as people type them, words, and an element made of a form, sentences and a picture.
// A `view` has `label`; `start`, its controls' first values, which attributes replace; `fields`, what each number is called and counts;
// `form`; `shown` and `answer(state)`, its parts, by data-part; `follow(state, changed)`, what one control sets of others. A part with
// data-when="name=value" is there while that control has that value. Where a lane can be picked, `opens(state)` is the first one, and
// what is shown stands above the form.

const LANES = 1n << 20n; // Triton's longest block
const DIGITS = 30; // a number of more digits counts nothing that exists
const HUGE = { problem: `has more than ${DIGITS} digits, and no memory holds so many elements` };
const INTEGER = /^(-?\d+)(?:e\+?(\d+))?$/i;
const POWER = /^(-?)(\d+)(?:\*\*|\^)(\d+)([+-]\d+)?$/;
const FRACTION = /^-?(\d+[.,]\d*|[.,]\d+|\d+\/\d+|\d+(?=e-))(e[+-]?\d+)?$/i;

export const safe = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
export const range = (n) => [...Array(Number(n)).keys()];
export const cdiv = (a, b) => (a + b - 1n) / b;
export const least = (a, b) => (a < b ? a : b);
export const most = (a, b) => (a > b ? a : b);
export const number = (n) => BigInt(n).toLocaleString("en-US").replace("-", "−");
export const count = (n, one, many = `${one}s`) => `${number(n)} ${BigInt(n) === 1n ? one : many}`;
export const span = (first, last, one) => (first === last ? `${one} ${number(first)}` : `${one}s ${number(first)} to ${number(last)}`);
export const begin = (text) => text[0].toUpperCase() + text.slice(1);
export const code = (text) => `<code>${safe(text)}</code>`;
export const share = (part, whole) => `${Number((BigInt(part) * 1000000n) / BigInt(whole)) / 10000}%`;
export const facts = (pairs) => `<dl>${pairs.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join("")}</dl>`;

// What Triton says to blocks of such lengths.
export function compiles(blocks) {
  const odd = blocks.find((block) => block & (block - 1n));
  const why = odd
    ? `A block of ${number(odd)} does not compile, because ${code("tl.arange")} takes powers of two only`
    : blocks.reduce((a, b) => a * b) > LANES && `A block of more than ${number(LANES)} lanes does not compile`;
  return why ? ` ${why}; the arithmetic is the same.` : "";
}

// What was typed, as a whole number, or what is wrong with it. It understands 1_000, 1,000, 1e12 and 2**31 - 1.
export function whole(typed) {
  const text = typed.replace(/[\s_]/g, "").replace(/[−–]/g, "-").replace(/^\+/, "");
  const plain = /^-?\d{1,3}(,\d{3})+$/.test(text) ? text.replaceAll(",", "") : text;
  const shown = `“${safe(typed.trim().slice(0, 20))}${typed.trim().length > 20 ? "…" : ""}”`;
  if (!text) return { problem: "is empty: type a number" };
  const [, digits, zeros = "0"] = INTEGER.exec(plain) ?? [];
  const [, minus, base, power, more = "0"] = POWER.exec(plain) ?? [];
  if (plain.length > 3 * DIGITS && (digits || base)) return HUGE;
  if (digits) return zeros.length > 3 ? HUGE : within(BigInt(digits) * 10n ** BigInt(zeros));
  if (base) return power.length > 3 ? HUGE : within((minus ? -1n : 1n) * BigInt(base) ** BigInt(power) + BigInt(more));
  if (FRACTION.test(plain)) return { problem: `is ${shown}, and only whole numbers count here` };
  return { problem: `is ${shown}, which is not a number` };
}

const within = (value) => (most(value, -value) < 10n ** BigInt(DIGITS) ? { value } : HUGE);

// A number that a person can type, with what it counts: a size, a block, an id or a stride.
const KINDS = {
  size: { least: 0n, lacking: (n) => `is ${number(n)}, and there cannot be fewer than 0 elements` },
  block: { least: 1n, lacking: (n) => (n ? `is ${number(n)}, and a block has at least 1 lane` : "is 0: a block without lanes covers nothing, and Python refuses to divide by it") },
  id: { least: 0n, lacking: (n) => `is ${number(n)}, and programs are numbered from 0` },
  stride: {},
  distance: { least: 0n, lacking: (n) => `is ${number(n)}, and PyTorch has no negative strides` },
};

export function checked(typed, kind) {
  const { value, problem } = whole(typed);
  return problem ? { problem } : value < KINDS[kind].least ? { problem: KINDS[kind].lacking(value) } : { value };
}

const next = (value, kind, up) => (kind === "block" ? (up ? value * 2n : value / 2n) : value + (up ? 1n : -1n));

const button = (up) => `<button type="button" tabindex="-1" aria-hidden="true" data-up="${up ? 1 : ""}">${up ? "+" : "−"}</button>`;
const fieldOf = (fields) => (name) => {
  const [label, kind] = fields[name];
  const mode = kind === "stride" ? "text" : "numeric";
  return `<span class="field ${kind}"><label>${code(label)} <input name="${name}" inputmode="${mode}" spellcheck="false"></label>${button(false)}${button(true)}</span>`;
};

// One of several; `told` names the part that says what the choice leads to.
export const choice = (group, value, label, { told, when } = {}) =>
  `<label class="choice"${when ? ` data-when="${when}"` : ""}><input type="radio" name="${group}" value="${value}"><span>${label}</span>${told ? `<span data-part="${told}"></span>` : ""}</label>`;

export const choices = (legend, options, name = "") => `<fieldset class="choices ${name}"><legend>${legend}</legend>${options.join("")}</fieldset>`;

let made = 0;

class Explorer extends HTMLElement {
  connectedCallback() {
    if (this.form) return;
    const { view } = this.constructor;
    const words = `explorer-${++made}`;
    const form = `<form autocomplete="off">${view.form(fieldOf(view.fields))}</form>`;
    const told = `<p class="explorer-words" id="${words}" role="status" data-part="words"></p>`;
    const shown = `<div class="explorer-shown">${view.shown}</div>`;
    this.innerHTML = `<div class="explorer${view.opens ? " picks" : ""}" role="group" aria-label="${view.label}">${(view.opens ? [shown, told, form] : [form, told, shown]).join("")}
      <p class="note">Worked out in your browser from this formula. It is arithmetic, not a recorded run.</p></div>`;
    this.form = this.querySelector("form");
    // Names of its own, so that two explorers on a page do not share their radio buttons.
    for (const input of this.form.querySelectorAll("input")) {
      input.dataset.name = input.name;
      if (input.type === "radio") input.name = `${words}-${input.name}`;
    }
    this.write(view.start);
    this.write(Object.fromEntries([...this.attributes].map(({ name, value }) => [name, value])));
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", (event) => this.changed(event.target.dataset.name));
    this.addEventListener("keydown", (event) => this.key(event));
    this.addEventListener("click", (event) => this.click(event.target));
    this.addEventListener("pointerover", (event) => event.pointerType === "mouse" && this.point(event.target));
    this.changed();
  }

  inputs() {
    return [...this.form.querySelectorAll("input")];
  }

  // Everything that can be set, as text.
  read() {
    return Object.fromEntries(this.inputs().filter((input) => input.type !== "radio" || input.checked).map((input) => [input.dataset.name, input.value]));
  }

  write(state) {
    for (const input of this.inputs()) {
      const value = state[input.dataset.name] ?? input.value;
      if (input.type !== "radio") input.value = value;
      else if (input.value === state[input.dataset.name]) input.checked = true;
    }
  }

  changed(name) {
    const { view } = this.constructor;
    let state = this.read();
    for (const part of this.querySelectorAll("[data-when]")) {
      const [control, value] = part.dataset.when.split("=");
      part.hidden = state[control] !== value;
    }
    this.write((state = { ...state, ...view.follow(state, name) }));
    const problems = [];
    for (const input of this.inputs()) {
      if (input.type === "radio" || input.closest("[hidden]")) continue;
      const { value, problem } = checked(input.value, view.fields[input.dataset.name][1]);
      input.setAttribute("aria-invalid", Boolean(problem));
      if (problem) input.setAttribute("aria-describedby", this.querySelector(".explorer-words").id);
      else input.removeAttribute("aria-describedby");
      if (problem) problems.push(`${code(view.fields[input.dataset.name][0])} ${problem}.`);
      else state[input.dataset.name] = value;
    }
    this.state = problems.length ? undefined : state;
    this.lane = undefined;
    this.querySelector(".explorer-shown").classList.toggle("stale", problems.length > 0);
    this.show(problems.length ? { words: `${problems.join(" ")} The picture keeps the last numbers that it could draw.` } : view.answer(state));
  }

  show(parts) {
    for (const [name, html] of Object.entries(parts)) {
      const part = this.querySelector(`[data-part="${name}"]`);
      if (part.innerHTML !== html) part.innerHTML = html;
    }
  }

  // Up and down count in a field; a block doubles and halves.
  step(input, up) {
    const kind = this.constructor.view.fields[input.dataset.name][1];
    const { value } = whole(input.value);
    if (value === undefined) return;
    const stepped = next(value, kind, up);
    input.value = most(stepped, KINDS[kind].least ?? stepped);
    this.changed(input.dataset.name);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !event.key.startsWith("Arrow")) return;
    if (event.target.matches(".pick")) {
      event.preventDefault();
      if (this.state) this.pick(this.constructor.view.moves(this.state, this.lane ?? this.constructor.view.opens(this.state), event.key));
      return;
    }
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    if (!event.target.matches("input:not([type=radio])")) return;
    event.preventDefault();
    this.step(event.target, event.key === "ArrowUp");
  }

  // A lane of the tile, or an element of memory at which one points.
  point(target) {
    const { lane, to } = target.closest("[data-lane], [data-to]")?.dataset ?? {};
    const chosen = (lane ?? to)?.split(" ").map(BigInt);
    if (chosen && String(chosen) !== String(this.lane)) this.pick(chosen);
  }

  click(target) {
    this.point(target);
    if (target.matches("button[data-up]")) this.step(target.parentElement.querySelector("input"), Boolean(target.dataset.up));
  }

  // A lane of the tile, where the view shows one.
  pick(lane) {
    if (!this.state || lane.includes(undefined)) return;
    this.lane = lane;
    this.show(this.constructor.view.answer(this.state, lane));
  }
}

export function define(name, view) {
  if (!customElements.get(name)) customElements.define(name, class extends Explorer { static view = view; });
  return view;
}
