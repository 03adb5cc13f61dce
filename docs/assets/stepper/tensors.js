// The tensors in memory: what has been read and written, by one program or by all of them, and the numbers that lie there.

import { safe, range, product, placeOf, sheet, piece, rectangles, stridesOf, isAccess } from "../recorded.js";
import { known, offsetAt, offsets } from "./touched.js";
import { fitted } from "./words.js";

// A class for every element that one program has touched, place by place.
function lookOfOne(tensor, events, event) {
  const looks = [];
  for (const touched of events)
    for (const [state, offset] of offsets(touched)) {
      const place = placeOf(tensor, offset);
      if (place >= 0 && (touched === event || state === "on")) looks[place] = `mark ${state}${touched === event ? " now" : ""}`;
    }
  return looks;
}

// The same for all programs at one step: who touched an element, and whether somebody does so now.
function lookOfAll(tensor, name, programs, step) {
  const found = [];
  programs.forEach(({ events }, number) => events.slice(0, step + 1).forEach((event, at) => {
    if (!isAccess(event) || event.tensor !== name) return;
    for (const [state, offset] of offsets(event)) {
      const place = placeOf(tensor, offset);
      if (state !== "on" || !(place >= 0)) continue;
      found[place] ??= { by: new Set(), now: false };
      found[place].by.add(number);
      found[place].now ||= at === step;
    }
  }));
  return Array.from(found, (place) => {
    if (!place) return undefined;
    const [first, second = first, third] = [...place.by];
    return `mark tint${place.now ? " now" : ""}${third === undefined ? "" : " many"}|--n:${first};--m:${second}`;
  });
}

export function memory(view, { trace, program, step, together }) {
  const event = program.events[step];
  const accesses = program.events.slice(0, step + 1).filter(isAccess);
  const done = together ? trace.programs.flatMap(({ events }) => events.slice(0, step + 1)) : accesses;
  const drawn = view.tensors.map((shown) => {
    const tensor = trace.tensors[shown.name];
    const all = (shown.rows + shown.beyond) * shown.columns;
    const looks = together
      ? lookOfAll(tensor, shown.name, trace.programs, step)
      : lookOfOne(tensor, accesses.filter((access) => access.tensor === shown.name), event);
    const values = view.room > 0 ? known(trace, shown.name, done) : new Map();
    const texts = values.size ? range(product(tensor.shape)).map((place) => fitted(values.get(offsetAt(tensor, place)) ?? "", view.room)) : undefined;
    const now = looks.some((look) => look?.includes("now"));
    const marked = Array.from({ length: all }, (_, place) => looks[place]);
    return view.tiled ? asSheet(view, shown, tensor, marked, texts, now) : asRows(view, shown, marked, texts, now);
  });
  const told = view.tiled ? "" : "<small>Each row begins at the offset beside it.</small>";
  const body = view.tiled ? `<div class="sheets${view.fine ? " fine" : ""}">${drawn.join("")}</div>` : drawn.join("");
  return `<p class="where memory">In memory${told}</p>${body}`;
}

function asSheet(view, { name, columns, rows }, tensor, looks, texts, now) {
  const strides = stridesOf(tensor);
  const told = `${tensor.shape.join(" × ")}${strides.length > 1 && (tensor.strides || !view.terse) ? `, strides ${strides.join(", ")}` : ""}`;
  const cells = `data-tensor="${safe(name)}" data-first="0" data-columns="${columns}" data-rows="${rows}"`;
  return piece(name, told, sheet(looks, columns, rows, texts, cells), now);
}

function asRows(view, { name, size, columns, rows, beyond }, looks, texts, now) {
  const percent = (n) => `${(100 * n) / view.width}%`;
  const drawn = range(rows + beyond).map((row) => {
    const first = row * columns;
    const extent = Math.max(0, Math.min(columns, size - first));
    const inside = rectangles(looks.slice(first, first + columns), columns).map(({ look, column, width }) => {
      const [classes, style = ""] = look.split("|");
      return `<i class="${classes}" style="left:${percent(column)};width:${percent(width)};${style}"></i>`;
    });
    if (extent) inside.push(`<i class="extent" style="width:${percent(extent)};background-size:${100 / extent}% 100%"></i>`);
    if (!extent) inside.unshift(`<i class="beyond" style="width:${percent(columns)}"></i>`);
    const written = texts?.slice(first, first + columns).map((text, i) => text && `<b style="left:${percent(i)};width:${percent(1)}">${text}</b>`) ?? [];
    const label = row ? `<span class="at">${extent && rows <= 16 ? first : ""}</span>` : `<b class="name${now ? " now" : ""}">${safe(name)}</b>`;
    const cells = extent ? ` data-tensor="${safe(name)}" data-first="${first}" data-columns="${extent}" data-rows="1" data-share="${extent / view.width}"` : "";
    return `${label}<div class="row${view.room > 0 ? " large" : ""}"${cells}>${inside.join("")}${written.join("")}</div>`;
  });
  return `<div class="tensor">${drawn.join("")}</div>`;
}
