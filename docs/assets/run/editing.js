// An editor in a place, and what it remembers: the text that it began with, and what the reader made of it.

import { make } from "./outlet.js";
import { script } from "./runtime.js";

// Make one in `parent`. `changed(text)` is told of each change, `run` of Ctrl+Enter.
export async function editor(parent, { original, text, label, run, changed, tall, enter = "runs" }) {
  const { edit } = await script("editor.js");
  const help = make("p", { className: "run-keys", textContent: `Ctrl+Enter ${enter}. Tab indents; Escape, then Tab, leaves the editor.` });
  const place = make("div", { className: `run-editor${tall ? " tall" : ""}`, dataset: { searchExclude: "" } });
  parent.append(place, help);
  return edit({ parent: place, text: text ?? original, label, run, changed });
}
