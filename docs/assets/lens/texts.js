// A kernel's text, as scripts/pages/lens.py writes it, taken apart; and what two texts have in common.

const CELLS = 12_000_000; // the largest comparison, in pairs of lines

// The first launch's lines stand in full; those of others refer to them.
function spelled(lines, first = []) {
  return lines.flatMap((line) => {
    if (!line.startsWith("=")) return [split(line)];
    const [start, count] = line.slice(1).split(" ").map(Number);
    return first.slice(start, start + count);
  });
}

function split(line) {
  const at = line.indexOf(" ");
  return { at: +line.slice(0, at), text: line.slice(at + 1) };
}

export function parse(text) {
  const found = { source: [], launches: [] };
  for (const part of text.split("\n== ").slice(1)) {
    const end = part.indexOf("\n");
    const words = part.slice(0, end).split(" ");
    const lines = part.slice(end + 1).replace(/\n+$/, "").split("\n");
    const [kind, number] = words;
    if (kind === "source") found.source.push({ name: words[1], file: words[2], lines: lines.map(split) });
    else if (kind === "launch") found.launches.push({ ...JSON.parse(words.slice(2).join(" ")), stages: {}, passes: [] });
    else if (kind === "passes") found.launches[+number].ran = +words[2];
    else if (kind === "pass") found.launches.at(-1).passes.push({ name: words[1], out: +words[2], into: +words[3], lines });
    else found.launches[+number].stages[kind] = spelled(lines, found.launches[0].stages[kind]);
  }
  const [{ label, triton }] = found.launches;
  for (const launch of found.launches) {
    launch.id = launch.target + (launch.label === label ? "" : `:${launch.label}`) + (launch.triton === triton ? "" : `@${launch.triton}`);
  }
  return found;
}

// Numbers of values, registers and labels say nothing about what a line does.
const plain = (text) => text.replace(/%[\w#:]+|\bU?[RP]\d+\b|\$L__\w+|\.L_\w+/g, "%").trim();

// For each line of two texts whether the other has it too, in the same order.
export function compared(one, other) {
  const [a, b] = [one, other].map((lines) => lines.map(({ text }) => plain(text)));
  const kept = [new Set(), new Set()];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) kept.forEach((set) => set.add(start)), start++;
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) kept[0].add(--endA), kept[1].add(--endB);
  const [rows, columns] = [endA - start, endB - start];
  if (rows * columns > CELLS) {
    // Too much to keep in order: whether the other text has such a line at all.
    const have = [new Set(b), new Set(a)];
    [a, b].forEach((lines, side) => lines.forEach((line, at) => have[side].has(line) && kept[side].add(at)));
    return kept;
  }
  const longest = new Uint16Array((rows + 1) * (columns + 1));
  const cell = (row, column) => row * (columns + 1) + column;
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const same = a[start + row] === b[start + column];
      longest[cell(row, column)] = same ? longest[cell(row + 1, column + 1)] + 1 : Math.max(longest[cell(row + 1, column)], longest[cell(row, column + 1)]);
    }
  }
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (a[start + row] === b[start + column]) kept[0].add(start + row++), kept[1].add(start + column++);
    else if (longest[cell(row + 1, column)] >= longest[cell(row, column + 1)]) row++;
    else column++;
  }
  return kept;
}
