// Which line touched this? Answers for an element of a tensor or a lane of a block, from the whole recording.

import { expand, product, isAccess, stridesOf, element } from "../recorded.js";
import { blockName, made, short } from "./words.js";

// Every lane of an event as [state, offset].
export const offsets = (event) => event.lanes.flatMap(([state, ...run]) => expand([run]).map((offset) => [state, offset]));

// Lanes of what an event makes, each as [state, text].
export function content(event) {
  const values = event.values?.split(" ").map(short) ?? [];
  if (event.lanes) return offsets(event).map(([state, offset], i) => [state, values[i] ?? (event.op === "set" ? String(offset) : "")]);
  if (event.dtype === "int1") return expand(event.runs).map((on) => (on ? ["on", "true"] : ["masked", "false"]));
  if (event.runs) return expand(event.runs).map((number) => ["on", String(number)]);
  return Array.from({ length: product(made(event)) }, (_, i) => [values[i] === "?" ? "masked" : "on", values[i] ?? ""]);
}

// The offset of an element, counted row by row.
export function offsetAt(tensor, place) {
  if (place >= product(tensor.shape)) return place;
  let rest = place;
  const index = tensor.shape.map((_, axis) => {
    const size = product(tensor.shape.slice(axis + 1));
    const number = Math.floor(rest / size);
    rest -= number * size;
    return number;
  });
  return stridesOf(tensor).reduce((sum, stride, axis) => sum + stride * index[axis], 0);
}

// All steps of all programs whose lanes point at an element, those in which something moved apart from those that were masked off.
export function touches({ programs }, name, offset) {
  const found = { on: [], masked: [] };
  programs.forEach(({ events }, program) => events.forEach((event, step) => {
    if (!isAccess(event) || event.tensor !== name) return;
    const lane = offsets(event).findIndex(([state, at]) => at === offset && state === "on");
    if (lane >= 0) found.on.push({ program, step, event, value: event.values?.split(" ")[lane] });
    else if (offsets(event).some(([, at]) => at === offset)) found.masked.push({ program, step, event });
  }));
  return found;
}

// What is known to lie in a tensor after some steps: what a load found there, what a store left there. An input that no
// program writes holds all the time what any load finds.
export function known(trace, name, done) {
  const everything = trace.programs.flatMap(({ events }) => events);
  const written = everything.some((event) => isAccess(event) && event.tensor === name && event.op !== "load");
  const values = new Map();
  for (const event of written ? done : everything) {
    if (!isAccess(event) || event.tensor !== name) continue;
    const texts = event.values?.split(" ");
    offsets(event).forEach(([state, offset], lane) => {
      if (state !== "on") return;
      if (event.op.startsWith("atomic")) values.delete(offset);
      else if (texts) values.set(offset, short(texts[lane]));
    });
  }
  return values;
}

// The steps of a program that make a block, and of them the one whose values it holds now.
export function makers(program, name, step) {
  const found = program.events.map((event, at) => ({ event, step: at })).filter(({ event }) => blockName(event) === name);
  return { found, now: found.findLast((maker) => maker.step <= step) };
}

// What a lane of a block is, in words.
export function laneWords(trace, event, name, lane) {
  const [state, text] = content(event)[lane] ?? [];
  const at = event.lanes && offsets(event)[lane]?.[1];
  const where = event.lanes && element(event.tensor, trace.tensors[event.tensor], at);
  if (state === undefined) return "";
  if (!event.lanes) return text === "?" ? "undefined: no value was loaded" : text || "no value was recorded";
  if (event.op === "set") return `points at ${where}`;
  if (state === "outside") return `${where} is outside the tensor`;
  if (state === "masked") return text === "?" ? `undefined: masked off, so ${where} was not loaded` : `${text}, from other=: masked off, so ${where} was not loaded`;
  return `${text || "a value that was not recorded"}, from ${where}`;
}
