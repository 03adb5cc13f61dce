// Writes what the explorers show where scripts are off: `node scripts/stills.mjs`. The functions that draw in a browser draw it, and a
// browser test, which loads this file too, says when the files in docs/overrides/widgets are older than they.

const written = typeof document === "undefined";
const assets = new URL(written ? "../docs/assets/" : ".", import.meta.url);
const load = (name) => import(new URL(`${name}.js`, assets));
if (written) {
  globalThis.HTMLElement = class {};
  globalThis.customElements = { get() {}, define() {} };
}
const { checked, code, number } = await load("explorer");
const { view: grid, gridCode } = await load("grid-explorer");
const { view: broadcast, FORMULAS } = await load("broadcast-explorer");
const { view: offsets, ONE, TWO } = await load("offset-calculator");

// The controls, as readers without scripts see them.
function given(view, state) {
  const two = state.dimensions === "2";
  const names = Object.keys(view.fields).filter((name) => view === broadcast || two !== ["n", "block"].includes(name));
  const numbers = names.map((name) => `${code(view.fields[name][0])} = ${number(state[name])}`);
  const formula = view === grid ? gridCode(state.formula, state.dimensions) : code(view === broadcast ? `offsets = ${FORMULAS[state.formula]}` : two ? TWO.at(-1) : ONE);
  return `${numbers.join(", ")}<br>${formula}`;
}

function still(view, attributes) {
  let state = { ...view.start, ...attributes };
  state = { ...state, ...view.follow(state) };
  for (const [name, [, kind]] of Object.entries(view.fields)) state[name] = checked(state[name], kind).value;
  const parts = view.answer(state);
  const shown = view.shown.replace(/(<(\w+)[^>]* data-part="(\w+)"[^>]*>)(?=<\/\2>)/g, (open, _, tag, name) => open + parts[name]);
  const words = `<p class="explorer-words">${parts.words}</p>`;
  const picture = `<div class="explorer-shown">${shown}</div>`;
  return `<div class="explorer still"><p class="given">${given(view, state)}</p>${view.opens ? picture + words : words + picture}
    <p class="note">Worked out from this formula: arithmetic, not a recorded run. With scripts on, you can try other numbers.</p></div>`;
}

function figure(name, element, view, attributes = {}) {
  const told = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`).join("");
  const html = `<figure class="explorer-figure" id="${name}"><${element}${told}>${still(view, attributes)}</${element}></figure>`;
  return `${html.replace(/\n\s*/g, "").replace(/ (role="status"|data-part="\w+"|data-to="[^"]*"|tabindex="0"[^>]*)/g, "")}\n`;
}

const two = { dimensions: "2" };
export const stills = {
  "grid-explorer": figure("grid-explorer", "grid-explorer", grid),
  "grid-explorer-2d": figure("grid-explorer-2d", "grid-explorer", grid, two),
  "broadcast-explorer": figure("broadcast-explorer", "broadcast-explorer", broadcast),
  "offset-calculator": figure("offset-calculator", "offset-calculator", offsets),
  "offset-calculator-2d": figure("offset-calculator-2d", "offset-calculator", offsets, two),
};

if (written) {
  const { mkdirSync, writeFileSync } = await import("node:fs");
  const folder = new URL("../docs/overrides/widgets/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const [name, html] of Object.entries(stills)) writeFileSync(new URL(`${name}.html`, folder), html);
}
