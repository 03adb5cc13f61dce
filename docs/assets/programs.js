// Lets the copy button of a block that belongs to a program copy the whole program, not the block.

const root = new URL("..", import.meta.url);
const sources = new Map();

function source(name) {
  if (!sources.has(name)) {
    const read = fetch(new URL(`programs/${name}.py`, root)).then((answer) => {
      if (!answer.ok) throw new Error(`${answer.status} ${name}`);
      return answer.text();
    });
    sources.set(name, read.catch(() => void sources.delete(name)));
  }
  return sources.get(name);
}

async function attach(button) {
  const text = await source(button.closest("[data-program]").dataset.program);
  const label = text === undefined ? "Copy this block (the whole file could not be loaded)" : "Copy the whole file";
  if (text !== undefined) button.dataset.clipboardText = text;
  button.title = label;
  button.setAttribute("aria-label", label);
}

// The text must be there before the click, because a browser lets a page write to the clipboard only during one.
const soon = window.requestIdleCallback ?? setTimeout;

function watchAll() {
  for (const button of document.querySelectorAll("[data-program] button[data-clipboard-target]:not([data-whole])")) {
    button.dataset.whole = "";
    soon(() => attach(button));
  }
}

new MutationObserver(watchAll).observe(document.documentElement, { childList: true, subtree: true });
watchAll();
