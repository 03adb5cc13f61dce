// Gives a block of a program two copy buttons: one for what the block shows with what that needs, one for the whole file. Each
// says how much that is. C++ that is a part of a program, and a cell of a lab, say what their button gives.

const root = new URL("..", import.meta.url);
const loaded = new Map();

export function load(path) {
  if (!loaded.has(path)) {
    const read = fetch(new URL(path, root)).then((answer) => {
      if (!answer.ok) throw new Error(`${answer.status} ${path}`);
      return path.endsWith(".json") ? answer.json() : answer.text();
    });
    loaded.set(path, read.catch(() => void loaded.delete(path)));
  }
  return loaded.get(path);
}

// How many lines it copies, because a block may need more than it shows. The last word gives way where there is no room for it.
function name(button, what, text, more = "") {
  const count = text?.trimEnd().split("\n").length;
  button.textContent = count ? `${what} · ${count}` : what;
  if (count) button.append(Object.assign(document.createElement("span"), { textContent: count === 1 ? " line" : " lines" }));
  const label = `Copy ${button.textContent}${more}`;
  button.title = label;
  button.setAttribute("aria-label", label);
}

const codeOf = (block) => block.querySelector("code").textContent;

// What a block shows, with what that needs.
export async function textOf(block) {
  const { program } = block.dataset;
  const page = location.pathname.slice(root.pathname.length).replace(/\/?(index\.html)?$/, "") || "index";
  const number = [...document.querySelectorAll(".language-python.highlight[data-program]")].indexOf(block);
  const found = (await load(`data/blocks/${page}.json`))?.[number];
  return found?.program === program ? found.text : undefined;
}

async function nameBlock(button, block) {
  const { program } = block.dataset;
  if (!block.matches(".language-python")) return name(button, "this C++", codeOf(block), ` (part of ${program}.py)`);
  name(button, "this block");
  const text = await textOf(block);
  if (text) button.dataset.clipboardText = text;
  name(button, "this block", text, text ? "" : " as it is shown (what it needs could not be loaded)");
}

async function addWhole(button, { program }) {
  const whole = document.createElement("button");
  whole.className = button.className;
  whole.type = "button";
  whole.disabled = true;
  whole.dataset.mdType = "copy";
  name(whole, "whole file");
  button.after(whole);
  const text = await load(`programs/${program}.py`);
  if (text) whole.dataset.clipboardText = text;
  whole.disabled = !text;
  name(whole, "whole file", text, text ? "" : " (it could not be loaded)");
}

// The text must be there before the click, because a browser lets a page write to the clipboard only during one.
const soon = window.requestIdleCallback ?? setTimeout;

function watchAll() {
  for (const button of document.querySelectorAll("button[data-clipboard-target]:not([data-named])")) {
    const block = button.closest("[data-program], .lab-cell");
    if (!block) continue;
    button.dataset.named = "";
    if (block.matches(".lab-cell")) name(button, "this cell", codeOf(block));
    else soon(() => (nameBlock(button, block), addWhole(button, block.dataset)));
  }
}

new MutationObserver(watchAll).observe(document.documentElement, { childList: true, subtree: true });
watchAll();
