// Layouts drawn: a grid of elements, colored by who holds them. A layout is given by the steps of its bits, as Triton counts them:
// the element of a number is the exclusive or of the steps of its bits.

const BANKS = 32;
const BYTES = { f64: 8, i64: 8, f32: 4, i32: 4, f16: 2, bf16: 2, i16: 2, i8: 1, i1: 1 };

const steps = (text) => (text ? text.split(" ").map((step) => step.split(",").map(Number)) : []);

function reached(bases, number, rank) {
  const element = Array(rank).fill(0);
  bases.forEach((step, bit) => number & (1 << bit) && step.forEach((part, axis) => (element[axis] ^= part)));
  return element;
}

const bytesOf = (dtype) => (dtype.startsWith("!tt.ptr") ? 8 : (BYTES[dtype] ?? 4));

// For each element, row by row, its first holder: {warp, lane, register, copies}, or in shared memory {offset, bank}.
export function holders({ shape, dtype, bases }) {
  const sides = shape.split("x").map(Number);
  const index = (element) => element.reduce((at, part, axis) => at * sides[axis] + part, 0);
  const found = [];
  if (bases.offset !== undefined) {
    const counted = steps(bases.offset);
    const bytes = bytesOf(dtype);
    for (let offset = 0; offset < 1 << counted.length; offset++) found[index(reached(counted, offset, sides.length))] = { offset, bank: Math.floor((offset * bytes) / 4) % BANKS };
    return found;
  }
  const [registers, lanes, warps] = ["register", "lane", "warp"].map((name) => {
    const counted = steps(bases[name]);
    return [...Array(1 << counted.length).keys()].map((number) => reached(counted, number, sides.length));
  });
  warps.forEach((atWarp, warp) => {
    lanes.forEach((atLane, lane) => {
      registers.forEach((at, register) => {
        const place = index(at.map((part, axis) => part ^ atLane[axis] ^ atWarp[axis]));
        if (found[place]) found[place].copies++;
        else found[place] = { warp, lane, register, copies: 1 };
      });
    });
  });
  return found;
}

// A block of one axis is drawn in rows of 32 or 64.
export function grid(shape) {
  const sides = shape.split("x").map(Number);
  if (sides.length === 1) return { columns: Math.min(sides[0], sides[0] > 1024 ? 64 : 32), count: sides[0] };
  return { columns: sides.at(-1), count: sides.reduce((a, b) => a * b) };
}

export function named(shape, place) {
  const sides = shape.split("x").map(Number);
  const element = [];
  for (const side of [...sides].reverse()) element.unshift(place % side), (place = Math.floor(place / side));
  return `(${element.join(", ")})`;
}

const color = ({ warp, lane, bank }, dark) => {
  if (bank !== undefined) return `oklch(${dark ? 0.3 + bank / 80 : 0.93 - bank / 70} 0.09 ${(bank * 360) / BANKS})`;
  return `oklch(${dark ? 0.28 + lane / 80 : 0.95 - lane / 110} 0.09 ${(warp * 137.5 + 150) % 360})`;
};

export const same = (one, other) => (one.bank !== undefined ? one.bank === other.bank : one.warp === other.warp && one.lane === other.lane);

export function told(layout, place, held) {
  const holder = held[place];
  const element = `Element ${named(layout.shape, place)}`;
  if (holder.bank !== undefined) return `${element} lies at element ${holder.offset} of the block in shared memory, in bank ${holder.bank}.`;
  const copies = holder.copies > 1 ? ` ${holder.copies} registers hold a copy of it.` : "";
  return `${element} is in warp ${holder.warp}, lane ${holder.lane}, register ${holder.register}.${copies}`;
}

export function paint(canvas, layout, held, cursor) {
  const { columns, count } = grid(layout.shape);
  const rows = Math.ceil(count / columns);
  const width = canvas.parentElement.clientWidth;
  const side = Math.max(2, Math.min(24, Math.floor(width / columns)));
  const ratio = Math.max(1, Math.min(devicePixelRatio, 4_000 / (rows * side)));
  canvas.width = columns * side * ratio;
  canvas.height = rows * side * ratio;
  canvas.style.width = `${columns * side}px`;
  canvas.style.height = `${rows * side}px`;
  const [pen, style] = [canvas.getContext("2d"), getComputedStyle(canvas)];
  const dark = document.body.dataset.mdColorScheme === "slate";
  pen.scale(ratio, ratio);
  const gap = side > 5 ? 1 : 0;
  for (let place = 0; place < count; place++) {
    const [x, y] = [(place % columns) * side, Math.floor(place / columns) * side];
    const lit = same(held[place], held[cursor]);
    pen.fillStyle = lit ? style.getPropertyValue("--bw-accent") : color(held[place], dark);
    pen.fillRect(x, y, side - gap, side - gap);
    if (side >= 14) {
      pen.fillStyle = lit ? style.getPropertyValue("--bw-paper") : style.getPropertyValue("--bw-ink");
      pen.font = `${Math.floor(side / 2.1)}px ${style.fontFamily}`;
      pen.textAlign = "center";
      pen.fillText(held[place].bank ?? held[place].lane, x + side / 2, y + side * 0.68);
    }
  }
  pen.strokeStyle = style.getPropertyValue("--bw-ink");
  pen.lineWidth = 2;
  pen.strokeRect((cursor % columns) * side, Math.floor(cursor / columns) * side, side, side);
  return { side, columns, count };
}
