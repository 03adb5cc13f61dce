// What a reader wrote in a lab, as the notebook that the site offers or as a file of the same cells.

import { load } from "../programs.js";
import { root } from "../run.js";

function save(name, text) {
  const link = Object.assign(document.createElement("a"), { download: name, href: URL.createObjectURL(new Blob([text])) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The library comes from the address that the site was built for. Taken along, it comes from where the site is read.
function fromHere(text) {
  const built = text.match(/(https?:[^"\s]*\/)dist\/[^"\s\\]+\.whl/)?.[1];
  return built ? text.replaceAll(built, root.href) : text;
}

// The lab's notebook with the reader's text in its exercises.
async function filled(lab) {
  const book = JSON.parse(fromHere(await load(`labs/${lab.name}-unsolved.ipynb`)));
  book.cells.filter((cell) => cell.cell_type === "code").forEach((cell, number) => {
    if (lab.cells[number].tag === "exercise") cell.source = lab.text(number).split(/(?<=\n)/);
  });
  return book;
}

export async function notebook(lab) {
  save(`${lab.name}.ipynb`, `${JSON.stringify(await filled(lab), null, 1)}\n`);
}

// In percent format, which editors show as cells, and Python runs as it is.
export async function script(lab) {
  const cells = (await filled(lab)).cells.map(({ cell_type: kind, source }) => {
    const text = [source].flat().join("");
    return kind === "code" ? `# %%\n${text}` : `# %% [markdown]\n${text.split("\n").map((line) => `# ${line}`.trimEnd()).join("\n")}`;
  });
  save(`${lab.name}.py`, `${cells.join("\n\n")}\n`);
}
