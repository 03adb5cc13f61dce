// What a program holds on chip: its numbers, its blocks lane by lane, and where its lanes point.

import { safe, range, sheet, piece, isAccess } from "../recorded.js";
import { content, offsets } from "./touched.js";
import { blockName, fitted, made, scalarName, single, words } from "./words.js";

const CHARACTERS = 48; // so many stand beside each other in a strip, at least

const pointed = (event) => offsets(event).map(([state, offset]) => [state, String(offset)]);

// Neighboring lanes of one state as one piece, with the first values and the last. A thin piece shows the last alone: where that is too
// wide for it, over the end of its neighbor, whose own is left out there, or not at all if the neighbor is thin too.
function segments(lanes) {
  const groups = [];
  for (const [state, text] of lanes) {
    if (groups.at(-1)?.state !== state) groups.push({ state, texts: [] });
    groups.at(-1).texts.push(text);
  }
  const pieces = groups.map(({ state, texts }) => {
    const counting = texts.every((text, i) => text === texts[0] || +text === +texts[0] + i);
    const share = texts.length / lanes.length;
    const thin = share < 1 / 8;
    const first = thin ? "" : counting ? texts[0] : `${texts.slice(0, 3).join(" ")} …`;
    const last = !thin && counting && texts.at(-1) === texts[0] ? "" : texts.at(-1);
    return { state, share, thin, first, last, over: thin && last.length / CHARACTERS > share };
  });
  return pieces.map(({ state, share, thin, first, last, over }, i) => {
    const covered = !thin && pieces[i + 1]?.over;
    const hidden = over && (pieces[i - 1]?.thin ?? true);
    return `<i class="seg ${state}${thin ? " thin" : ""}${over ? " over" : ""}" style="width:${100 * share}%"><b>${first}</b><b>${covered || hidden ? "" : last}</b></i>`;
  });
}

// A block of one dimension: a cell a lane where there is room for that, or else a strip.
function strips({ lanes: most, flat, room }, name, label, lanes, now) {
  const all = range(Math.max(most, lanes?.length ?? 0)).map((i) => lanes?.[i] ?? ["none", ""]);
  const lit = now ? " now" : "";
  const rows = range(Math.ceil(all.length / most)).map((row) => {
    const own = all.slice(row * most, (row + 1) * most);
    const inside = flat ? own.map(([state, text]) => `<i class="cell ${state}"><b>${fitted(text, room)}</b></i>`) : segments(own);
    const cells = name ? ` data-block="${safe(name)}" data-first="${row * most}" data-columns="${most}" data-rows="1"` : "";
    return `<div class="strip${flat ? " cells" : ""}${lit}"${cells}>${inside.join("")}</div>`;
  });
  return `<span class="name${lit}">${label}</span><div class="strips">${rows.join("")}</div>`;
}

function sheets(view, latest, event) {
  const pieces = view.blocks.map((name) => {
    const from = latest(blockName, name);
    const { rows, columns, slim } = view.sheets.get(name);
    const lanes = from ? content(from) : [];
    const look = from === event ? "mark chip now" : "mark chip";
    const texts = slim || view.room < 1 ? undefined : lanes.map(([, text]) => fitted(text, view.room));
    const cells = `data-block="${safe(name)}" data-first="0" data-columns="${columns}" data-rows="${rows}"`;
    return piece(name, made(from ?? { shape: [rows, columns] }).join(" × "), sheet(lanes.map(([state]) => `${look} ${state}`), columns, rows, texts, cells), from === event, slim ? "slim" : "");
  });
  return `<div class="sheets${view.fine ? " fine" : ""}">${pieces.join("")}</div>`;
}

export function chip(view, program, step, registers) {
  const event = program.events[step];
  const past = program.events.slice(0, step + 1);
  const latest = (kind, name) => past.findLast((other) => kind(other) === name);
  const scalars = view.scalars.map((name) => {
    const from = latest(scalarName, name);
    const value = from ? `= ${from.runs?.[0][0] ?? single(from) ?? "…"}` : "";
    return `<span class="name${from === event ? " now" : ""}">${safe(name)} ${value}</span>`;
  });
  const title = `<p class="where">On chip${registers ? ", in registers" : ""}: the ${view.blocks.length === 1 ? "block" : "blocks"} of program ${program.id.join(", ")}</p>
    <div class="scalars">${scalars.join("")}</div>`;
  if (view.tiled) return title + sheets(view, latest, event);
  const rows = view.blocks.map((name) => {
    const from = latest(blockName, name);
    return strips(view, name, safe(name), from && content(from), from === event);
  });
  const pointing = event.shape.length > 0 && isAccess(event);
  const axis = range(view.lanes).map((i) => ["axis", String(i)]);
  return `${title}<div class="block">${strips(view, undefined, "<em>lane</em>", axis)}${rows.join("")}
    <div class="offsets${pointing ? "" : " unused"}">${strips(view, undefined, `<em>offset in ${safe(event.tensor ?? "")}</em>`, pointing && pointed(event), pointing)}</div></div>`;
}

// All programs at one step, each with its own color: what each of them does.
export function everyone(trace, step) {
  const rows = trace.programs.map(({ id, events }, number) => {
    const over = step >= events.length;
    const event = events[Math.min(step, events.length - 1)];
    const told = over ? "is through" : words(event, trace);
    return `<li><button type="button" data-pick="${number}" class="tint" style="--n:${number}" aria-label="Only program ${id.join(", ")}">${id.join(", ")}</button><span>${told}</span></li>`;
  });
  return `<p class="where">On chip: each program has blocks of its own</p><ul class="everyone">${rows.join("")}</ul>`;
}
