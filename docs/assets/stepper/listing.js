// The code that is stepped through. Where the page's own listing of the kernel stands right above, it is that listing, copy
// buttons and all: it moves into the picture, so that no page shows the same lines twice. Elsewhere it is the recording's source.

import { safe } from "../recorded.js";

// The listing above a figure, and the link to its program, if it shows every line that was recorded.
export function above(figure, source) {
  const found = [];
  let before = figure?.previousElementSibling;
  if (before?.matches("p") && before.children.length === 1 && before.querySelector("a.program")) {
    found.unshift(before);
    before = before.previousElementSibling;
  }
  const code = before?.matches(".highlight[data-program]") && before.querySelector("code");
  return code && placed(code.textContent.split("\n"), source) ? [before, ...found] : undefined;
}

// Which line of a listing each recorded line is. A listing has more: imports, comments, what follows the kernel.
function placed(shown, source) {
  let at = -1;
  const places = source.map((text) => (at = shown.findIndex((line, i) => i > at && (line === text || (line.startsWith(text) && /^\s+#/.test(line.slice(text.length)))))));
  return places.includes(-1) ? undefined : places;
}

// Splits what stands in an element into an element for each line. The text stays as it was.
function split(code) {
  const lines = [document.createElement("span")];
  const add = (node, wrap) => {
    if (node.nodeType !== Node.TEXT_NODE) {
      const children = [...node.childNodes];
      return children.forEach((child) => add(child, (made) => {
        const copy = node.cloneNode(false);
        copy.append(made);
        return wrap(copy);
      }));
    }
    for (const piece of node.data.split(/(?<=\n)/)) {
      lines.at(-1).append(wrap(document.createTextNode(piece)));
      if (piece.endsWith("\n")) lines.push(document.createElement("span"));
    }
  };
  [...code.childNodes].forEach((child) => add(child, (made) => made));
  if (!lines.at(-1).hasChildNodes()) lines.pop();
  for (const line of lines) {
    line.className = "line";
    line.style.setProperty("--hang", `${line.textContent.search(/\S|$/) + 2}ch`); // a wrapped line goes on to the right of where it began
  }
  code.replaceChildren(...lines);
  return lines;
}

// Puts the code into its place; returns an element for each recorded line.
export function listed(place, adopted, source) {
  if (!adopted) {
    place.innerHTML = `<pre><code>${safe(source.join("\n"))}</code></pre>`;
    return split(place.querySelector("code"));
  }
  place.append(...adopted);
  const code = place.querySelector("code");
  const places = placed(code.textContent.split("\n"), source);
  const all = code.querySelector(":scope > .line") ? [...code.children] : split(code);
  const [first, last] = [places[0], places.at(-1)];
  all.forEach((line, i) => line.classList.toggle("other", i < first || i > last));
  return places.map((at) => all[at]);
}

// Where in a line a piece of its text stands, for the browser to underline.
export function rangeOf(line, text) {
  let from = line.textContent.indexOf(text ?? "\n");
  if (from < 0 || !text) return undefined;
  const range = new Range();
  const nodes = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  let to = from + text.length;
  let begun = false;
  for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
    if (!begun && from < node.length) {
      range.setStart(node, from);
      begun = true;
    }
    if (to <= node.length) {
      range.setEnd(node, to);
      return range;
    }
    from -= node.length;
    to -= node.length;
  }
  return undefined;
}
