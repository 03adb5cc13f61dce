// <broadcast-explorer>: how a column and a row make a tile of offsets, and where in memory they fall. Arithmetic, not a recording.
// A page includes docs/overrides/widgets/broadcast-explorer.html: the element with a picture for readers without scripts
// (scripts/stills.mjs). Attributes: pid_m, pid_n, block_m, block_n, stride_m, stride_n, layout (in LAYOUTS), formula (in FORMULAS).

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
export const FORMULAS = {
  tile: "rows[:, None] * stride_m + cols[None, :] * stride_n",
  diagonal: "rows * stride_m + cols * stride_n",
};

// Arithmetic

const gcd = (a, b) => (b ? gcd(b, a % b) : a);
const size = (n) => (n < 0n ? -n : n);

const parts = ({ block_m, block_n, pid_m, pid_n, stride_m, stride_n }, i, j) => [[pid_m * block_m + i, stride_m], [pid_n * block_n + j, stride_n]];
const times = ([index, stride]) => index * stride;
const at = (state, i, j) => parts(state, i, j).map(times).reduce((a, b) => a + b);
const ends = (offsets) => ({ lowest: offsets.reduce(least), highest: offsets.reduce(most) });

// The tile's lanes and the elements they point at. Lanes (i, j) and (i + b, j - a) meet where a and b are the strides in lowest terms.
export function tile(state) {
  const [bottom, right] = [state.block_m - 1n, state.block_n - 1n];
  const [m, n] = [size(state.stride_m), size(state.stride_n)];
  const common = gcd(m, n);
  const lanes = state.block_m * state.block_n;
  const met = common ? most(state.block_m - n / common, 0n) * most(state.block_n - m / common, 0n) : lanes - 1n;
  return { lanes, elements: lanes - met, ...ends([at(state, 0n, 0n), at(state, 0n, right), at(state, bottom, 0n), at(state, bottom, right)]) };
}

// Without [:, None] both are vectors: added lane by lane where their lengths agree, or where one has a single lane.
export function diagonal(state) {
  const { block_m, block_n } = state;
  if (block_m !== block_n && block_m !== 1n && block_n !== 1n) return undefined;
  const [first, last] = [at(state, 0n, 0n), at(state, block_m - 1n, block_n - 1n)];
  const lanes = most(block_m, block_n);
  return { lanes, elements: first === last ? 1n : lanes, ...ends([first, last]) };
}

// Words

const apart = (stride) => (stride === 0n ? "the same element" : size(stride) === 1n ? "neighbors in memory" : `${number(size(stride))} elements apart`);

function warnings(state, found) {
  const before = found.lowest < 0n ? " Negative offsets point <em>before the start</em> of the tensor." : "";
  const wide = most(found.highest, -1n - found.lowest) >> 31n ? " These offsets do not fit an int32: the program ids must be made 64-bit." : "";
  return before + wide + compiles([state.block_m, state.block_n]);
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
  const own = parts(state, i, j);
  const [row, column] = own.map(([index]) => number(index));
  const sum = own.map((pair) => pair.map(number).join(" × ")).join(" + ");
  const name = state.formula === "tile" ? `Lane [${number(i)}, ${number(j)}]` : `Lane ${number(most(i, j))}`;
  return `${name}: row ${row}, column ${column}, offset ${sum} = <b>${number(at(state, i, j))}</b>.`;
}

// Pictures

const exists = ({ formula, block_m, block_n }, i, j) => formula === "tile" || i === j || (block_m !== block_n && (block_m === 1n || block_n === 1n));

// Which rows or columns are drawn: the first ones and the last.
const some = (n, shown) => (n <= BigInt(shown) ? range(n).map(BigInt) : [...range(shown - 2).map(BigInt), undefined, n - 1n]);

function drawn(state) {
  const found = tile(state);
  const digits = Math.max(number(found.lowest).length, number(found.highest).length);
  return [some(state.block_m, 8), some(state.block_n, Math.max(3, Math.min(8, Math.floor(36 / digits))))];
}

function sums(state, lane) {
  const [rows, columns] = drawn(state);
  const none = `<td class="skip">…</td>`;
  const spelled = columns.length < 5; // where there is room, as a product too
  const head = (axis) => (index) => {
    if (index === undefined) return none;
    const pair = parts(state, index, index)[axis];
    const factors = spelled ? `<small>${pair.map(number).join(" × ")} =</small> ` : "";
    return `<th scope="${axis ? "col" : "row"}"${index === lane[axis] ? ' class="now"' : ""}>${factors}${number(times(pair))}</th>`;
  };
  const cell = (i, j) => {
    if (i === undefined || j === undefined) return none;
    if (!exists(state, i, j)) return `<td class="none"></td>`;
    const near = i === lane[0] || j === lane[1] ? " near" : "";
    return `<td class="lane${i === lane[0] && j === lane[1] ? " now" : near}" data-lane="${i} ${j}">${number(at(state, i, j))}</td>`;
  };
  return `<table class="sums"><caption>On the left rows times stride_m, above cols times stride_n, inside the sum of the two.</caption><tr><td>${code("rows")} ↓ ${code("cols")} →</td>${columns.map(head(1)).join("")}</tr>${rows.map((i) => `<tr>${head(0)(i)}${columns.map((j) => cell(i, j)).join("")}</tr>`).join("")}</table>`;
}

function memory(state, lane) {
  const looked = [state.block_m, state.block_n].map((block) => range(least(block, LOOKED)).map(BigInt));
  const lines = new Map();
  for (const i of looked[0]) {
    for (const j of looked[1].filter((j) => exists(state, i, j))) {
      const offset = at(state, i, j);
      const line = offset / BigInt(LINE) - (offset < 0n && offset % BigInt(LINE) ? 1n : 0n);
      const place = Number(offset - line * BigInt(LINE));
      if (!lines.has(line)) lines.set(line, new Map());
      const there = lines.get(line).get(place) ?? [];
      lines.get(line).set(place, [...there, [i, j]]);
    }
  }
  const own = at(state, ...lane);
  const sorted = [...lines].sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = sorted.slice(0, LINES).map(([line, places], n) => {
    const between = n ? line - sorted[n - 1][0] - 1n : 0n;
    const skip = between ? `<span class="skip">⋮ ${count(between * BigInt(LINE), "element")} that no lane touches</span>` : "";
    const first = line * BigInt(LINE);
    const marks = [...places].map(([place, lanes]) => {
      const near = lanes.some(([i]) => i === lane[0]) ? " near" : "";
      const look = `${line < 0n ? "outside" : "touched"}${first + BigInt(place) === own ? " now" : near}`;
      return `<i class="${look}" data-to="${lanes[0].join(" ")}" style="left:${(100 * place) / LINE}%">${lanes.length > 1 && lanes.length < 10 ? lanes.length : ""}</i>`;
    });
    return `${skip}<span class="from">${number(first)}</span><span class="elements">${marks.join("")}</span>`;
  });
  const more = sorted.length > LINES ? `<span class="skip">⋮ more lines are touched, not drawn</span>` : "";
  const cut = state.block_m > LOOKED || state.block_n > LOOKED ? " Drawn are the lanes of the tile’s first rows and columns." : "";
  const repeated = sorted.some(([, places]) => [...places.values()].some((lanes) => lanes.length > 1)) ? " A digit tells how many lanes point at one element." : "";
  return `<div class="memory">${shown.join("")}${more}</div><p class="legend">Memory is one long line, folded here every ${LINE} elements; the offset on the left is where a line begins.${repeated}${cut}</p>`;
}

// The lane that is chosen at first: in the second row and the third column, where the tile has them.
function opens(state) {
  const [rows, columns] = drawn(state);
  return state.formula === "tile" ? [rows[1] ?? 0n, columns[2] ?? 0n] : [0n, 0n];
}

function answer(state, lane = opens(state)) {
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
  shown: `<div class="picture"><div class="pick" data-part="sums" tabindex="0" role="group" aria-label="The tile of offsets. Arrow keys choose a lane."></div>
    <p class="lane-words" role="status" data-part="lane"></p><div role="img" aria-label="Where the offsets fall in memory" data-part="memory"></div></div><div data-part="figures"></div>`,
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
    const along = rows[i + down + right];
    return state.formula === "diagonal" && state.block_m === state.block_n ? [along, along] : [rows[i + down], columns[j + right]];
  },
  answer,
  opens,
});
