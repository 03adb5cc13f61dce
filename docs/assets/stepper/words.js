// What a step of a recording does, in words, and the numbers it holds, short enough to be shown.

import { product, expand, lanesIn, isAccess, part } from "../recorded.js";

const REDUCES = { max: "finds the largest of", min: "finds the smallest of", sum: "adds up" };
const by = (shape) => shape.join(" by ");

export const made = (event) => (REDUCES[event.op] ? event.result ?? [] : event.shape); // the shape of what a step makes
const nameOf = (event) => event.op.startsWith("atomic") ? undefined : event.name ?? event.into ?? (REDUCES[event.op] ? event.text ?? event.op : event.op === "dot" ? "tl.dot" : undefined);
export const scalarName = (event) => (made(event).length ? undefined : nameOf(event));
export const blockName = (event) => (made(event).length ? nameOf(event) : undefined);

export function short(text) {
  const size = Math.abs(text);
  if (size < 0.001 && size > 0) text = (+text).toExponential(0);
  else if (size < 1) text = String(+(+text).toFixed(3));
  return text.replace("-", "−").replace("inf", "∞");
}

// A number with as many digits as there is room for, counted in digits. What is not zero is never shown as zero.
const wide = (text) => [...text].reduce((sum, sign) => sum + ({ ".": 0.5, "−": 0.8 }[sign] ?? 1), 0);
export function fitted(text, room) {
  if (text === "true" || text === "false") return text.length <= room ? text : text[0].toUpperCase();
  if (wide(text) <= room) return text;
  const number = +text.replaceAll("−", "-").replace("∞", "Infinity");
  if (!Number.isFinite(number)) return room < 1 ? "" : text.slice(-1);
  const rounded = [3, 2, 1, 0].flatMap((digits) => {
    const tried = number.toFixed(digits);
    return +tried || !number ? [tried, tried.replace("0.", ".")] : [];
  });
  const found = [...rounded, number.toExponential(0)].map((tried) => tried.replaceAll("-", "−")).find((tried) => wide(tried) <= room);
  return found ?? (room < 2 ? "" : Math.abs(number) < 1 ? "≈0" : "…");
}

export const single = (event) => (event.values && !event.values.includes(" ") ? short(event.values) : undefined);

function accessWords(event, tensor) {
  const [on, masked, outside] = ["on", "masked", "outside"].map((state) => lanesIn(event, state));
  const where = on ? part(event, tensor, "on") : outside ? "nothing inside" : "nothing";
  const [, kind] = event.op.split("_");
  const verb = kind ? `atomically ${kind === "add" ? "adds" : `applies ${kind} with`} ${on} ${on === 1 ? "lane" : "lanes"} to` : `${event.op}s`;
  let words = `${verb} ${where}`;
  if (event.into && event.into !== event.tensor && !kind) words += ` into ${event.into}`;
  if (masked) {
    words += masked === 1 ? "; 1 lane is masked off" : `; ${masked} lanes are masked off`;
    if (event.shape.length < 2 && !kind) {
      const target = part(event, tensor, "masked");
      words += ` (${masked === 1 ? "it points" : "they point"}${target.startsWith("past") ? "" : " at"} ${target})`;
    }
    if (event.other) words += ` and filled with ${short(event.other)}`;
  }
  return outside ? `${words}; ${outside} ${outside === 1 ? "lane points" : "lanes point"} outside ${event.tensor}` : words;
}

export function words(event, { tensors, grid }) {
  const { op, name, shape } = event;
  const lanes = `its ${by(shape)} lanes`;
  const block = event.runs && expand(event.runs);
  if (isAccess(event)) return accessWords(event, tensors[event.tensor]);
  if (op === "loop") return `begins a round of the loop: ${name} = ${block[0]}`;
  if (op === "dot") return `multiplies a block of ${by(event.of[0])} with one of ${by(event.of[1])}, which makes ${by(shape)}${event.into ? `: ${event.into}` : ""}`;
  if (REDUCES[op]) {
    const along = event.result ? ` along axis ${event.axis}, which leaves ${by(event.result)}` : "";
    return `${REDUCES[op]} ${lanes}${along}${made(event).length || !single(event) ? "" : `: ${single(event)}`}`;
  }
  if (op === "program_id") return `asks for its number${grid.length > 1 ? ` along axis ${event.axis}` : ""}: ${name} = ${block[0]}`;
  if (event.lanes) return `works out ${name}, which points into ${event.tensor}`;
  const value = block?.[0] ?? single(event);
  if (!shape.length) return `sets ${name}${value === undefined ? "" : ` to ${value}`}`;
  if (event.adds) return `adds ${event.adds.join(" and ")} lane by lane into ${name}`;
  if (event.transposes) return `turns ${event.transposes} into ${name}: its rows become columns`;
  if (!block) return `works out ${name} in each of ${lanes}`;
  if (event.dtype !== "int1") {
    const [least, most] = [block.reduce((a, b) => Math.min(a, b)), block.reduce((a, b) => Math.max(a, b))];
    return `works out ${name}, a number for each lane: ${least} to ${most}`;
  }
  const on = block.filter(Boolean).length;
  return `works out ${name}: true in ${on} ${on === 1 ? "lane" : "lanes"}, false in ${block.length - on}`;
}

// The frame to open on: the first block made of what was loaded, or else what was loaded last.
export function firstShown(events) {
  const load = events.findIndex((event) => event.op === "load" && event.shape.length);
  const works = (event, i) => i > load && !isAccess(event) && event.shape.length && !event.lanes && !/^int/.test(event.dtype) && event.op !== "loop";
  const found = load < 0 ? -1 : events.findIndex(works);
  if (found >= 0) return found;
  const last = events.findLastIndex((event) => event.op === "load" && event.shape.length);
  return last >= 0 ? last : events.length - 1;
}

export const sizeOf = (tensor) => product(tensor.shape);
