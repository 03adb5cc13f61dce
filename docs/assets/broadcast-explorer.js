// <broadcast-explorer block_m="4" block_n="4" pid_m="1" pid_n="0" stride_m="8" stride_n="1">: how a column of offsets and a row of
// offsets make a tile of offsets, and where in memory they fall. Arithmetic on what the reader types, and it says so.
//
// On a page:  --8<-- "docs/overrides/widgets/broadcast-explorer.html"
// Attributes, all optional: those above; layout (rows, columns, slice, same), which sets both strides; formula (tile, diagonal).
// The include holds a picture for readers without scripts, written by scripts/stills.mjs.

import { choice, choices, code, compiles, count, define, facts, least, most, number, range } from "./explorer.js";

const LINE = 32; // elements of memory in a line
const LINES = 8; // lines of memory drawn
const LOOKED = 64n; // rows and columns of the tile whose place in memory is drawn
const LAYOUTS = {
  rows: ["row-major, 8 columns", "8", "1"],
  columns: ["column-major, 8 rows", "1", "8"],
  slice: ["8 columns cut from rows of 12", "12", "1"],
  same: ["one row for all (stride 0)", "0", "1"],
  own: ["strides of your own"],
};
const FORMULAS = {
  tile: "rows[:, None] * stride_m + cols[None, :] * stride_n",
  diagonal: "rows * stride_m + cols * stride_n",
};

// Arithmetic

const gcd = (a, b) => (b ? gcd(b, a % b) : a);
const size = (n) => (n < 0n ? -n : n);

// The tile's lanes and the elements they point at. Lanes (i, j) and (i + b, j - a) meet where a and b are the strides in lowest terms.
export function tile({ block_m, block_n, pid_m, pid_n, stride_m, stride_n }) {
  const common = gcd(size(stride_m), size(stride_n)) || 1n;
  const [a, b] = [size(stride_m) / common, size(stride_n) / common];
  const met = a || b ? most(block_m - b, 0n) * most(block_n - a, 0n) : block_m * block_n - 1n;
  const [row, column] = [pid_m * block_m, pid_n * block_n];
  const ends = [[row, stride_m, block_m], [column, stride_n, block_n]].map(([first, stride, n]) => [first * stride, (first + n - 1n) * stride]);
  const [lowest, highest] = [least, most].map((pick) => ends.reduce((sum, [one, other]) => sum + pick(one, other), 0n));
  return { row, column, lanes: block_m * block_n, elements: block_m * block_n - met, lowest, highest };
}

// Without [:, None] both are vectors: added lane by lane where their lengths agree, or where one has a single lane.
export function diagonal(state) {
  const { block_m, block_n, stride_m, stride_n } = state;
  if (block_m !== block_n && block_m !== 1n && block_n !== 1n) return undefined;
  const { row, column } = tile(state);
  const lanes = most(block_m, block_n);
  const step = (block_m > 1n || lanes === 1n ? stride_m : 0n) + (block_n > 1n || lanes === 1n ? stride_n : 0n);
  const [first, last] = [row * stride_m + column * stride_n, row * stride_m + column * stride_n + (lanes - 1n) * step];
  return { row, column, lanes, elements: step ? lanes : 1n, lowest: least(first, last), highest: most(first, last) };
}

// Words

const apart = (stride) => (stride === 0n ? "the same element" : size(stride) === 1n ? "neighbors in memory" : `${number(size(stride))} elements apart`);

function warnings(state, found) {
  const warned = [];
  if (found.lowest < 0n) warned.push(`Negative offsets point <em>before the start</em> of the tensor. PyTorch has no negative strides.`);
  if (found.highest >= 1n << 31n || found.lowest < -(1n << 31n)) warned.push("These offsets do not fit an int32: the program ids must be made 64-bit.");
  return warned.map((text) => ` ${text}`).join("") + compiles([state.block_m, state.block_n]);
}

function words(state, found) {
  const { block_m, block_n, stride_m, stride_n } = state;
  if (!found) return `<em>This does not compile.</em> ${code("rows")} has ${count(block_m, "lane")} and ${code("cols")} has ${number(block_n)}; without ${code("[:, None]")} and ${code("[None, :]")} they cannot be added. Make both blocks the same size and it compiles, which is worse.`;
  const where = `${count(found.elements, "element")}, ${found.elements === 1n ? `at offset ${number(found.lowest)}` : `from offset ${number(found.lowest)} to ${number(found.highest)}`}`;
  if (state.formula === "diagonal") {
    const lost = block_m * block_n - found.lanes;
    const mistake = lost ? ` <em>${count(lost, "lane")} of the tile ${lost === 1n ? "does" : "do"} not exist</em>${block_m === block_n ? ": only its diagonal is touched, and no error says so" : ""}.` : "";
    return `Two vectors are added lane by lane and make a vector of ${count(found.lanes, "lane")}. It touches ${where}.${mistake}${warnings(state, found)}`;
  }
  const shared = found.elements < found.lanes ? ` Some elements are touched by more than one lane.` : "";
  return `A column of ${number(block_m)} and a row of ${number(block_n)} make a tile of ${count(found.lanes, "lane")}. They touch ${where}. Along a row of the tile, lanes are ${apart(stride_n)}; down a column, ${apart(stride_m)}.${shared}${warnings(state, found)}`;
}

function laneWords(state, [i, j]) {
  const { row, column } = tile(state);
  const parts = [[row + BigInt(i), state.stride_m], [column + BigInt(j), state.stride_n]];
  const sum = parts.map(([index, stride]) => `${number(index)} × ${number(stride)}`).join(" + ");
  const name = state.formula === "tile" ? `Lane [${i}, ${j}]` : `Lane ${Math.max(i, j)}`;
  return `${name}: row ${number(parts[0][0])}, column ${number(parts[1][0])}, offset ${sum} = <b>${number(at(state, i, j))}</b>.`;
}

// Pictures

const at = (state, i, j) => (state.pid_m * state.block_m + BigInt(i)) * state.stride_m + (state.pid_n * state.block_n + BigInt(j)) * state.stride_n;
const exists = ({ formula, block_m, block_n }, i, j) => formula === "tile" || i === j || (block_m !== block_n && (block_m === 1n || block_n === 1n));

// Which rows or columns are drawn: the first ones and the last.
function some(n, most) {
  return n <= BigInt(most) ? range(n) : [...range(most - 2), undefined, Number(n) - 1];
}

function drawn(state) {
  const found = tile(state);
  const digits = Math.max(number(found.lowest).length, number(found.highest).length);
  return [some(state.block_m, 8), some(state.block_n, Math.max(3, Math.min(8, Math.floor(36 / digits))))];
}

function sums(state, lane) {
  const [rows, columns] = drawn(state);
  const none = `<td class="skip">…</td>`;
  const head = (index, now, scope) => (index === undefined ? none : `<th scope="${scope}"${now ? ' class="now"' : ""}>${number(scope === "row" ? at({ ...state, stride_n: 0n }, index, 0) : at({ ...state, stride_m: 0n }, 0, index))}</th>`);
  const cell = (i, j) => {
    if (i === undefined || j === undefined) return none;
    if (!exists(state, i, j)) return `<td class="none"></td>`;
    return `<td class="lane${i === lane[0] && j === lane[1] ? " now" : ""}" data-lane="${i} ${j}">${number(at(state, i, j))}</td>`;
  };
  const top = columns.map((j) => head(j, j === lane[1], "col")).join("");
  return `<table class="sums"><tr><td>${code("rows")} ↓ ${code("cols")} →</td>${top}</tr>${rows.map((i) => `<tr>${head(i, i === lane[0], "row")}${columns.map((j) => cell(i, j)).join("")}</tr>`).join("")}</table>`;
}

function memory(state, lane) {
  const looked = [state.block_m, state.block_n].map((block) => range(least(block, LOOKED)));
  const lines = new Map();
  for (const i of looked[0]) {
    for (const j of looked[1].filter((j) => exists(state, i, j))) {
      const offset = at(state, i, j);
      const line = offset / BigInt(LINE) - (offset < 0n && offset % BigInt(LINE) ? 1n : 0n);
      const place = Number(offset - line * BigInt(LINE));
      if (!lines.has(line)) lines.set(line, new Map());
      lines.get(line).set(place, (lines.get(line).get(place) ?? 0) + 1);
    }
  }
  const own = at(state, ...lane);
  const sorted = [...lines].sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = sorted.slice(0, LINES).map(([line, places], n) => {
    const between = n ? line - sorted[n - 1][0] - 1n : 0n;
    const skip = between ? `<span class="skip">⋮ ${count(between * BigInt(LINE), "element")} that no lane touches</span>` : "";
    const first = line * BigInt(LINE);
    const marks = [...places].map(([place, lanes]) => `<i class="${line < 0n ? "outside" : "touched"}${first + BigInt(place) === own ? " now" : ""}" style="left:${(100 * place) / LINE}%">${lanes > 1 && lanes < 10 ? lanes : ""}</i>`);
    return `${skip}<span class="from">${number(first)}</span><span class="elements">${marks.join("")}</span>`;
  });
  const more = sorted.length > LINES ? `<span class="skip">⋮ more lines are touched, not drawn</span>` : "";
  const cut = looked[0].length * looked[1].length < state.block_m * state.block_n ? " Drawn are the lanes of the tile’s first rows and columns." : "";
  const repeated = sorted.some(([, places]) => [...places.values()].some((lanes) => lanes > 1)) ? " A digit tells how many lanes point at one element." : "";
  return `<div class="memory">${shown.join("")}${more}</div><p class="legend">Memory is one long line, folded here every ${LINE} elements; the offset on the left is where a line begins.${repeated}${cut}</p>`;
}

function answer(state, lane = [0, 0]) {
  const found = (state.formula === "tile" ? tile : diagonal)(state);
  const blank = { sums: "", lane: "", memory: "", figures: "" };
  if (!found) return { ...blank, words: words(state) };
  const figures = [["Lanes", number(found.lanes)], ["Elements", number(found.elements)], ["Lowest offset", number(found.lowest)], ["Highest offset", number(found.highest)]];
  return { words: words(state, found), sums: sums(state, lane), lane: laneWords(state, lane), memory: memory(state, lane), figures: facts(figures) };
}

export const view = define("broadcast-explorer", {
  label: "Broadcast explorer",
  start: { block_m: "4", block_n: "4", pid_m: "1", pid_n: "0", stride_m: "8", stride_n: "1", layout: "", formula: "tile" },
  fields: {
    pid_m: ["pid_m", "id"], block_m: ["BLOCK_M", "block"], stride_m: ["stride_m", "stride"],
    pid_n: ["pid_n", "id"], block_n: ["BLOCK_N", "block"], stride_n: ["stride_n", "stride"],
  },
  form: (field) => `<div class="fields pairs">${["pid", "block", "stride"].map((name) => field(`${name}_m`) + field(`${name}_n`)).join("")}</div>
    ${choices("Strides", Object.entries(LAYOUTS).map(([name, [label, ...strides]]) => choice("layout", name, label + (strides.length ? `: ${strides.join(", ")}` : ""))), "row")}
    ${choices("Offsets", Object.entries(FORMULAS).map(([name, text]) => choice("formula", name, code(`offsets = ${text}`))), "told")}`,
  shown: `<div class="picture"><div class="pick" data-part="sums"></div>
    <p class="lane-words" role="status" data-part="lane"></p><div role="img" aria-label="Where the offsets fall in memory" data-part="memory"></div></div><div data-part="figures"></div>`,
  pick: "The tile of offsets. Arrow keys choose a lane.",
  follow(state, changed) {
    const [, stride_m, stride_n] = LAYOUTS[state.layout] ?? [];
    if ((changed === "layout" || !changed) && stride_m) return { stride_m, stride_n };
    const same = Object.keys(LAYOUTS).find((name) => LAYOUTS[name][1] === state.stride_m.trim() && LAYOUTS[name][2] === state.stride_n.trim());
    return { layout: changed === "layout" ? "own" : same ?? "own" };
  },
  // A lane chosen with the arrow keys or by pressing it, among those that are drawn.
  moves(state, lane, key) {
    const [rows, columns] = drawn(state).map((all) => all.filter((n) => n !== undefined));
    const [i, j] = [rows.indexOf(lane[0]), columns.indexOf(lane[1])];
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key];
    const to = [rows[i + down], columns[j + right]];
    if (state.formula === "diagonal" && state.block_m === state.block_n) return [rows[i + down + right], rows[i + down + right]];
    return to;
  },
  given: (state) => `pid_m = ${state.pid_m}, pid_n = ${state.pid_n}, BLOCK_M = ${state.block_m}, BLOCK_N = ${state.block_n}, stride_m = ${state.stride_m}, stride_n = ${state.stride_n}, ${code(`offsets = ${FORMULAS[state.formula]}`)}`,
  answer,
});
