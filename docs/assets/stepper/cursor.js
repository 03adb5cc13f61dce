// Pointing at a single lane or element of the picture, with the mouse or with the arrow keys.

const groupsOf = (picture) => {
  const groups = new Map();
  for (const element of picture.querySelectorAll("[data-columns]")) {
    const { block, tensor, first, columns, rows, share = 1 } = element.dataset;
    const [kind, name] = block === undefined ? ["tensor", tensor] : ["block", block];
    const key = `${kind} ${name}`;
    if (!groups.has(key)) groups.set(key, { kind, name, parts: [], size: 0 });
    const group = groups.get(key);
    group.parts.push({ element, first: +first, columns: +columns, rows: +rows, share: +share });
    group.size = +first + columns * rows;
  }
  return [...groups.values()];
};

const partOf = (group, cell) => group?.parts.find(({ first, columns, rows }) => cell >= first && cell < first + columns * rows);
const groupOf = (groups, { kind, name }) => groups.find((group) => group.kind === kind && group.name === name);

export const sameCell = (one, other) => one?.kind === other?.kind && one?.name === other?.name && one?.cell === other?.cell;

export function cellAt(target, { clientX, clientY }) {
  const element = target.closest("[data-columns]");
  if (!element) return undefined;
  const { block, tensor, first, columns, rows, share = 1 } = element.dataset;
  const box = element.getBoundingClientRect();
  const column = Math.floor(((clientX - box.left) / (box.width * share)) * columns);
  const row = Math.floor(((clientY - box.top) / box.height) * rows);
  if (column < 0 || column >= +columns || row < 0 || row >= +rows) return undefined;
  return { kind: block === undefined ? "tensor" : "block", name: block ?? tensor, cell: +first + row * columns + column };
}

// Where an arrow key leads from a cell: to its neighbor, or over the edge to the next block or tensor.
export function moved(picture, cursor, key) {
  const groups = groupsOf(picture);
  if (!groups.length) return undefined;
  const from = cursor && groupOf(groups, cursor);
  if (!from) {
    const { kind, name, parts } = groups.find(({ parts }) => parts.some(({ element }) => element.matches(".now") || element.querySelector(".now"))) ?? groups[0];
    return { kind, name, cell: parts[0].first };
  }
  const { columns } = partOf(from, cursor.cell) ?? from.parts[0];
  const cell = cursor.cell + { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key];
  if (partOf(from, cell)) return { ...cursor, cell };
  const forward = key === "ArrowRight" || key === "ArrowDown";
  const next = groups[groups.indexOf(from) + (forward ? 1 : -1)];
  if (!next) return cursor;
  const end = forward ? next.parts[0] : next.parts.at(-1);
  const row = forward ? 0 : end.rows - 1;
  const column = key === "ArrowRight" ? 0 : key === "ArrowLeft" ? end.columns - 1 : Math.min(cursor.cell % columns, end.columns - 1);
  return { kind: next.kind, name: next.name, cell: end.first + row * end.columns + column };
}

export function drawCursor(picture, cursor) {
  const part = cursor && partOf(groupOf(groupsOf(picture), cursor), cursor.cell);
  if (!part) return;
  const { element, first, columns, rows, share } = part;
  const [row, column] = [Math.floor((cursor.cell - first) / columns), (cursor.cell - first) % columns];
  const drawn = document.createElement("i");
  drawn.className = "cursor";
  const percent = (n) => `${100 * n}%`;
  Object.assign(drawn.style, { left: percent((share * column) / columns), width: percent(share / columns), top: percent(row / rows), height: percent(1 / rows) });
  element.append(drawn);
}
