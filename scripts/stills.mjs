// Writes what the explorers show where scripts are off: `node scripts/stills.mjs`. The same functions draw it that draw it in a browser,
// and a browser test says when the files in docs/overrides/widgets are older than they.

import { mkdirSync, writeFileSync } from "node:fs";

globalThis.HTMLElement = class {};
globalThis.customElements = { get() {}, define() {} };
const { still, code } = await import("../docs/assets/explorer.js");
const { view: grid } = await import("../docs/assets/grid-explorer.js");
const { view: broadcast } = await import("../docs/assets/broadcast-explorer.js");
const { view: offsets } = await import("../docs/assets/offset-calculator.js");

const STILLS = {
  "grid-explorer": [grid, "grid-explorer", {}],
  "grid-explorer-2d": [grid, "grid-explorer", { dimensions: "2" }],
  "broadcast-explorer": [broadcast, "broadcast-explorer", {}],
  "offset-calculator": [offsets, "offset-calculator", {}],
  "offset-calculator-2d": [offsets, "offset-calculator", { dimensions: "2" }],
};
const folder = new URL("../docs/overrides/widgets/", import.meta.url);

mkdirSync(folder, { recursive: true });
for (const [name, [view, element, state]] of Object.entries(STILLS)) {
  const attributes = Object.entries(state).map(([key, value]) => ` ${key}="${value}"`).join("");
  const html = `<figure class="explorer-figure" id="${name}"><${element}${attributes}>${still(view, state)}</${element}></figure>\n`;
  writeFileSync(new URL(`${name}.html`, folder), html.replace(/\n\s*(?=.)/g, ""));
}
