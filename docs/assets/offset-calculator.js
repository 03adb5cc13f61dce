// <offset-calculator>: which program is the first whose offsets pass an int32, and what becomes of them. Arithmetic, not a recording.
// A page includes docs/overrides/widgets/offset-calculator.html, or offset-calculator-2d.html: the element with a picture for readers
// without scripts (scripts/stills.mjs). Attributes: dimensions, n, block, rows, columns, block_m, block_n, stride_m, stride_n, layout.

import { choice, choices, code, count, define, facts, least, most, number, share } from "./explorer.js";

const LAST = (1n << 31n) - 1n; // the largest int32
const DRAWN = 1n << 33n; // offsets are drawn up to here
export const ONE = "offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)";
export const TWO = [
  "rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)",
  "cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)",
  "offsets = rows[:, None] * stride_m + cols[None, :] * stride_n",
];
const LAYOUTS = { contiguous: "contiguous", transposed: "transposed", own: "strides of its own" };

// Arithmetic, as a kernel does it: program ids and tl.arange are int32; an argument is an int32 where it fits one, else an int64.

const narrow = (value) => BigInt.asIntN(32, value);
const wide = (stride) => stride > LAST;

function term(index, stride) {
  const product = narrow(index) * stride;
  return wide(stride) ? BigInt.asIntN(64, product) : narrow(product);
}

const computed = ({ stride_m, stride_n }, row, column) =>
  BigInt.asIntN(wide(stride_m) || wide(stride_n) ? 64 : 32, term(row, stride_m) + term(column, stride_n));
const meant = ({ stride_m, stride_n }, row, column) => row * stride_m + column * stride_n;

// The first number from `from` to `to` for which `holds`, where it holds for `to` and for every number after the first.
function first(from, to, holds) {
  while (from < to) {
    const middle = (from + to) / 2n;
    if (holds(middle)) to = middle;
    else from = middle + 1n;
  }
  return to;
}

// The first program whose offsets are wrong, in the order of program ids, and the first wrong offset in it.
export function overflow(tensor) {
  const { rows, columns, block_m, block_n } = tensor;
  const wrong = (row, column) => computed(tensor, row, column) !== meant(tensor, row, column);
  if (!rows || !columns || !wrong(rows - 1n, columns - 1n)) return undefined;
  const reach = (start, block, size) => least(start + block, size) - 1n;
  const pid_m = first(0n, rows - 1n, (row) => wrong(row, columns - 1n)) / block_m;
  const bottom = reach(pid_m * block_m, block_m, rows);
  const pid_n = first(0n, columns - 1n, (column) => wrong(bottom, column)) / block_n;
  const right = reach(pid_n * block_n, block_n, columns);
  const row = first(pid_m * block_m, bottom, (each) => wrong(each, right));
  const column = first(pid_n * block_n, right, (each) => wrong(row, each));
  const lane = [row - pid_m * block_m, column - pid_n * block_n];
  return { pid: [pid_m, pid_n], lane, meant: meant(tensor, row, column), computed: computed(tensor, row, column) };
}

const tensorOf = (state) =>
  state.dimensions === "2" ? state : { rows: 1n, columns: state.n, block_m: 1n, block_n: state.block, stride_m: 0n, stride_n: 1n };

// Words

function words(state, tensor, largest, found) {
  const two = state.dimensions === "2";
  if (largest === undefined) return "There are no elements, so there are no offsets.";
  const strides = [["stride_m", tensor.stride_m], ["stride_n", tensor.stride_n]].filter(([, stride]) => wide(stride)).map(([name]) => code(name));
  const passed = strides.length ? ` ${strides.join(" and ")} ${strides.length > 1 ? "do not fit an int32 themselves: Triton passes them" : "does not fit an int32 itself: Triton passes it"} as 64-bit, and the product is 64-bit too.` : "";
  if (!found && largest <= LAST) return `The largest offset is ${number(largest)}. It fits an int32, which goes to ${number(LAST)}.`;
  if (!found) return `The largest offset is ${number(largest)}. An int32 goes to ${number(LAST)} only.${passed} No offset is wrong.`;
  const [program, lane] = [found.pid, found.lane].map((all) => (two ? all : all.slice(1)).map(number).join(", "));
  const mask = code(two ? "(rows < M) & (cols < N)" : "offsets < N");
  const narrowed = tensor.rows > LAST || tensor.columns > LAST;
  const why = narrowed ? "is true for a negative number" : "looks at rows and columns, which are right";
  const passes = found.computed < 0n ? ` It points before the tensor, and a mask does not stop it: ${mask} ${why}.` : ` It points at another element, and a mask does not stop it: ${mask} ${why}.`;
  const cure = two ? code("tl.program_id(0).to(tl.int64)") + ", and the same for axis 1" : code("tl.program_id(0).to(tl.int64)");
  return `The largest offset is ${number(largest)}, and an int32 goes to ${number(LAST)} only.${passed} <em>Program ${two ? `(${program})` : program} is the first that goes wrong</em>: its lane ${two ? `[${lane}]` : lane} means offset ${number(found.meant)} and computes ${number(found.computed)}.${passes} The cure is ${cure}.`;
}

// Pictures

function picture(tensor, largest) {
  if (largest === undefined) return "";
  const low = -LAST - 1n;
  const high = most(least(largest, DRAWN), 1n << 32n);
  const left = (value) => share(value - low, high - low);
  const bar = (state, from, to) => (to > from ? `<i class="${state}" style="left:${left(from)};width:${share(to - from, high - low)}"></i>` : "");
  const limit = `<i class="limit" style="left:${left(LAST)}"></i>`;
  const fits = bar("touched", 0n, least(largest, LAST));
  const wrapped = bar("outside", low, least(low + most(largest - LAST, 0n), LAST));
  const same = wide(tensor.stride_m) || wide(tensor.stride_n);
  const tick = (value, text, end = "") => `<span class="${end}" style="left:${left(value)}">${text}</span>`;
  const beyond = largest > LAST;
  return `<div class="axis"><span>offsets meant</span><div class="extent">${fits}${bar("outside", LAST, least(largest, high))}${limit}</div>
    ${same ? "" : `<span>in an int32</span><div class="extent">${fits}${wrapped}${limit}</div>`}
    <span></span><div class="ticks">${tick(low, "−2³¹", "start")}${tick(0n, "0")}${tick(LAST, "2³¹ − 1")}${tick(high, high === 1n << 32n ? "2³²" : high === DRAWN ? "2³³" : "", "end")}</div></div>
    <p class="legend"><span><i class="touched"></i>fits an int32</span>${beyond ? `<span><i class="outside"></i>past the largest int32${same ? "" : ", and where it lands"}</span>` : ""}${largest > DRAWN ? `<span>Not drawn: what lies past 2³³.</span>` : ""}</p>`;
}

function answer(state) {
  const tensor = tensorOf(state);
  const { rows, columns } = tensor;
  const largest = rows && columns ? meant(tensor, rows - 1n, columns - 1n) : undefined;
  const found = overflow(tensor);
  const pid = found && (state.dimensions === "2" ? found.pid.map(number).join(", ") : number(found.pid[1]));
  const figures = [
    ["Elements", number(rows * columns)],
    ["Largest int32", number(LAST)],
    ["Largest offset", largest === undefined ? "none" : number(largest)],
    ["First wrong program", pid ?? "none"],
    ["Offset meant", found ? number(found.meant) : "none"],
    ["Offset computed", found ? number(found.computed) : "none"],
  ];
  return { words: words(state, tensor, largest, found), picture: picture(tensor, largest), figures: facts(figures) };
}

export const view = define("offset-calculator", {
  label: "Offset calculator",
  start: {
    dimensions: "1", n: "3_000_000_000", block: "1024",
    rows: "100_000", columns: "50_000", block_m: "64", block_n: "64", stride_m: "", stride_n: "", layout: "",
  },
  fields: {
    n: ["N", "size"], block: ["BLOCK", "block"],
    rows: ["M", "size"], columns: ["N", "size"], block_m: ["BLOCK_M", "block"], block_n: ["BLOCK_N", "block"],
    stride_m: ["stride_m", "distance"], stride_n: ["stride_n", "distance"],
  },
  form: (field) => `${choices("Dimensions", [choice("dimensions", "1", "one dimension"), choice("dimensions", "2", "two")], "row")}
    <div data-when="dimensions=1"><div class="fields">${field("n")}${field("block")}</div><p class="formula">${code(ONE)}</p></div>
    <div data-when="dimensions=2"><div class="fields pairs">${field("rows")}${field("columns")}${field("block_m")}${field("block_n")}${field("stride_m")}${field("stride_n")}</div>
      ${choices("The tensor is", Object.entries(LAYOUTS).map(([name, label]) => choice("layout", name, label)), "row")}
      <p class="formula">${TWO.map(code).join("<br>")}</p></div>`,
  shown: `<div class="picture" data-part="picture" role="img" aria-label="The offsets beside the range of an int32, as said above"></div><div data-part="figures"></div>`,
  // A layout sets the strides from the shape; a stride of one's own leaves the layout.
  follow(state, changed) {
    const { layout, stride_m, stride_n } = state;
    if (changed === "stride_m" || changed === "stride_n") return { layout: "own" };
    if (layout === "own" || (!layout && stride_m && stride_n)) return { layout: "own" };
    return layout === "transposed" ? { layout, stride_m: "1", stride_n: state.rows.trim() } : { layout: "contiguous", stride_m: state.columns.trim(), stride_n: "1" };
  },
  answer,
});
