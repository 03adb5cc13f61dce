// <grid-explorer>: what each program of a grid covers, and what a wrong grid misses or wastes. Arithmetic, not a recording.
// A page includes docs/overrides/widgets/grid-explorer.html, or grid-explorer-2d.html: the element with a picture for readers without
// scripts (scripts/stills.mjs). Attributes: dimensions, n, block, rows, columns, block_m, block_n, formula (a name in FORMULAS).

import { begin, cdiv, choice, choices, code, compiles, count, define, facts, least, number, range, share, span } from "./explorer.js";

const AXES = [(1n << 31n) - 1n, 65535n]; // CUDA's longest grid, by axis
const CELLS = 32n; // up to so many lanes, each has a cell of its own

// A formula's number of programs on an axis, its code, and where it mixes axes up, the one that it takes each number from.
const cdivCode = (n, block) => `triton.cdiv(${n}, ${block})`;
const FORMULAS = {
  cdiv: { programs: cdiv, text: cdivCode },
  floor: { programs: (n, block) => n / block, text: (n, block) => `${n} // ${block}` },
  more: { programs: (n, block) => n / block + 1n, text: (n, block) => `${n} // ${block} + 1` },
  elements: { programs: (n) => n, text: (n) => n },
  swapped: { programs: cdiv, text: cdivCode, sizes: [0, 1], blocks: [1, 0] },
  axes: { programs: cdiv, text: cdivCode, sizes: [1, 0], blocks: [1, 0] },
};

function onEachAxis(formula, kind, sizes, blocks) {
  const from = FORMULAS[formula];
  return sizes.map((_, i) => from[kind](sizes[from.sizes?.[i] ?? i], blocks[from.blocks?.[i] ?? i]));
}

// Arithmetic

// One axis: so many programs, each with a block, over so many elements.
function axis(size, block, programs) {
  const busy = least(programs, cdiv(size, block)); // programs with an element to do
  const covered = least(size, programs * block);
  const tail = busy && covered - (busy - 1n) * block; // elements of the last of them
  return { size, block, programs, busy, covered, tail, missed: size - covered, useless: programs - busy };
}

export function launch(formula, sizes, blocks) {
  const axes = onEachAxis(formula, "programs", sizes, blocks).map((programs, i) => axis(sizes[i], blocks[i], programs));
  const product = (name) => axes.reduce((all, each) => all * each[name], 1n);
  const [elements, covered, programs, busy] = ["size", "covered", "programs", "busy"].map(product);
  const lanes = product("block");
  return { axes, elements, covered, programs, lanes: programs * lanes, missed: elements - covered, useless: programs - busy, masked: busy * lanes - covered };
}

// Words

const have = (n) => (n === 1n ? "has" : "have");

function verdict({ axes, programs, missed, useless }) {
  const found = [missed && `${count(missed, "element")} missed`, useless && `${number(useless)} with nothing to do`].filter(Boolean);
  return `<b>${axes.map((axis) => number(axis.programs)).join(" × ")}</b> ${programs === 1n ? "program" : "programs"}, ${found.join(", ") || "each element once"}`;
}

function limits(axes) {
  const long = axes.findIndex((each, i) => each.programs > AXES[i]);
  if (long < 0) return "";
  return ` CUDA takes at most ${number(AXES[long])} programs on axis ${long}, so this launch fails.`;
}

function nothing(result) {
  if (!result.elements) return "There are no elements, and the grid is empty. Triton launches nothing; that is no error.";
  return `The grid is empty. Triton launches nothing and says nothing: ${count(result.elements, "element")} of the output ${result.elements === 1n ? "keeps" : "keep"} whatever was there before.`;
}

function luck(formula, axes, blocks) {
  const text = code(FORMULAS[formula].text("N", "BLOCK"));
  const [{ size, block, busy }] = axes;
  if (formula === "cdiv") return "";
  if (formula === "floor" && axes.length === 1) return ` ${text} is right by luck: ${number(block)} divides ${number(size)}. Add one element and it is lost.`;
  if (formula === "more" && axes.length === 1) return ` ${text} is right here, because ${number(block)} does not divide ${number(size)}. With ${number(busy * block)} elements a program has nothing to do.`;
  if (formula === "swapped" && blocks[0] === blocks[1]) return " Both block sizes are the same, so swapping them changes nothing here. Change one.";
  return " This grid is right for these numbers, and wrong for others.";
}

function lost({ axes, missed, elements }, names) {
  if (!missed) return "";
  const spans = axes.flatMap(({ covered, missed, size }, i) => (missed ? [span(covered, size - 1n, names[i])] : []));
  const alone = axes.reduce((sum, axis) => sum + axis.missed, 0n) === 1n;
  return ` <em>${begin(spans.join(" and "))} ${alone ? "belongs" : "belong"} to no program</em>: ${number(missed)} of ${count(elements, "element")} ${missed === 1n ? "is" : "are"} never computed, and no error says so.`;
}

function inOne(result) {
  const [{ size, block, programs, busy, covered, tail, missed, useless }] = result.axes;
  let words = `${begin(count(programs, "program"))} of ${count(block, "lane")} ${programs === 1n ? "makes" : "make"} ${count(result.lanes, "lane")} for ${count(size, "element")}.`;
  if (busy && tail < block) {
    words += ` Program ${number(busy - 1n)} owns the tail, ${span(covered - tail, covered - 1n, "element")}: its mask is true in ${count(tail, "lane")} and false in ${number(block - tail)}.`;
  } else if (busy && !missed && !useless) words += ` They fit: the mask is true in every lane.`;
  words += lost(result, ["element"]);
  if (useless) words += ` <em>${begin(span(busy, programs - 1n, "program"))} ${have(useless)} nothing to do</em>: every lane points past the end and is masked off. The result is right, the work is wasted.`;
  return words;
}

function inTwo(result) {
  const [rows, columns] = result.axes;
  let words = `A grid of ${number(rows.programs)} by ${number(columns.programs)} makes ${count(result.programs, "program")}, each with a tile of ${number(rows.block)} by ${number(columns.block)}.`;
  if (result.masked) words += ` Tiles at the edge reach past the matrix: ${count(result.masked, "lane is", "lanes are")} masked off.`;
  else if (result.covered && !result.missed && !result.useless) words += " They fit: the mask is true in every lane.";
  words += lost(result, ["row", "column"]);
  if (result.useless) words += ` <em>${count(result.useless, "program")} ${have(result.useless)} nothing to do</em>: ${result.useless === 1n ? "its tile lies" : "their tiles lie"} outside the matrix.`;
  return words;
}

function words(formula, result, blocks) {
  const said = result.programs ? (result.axes.length === 1 ? inOne : inTwo)(result) : nothing(result);
  const right = !result.missed && !result.useless && result.elements > 0n;
  return said + (right ? luck(formula, result.axes, blocks) : "") + limits(result.axes) + compiles(blocks);
}

function figures({ axes, programs, missed, useless, masked }) {
  const covers = axes.map(({ covered }) => (covered ? `0 to ${number(covered - 1n)}` : "nothing"));
  const tail = axes.map(({ tail, block }) => (tail % block ? number(tail) : "none"));
  const name = (text) => (axes.length === 1 ? text : `${text}, by axis`);
  return facts([
    ["Programs", number(programs)],
    [axes.length === 1 ? "Elements covered" : "Rows and columns covered", covers.join("; ")],
    [name("Elements of the last, partial tile"), tail.join("; ")],
    ["Masked off at the edge", number(masked)],
    ["Elements missed", number(missed)],
    ["Programs with nothing to do", number(useless)],
  ]);
}

// Pictures

// A stretch of equal things: the first ones, a gap and the last ones.
function some(from, total, head, tail) {
  if (total <= BigInt(head + tail + 1)) return range(total).map((i) => ({ id: from + BigInt(i) }));
  const gap = { gap: total - BigInt(head + tail) };
  return [...range(head).map((i) => ({ id: from + BigInt(i) })), gap, ...range(tail).map((i) => ({ id: from + total - BigInt(tail - i) }))];
}

// What is drawn along one axis. `real` is how many elements stand there, `lanes` how many a program has there.
function drawn({ busy, programs, block, tail, missed, covered }, head) {
  const place = (each, real) => (each.gap ? { ...each, real } : { ...each, real, lanes: block, from: each.id * block });
  const working = some(0n, busy, head, 2).map((each) => place(each, each.id === busy - 1n ? tail : block));
  const idling = some(busy, programs - busy, 2, 1).map((each) => place(each, 0n));
  return [...working, ...(missed ? [{ missed, lanes: 0n, real: least(missed, block), from: covered }] : []), ...idling];
}

function line(each, block) {
  const cells = block <= CELLS ? ` style="--cells:${block}"` : "";
  if (each.gap) return `<span class="skip">⋮ ${count(each.gap, "program")} not drawn${each.real ? "" : ", with nothing to do"}</span>`;
  const masked = each.lanes - each.real;
  const bar = each.missed
    ? `<i class="missed" style="width:${share(each.real, block)}"></i>`
    : (each.real ? `<i class="touched" style="width:${share(each.real, block)}"></i>` : "") + (masked ? `<i class="masked" style="width:${share(masked, block)}"></i>` : "");
  const told = each.missed ? `${number(each.missed)} missed` : !each.real ? "nothing to do" : masked ? `${number(masked)} masked off` : "";
  return `<span>${each.missed ? "nobody" : `program ${number(each.id)}`}</span><span class="from">${number(each.from)}</span><span class="bar${cells && " cells"}"${cells}>${bar}</span><small>${told}</small>`;
}

function tiles([rows, columns]) {
  const [down, across] = [drawn(rows, 2), drawn(columns, 3)];
  const weight = (each, { block }) => (each.gap ? 0.5 : Math.max(0.2, Number(((each.missed ? each.real : each.lanes) * 1000n) / block) / 1000));
  const ratio = Math.min(1.3, Math.max(0.5, Number((rows.block * 100n) / columns.block) / 100)) * 3.4;
  const style = `grid-template-columns:auto ${across.map((each) => `minmax(0,${weight(each, columns)}fr)`).join(" ")};grid-template-rows:auto ${down.map((each) => `${(weight(each, rows) * ratio).toFixed(2)}rem`).join(" ")}`;
  const head = (each) => `<span class="at">${each.gap ? "…" : number(each.from)}</span>`;
  const tile = (row, column) => {
    if (row.gap || column.gap) return `<span class="skip">${row.gap && column.gap ? "" : row.gap ? "⋮" : "…"}</span>`;
    const nobody = row.missed || column.missed;
    const real = row.real && column.real && `<i class="${nobody ? "missed" : "touched"}" style="width:${part(column)};height:${part(row)}"></i>`;
    return nobody ? `<span class="tile">${real || ""}</span>` : `<span class="tile masked">${real || ""}<b>${number(row.id)}, ${number(column.id)}</b></span>`;
  };
  const part = (each) => (each.missed ? "100%" : share(each.real, each.lanes));
  const gap = (all, name) => all.flatMap((each) => (each.gap ? [count(each.gap, `${name} of tiles`, `${name}s of tiles`)] : []));
  const left = [...gap(down, "row"), ...gap(across, "column")];
  return `<div class="tiles" style="${style}"><span></span>${across.map(head).join("")}${down.map((row) => head(row) + across.map((column) => tile(row, column)).join("")).join("")}</div>${
    left.length ? `<p class="legend">Not drawn: ${left.join(", ")}.</p>` : ""}`;
}

function legend(result) {
  const swatch = (state, text) => `<span><i class="${state}"></i>${text}</span>`;
  return `<p class="legend">${[
    result.covered && swatch("touched", "element with a program"),
    (result.masked || result.useless) && swatch("masked", "lane masked off, no element there"),
    result.missed && swatch("missed", "element that no program has"),
  ].filter(Boolean).join("")}</p>`;
}

function picture(result) {
  const [first] = result.axes;
  if (!result.elements && !result.programs) return "";
  const drawing = result.axes.length === 1
    ? `<div class="lines">${drawn(first, 4).map((each) => line(each, first.block)).join("")}</div>`
    : tiles(result.axes);
  return drawing + legend(result);
}

// The element

const counted = (state) => (state.dimensions === "2" ? [[state.rows, state.columns], [state.block_m, state.block_n]] : [[state.n], [state.block]]);
const known = (name, dimensions) => Boolean(FORMULAS[name]) && (dimensions === "2" || !FORMULAS[name].blocks);

function answer(state) {
  const [sizes, blocks] = counted(state);
  const result = launch(state.formula, sizes, blocks);
  const told = Object.keys(FORMULAS).filter((name) => known(name, state.dimensions)).map((name) => [`told-${name}`, verdict(launch(name, sizes, blocks))]);
  return { ...Object.fromEntries(told), words: words(state.formula, result, blocks), picture: picture(result), figures: figures(result) };
}

export function gridCode(name, dimensions) {
  const parts = dimensions === "1" ? onEachAxis(name, "text", ["N"], ["BLOCK"]) : onEachAxis(name, "text", ["M", "N"], ["BLOCK_M", "BLOCK_N"]);
  return `<code>grid = (${parts.map((part) => `<span>${part}</span>`).join(", ")}${dimensions === "1" ? "," : ""})</code>`;
}

const formula = (name) => {
  const label = ["1", "2"].filter((n) => known(name, n)).map((n) => `<span data-when="dimensions=${n}">${gridCode(name, n)}</span>`);
  return choice("formula", name, label.join(""), { told: `told-${name}`, when: known(name, "1") ? "" : "dimensions=2" });
};

export const view = define("grid-explorer", {
  label: "Grid explorer",
  start: { dimensions: "1", n: "1000", block: "256", rows: "80", columns: "300", block_m: "32", block_n: "64", formula: "cdiv" },
  fields: {
    n: ["N", "size"], block: ["BLOCK", "block"],
    rows: ["M", "size"], columns: ["N", "size"], block_m: ["BLOCK_M", "block"], block_n: ["BLOCK_N", "block"],
  },
  form: (field) => `${choices("Dimensions", [choice("dimensions", "1", "one dimension"), choice("dimensions", "2", "two")], "row")}
    <div class="fields" data-when="dimensions=1">${field("n")}${field("block")}</div>
    <div class="fields pairs" data-when="dimensions=2">${field("rows")}${field("columns")}${field("block_m")}${field("block_n")}</div>
    ${choices("The grid, right and wrong", Object.keys(FORMULAS).map(formula), "told")}`,
  shown: `<div class="picture" data-part="picture" role="img" aria-label="The programs and their elements, as said above"></div><div data-part="figures"></div>`,
  follow: (state) => (known(state.formula, state.dimensions) ? {} : { formula: "cdiv" }),
  answer,
});
