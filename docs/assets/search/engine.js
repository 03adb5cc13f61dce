// The search: which sections of which pages answer a query, and the words that show why.
//
// Each word of a query counts for itself, so a question may hold words that no page has. For each of them a section earns what
// the word's rarity and its place there are worth. The query is also tried with its words replaced by what the table of synonyms
// has for them, and the best of these trials counts. A page stands where its best section does.
//
// A name such as `tl.load` is looked for whole, and besides by the pieces of its last part: `tl` alone stands everywhere. The
// entry of the reference that has this very name comes first.

import { SYNONYMS } from "./synonyms.js";

const PLACES = { heading: 1, entry: 4, page: 0.5, text: 0.35, listing: 0.25 };
const PLACE = Object.keys(PLACES);
const [HEADING, ENTRY, PAGE, TEXT, LISTING] = PLACE.keys();
const BESIDE = { heading: 0.4, text: 0.2, listing: 0.2 }; // for two words of the query that stand side by side there too
const REPLACED = 0.85;
const WHOLE = 0.5; // of what the words of a query are worth: the most that a whole name is

// A lesson comes before what deepens it, and that before tables and lists.
const HOME = 0.8;
const KINDS = {
  "deeper/": 0.93, "labs/": 0.9, "reference/": 0.85, "errors/": 0.8, "paths/": 0.75, "measurements/": 0.75, "claims/": 0.7,
  "about/": 0.65,
  "about/glossary/": 0.5, "about/references/": 0.5, "about/changelog/": 0.5,
};
const REPEATS = /^(exercise|in short|what you have)$/i; // sections that say what others say
const PAGES = 30;
const LONGEST = 24; // words of a query that are looked for: its last ones, because a message ends with what counts
const SHOWN = 3; // sections of a page that are not folded
const FAINT = 0.3; // of the best score: what earns less is left out
const MESSAGE = /error|exception|failed|cannot|fatal|['"`]/i; // who asks so pastes what a program said
const UNKNOWN = 0.16; // what no entry has earns less, and each message that one has earns more
const NO_ENTRY = "errors/#a-message-that-is-not-here";

const WORD = /[\p{L}\p{N}_]+(?:[.'’-][\p{L}\p{N}_]+)*/gu;
const DOT = /\.(?!\d)/;
const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"' };

function remember(make) {
  const made = new Map();
  return (word) => {
    if (!made.has(word)) made.set(word, make(word));
    return made.get(word);
  };
}

// A word without its ending. What is left need not be a word, as long as it is the same for all forms of one.
export const stem = remember((word) => {
  if (word.length < 4 || /[^a-z]/.test(word) || word === "windows") return word; // a system, and not several of a thing
  const cut = (ending, put = "", least = 3) => {
    const { index = -1 } = ending.exec(word) ?? {};
    if (index < least) return false;
    word = word.slice(0, index) + put;
    return true;
  };
  cut(/ies$/, "y") || cut(/(?<=ss|sh|ch|x)es$/) || cut(/(?<![sui])s$/);
  cut(/ly$/) || cut(/(?<=a)cy$/, "te");
  if (cut(/(ing|ed)$/)) cut(/(?<=([^aeiouls]))\1$/);
  cut(/izations?$/, "iz") || cut(/(at)?ion$/) || cut(/is(m|tic)$/) || cut(/[eo]r$/, "", 4);
  cut(/(?<=c)t$/) || cut(/e$/);
  return word;
});

// What a question is made of. If a query holds nothing else, it counts.
const STOP = new Set(
  `a about after all also am an and any are as at be because been before being but by can cannot could did do does doesn doing
  don during each else ever every for from get gets getting give go goes got had happen happens has have having he her here
  his how i if im in inside into is isn it its just let like ll make makes many may me might more most much must my need needs
  no nor not of on one only or other our own per please re s same see she should show so some such t tell than that the their
  them then there these they this those through to too until up us use used uses using ve versus very vs want wants was way we
  were what when where whether which while who whom whose why will with without work works would you your`
    .split(/\s+/)
    .map(stem),
);

const wordsOf = (text) => text.match(WORD) ?? [];
const pieces = (word) => word.split(/[_'’-]|\.(?!\d)/).filter(Boolean);
const stems = remember((word) => pieces(word).map((piece) => stem(piece.toLowerCase())));
const whole = (word) => stem(word.toLowerCase());

// What a word asks for. In a name, what stands before a dot and what is in every question get a dot behind them: it keeps the
// synonyms of `torch.compile` from `compile`, and what ends with it is not looked for.
const asksFor = remember((word) => {
  const parts = word.split(DOT);
  const last = stems(parts.pop());
  if (!parts.length) return last;
  return [...parts.map((part) => `${part.toLowerCase()}.`), ...last.map((step) => (STOP.has(step) ? `${step}.` : step))];
});
const isLooked = (step) => !step.endsWith(".");
const sought = (word) => [...(DOT.test(word) ? [whole(word)] : []), ...asksFor(word).filter(isLooked)];

const told = (steps) => (steps.every((step) => STOP.has(step)) ? steps : steps.filter((step) => !STOP.has(step)));

// All that a word may be found by: itself and its pieces, as in `tl.make_tensor_descriptor` and `TensorDescriptor`.
const faces = remember((word) => {
  const parts = pieces(word);
  const ends = word.split(DOT).map((_, at, all) => all.slice(at).join("."));
  const names = new Set([...ends, ...parts, ...parts.flatMap((part) => part.split(HUMP))]);
  return [...new Set([...names].map((name) => stem(name.toLowerCase())))];
});

// The names of an entry of the reference: those of `tl.exp(x), log(x)` are tl.exp and tl.log.
function namesOf(address, heading) {
  if (!address.startsWith("reference/")) return [];
  let space = "";
  return wordsOf(heading.replace(/\(.*?\)|\[.*?\]/g, "")).flatMap((word) => {
    const last = word.split(DOT).at(-1);
    space = word.slice(0, -last.length) || space;
    return space ? [whole(space + last)] : [];
  });
}

const escape = (text) => text.replace(/[<>&]/g, (sign) => ({ "<": "&lt;", ">": "&gt;", "&": "&amp;" })[sign]);
const plain = (html) =>
  html
    .replace(/<\/?(p|li|ol|ul|pre)>/g, "\n")
    .replace(/<[^>]*>/g, "")
    .replace(/&\w+;/g, (entity) => ENTITIES[entity] ?? " ");

function readSynonyms(table) {
  const rules = [];
  for (const line of table.split("\n").filter((line) => line.trim())) {
    const [from, to = from] = line.split(">").map((side) => side.split(",").map(wordsOf));
    for (const phrase of from) {
      const others = to.filter((other) => other.join() !== phrase.join());
      rules.push({ phrase: told(phrase.flatMap(asksFor)), others: others.map((other) => told(other.flatMap(sought))) });
    }
  }
  return rules;
}

export class Engine {
  #sections = [];
  #found = new Map(); // for each stem, its count in each place of the sections that hold it
  #held = new Map(); // the same for words that were looked for, and what begins with them
  #endings = new Map(); // what a heading's words may be completed to
  #rules;

  constructor(docs, listings = {}, synonyms = SYNONYMS) {
    this.#rules = readSynonyms(synonyms);
    const first = new Map();
    for (const doc of docs) {
      const address = doc.location.split("#")[0];
      if (!first.has(address)) first.set(address, doc);
      const page = first.get(address);
      const listing = listings[doc.location] ?? "";
      const texts = { heading: plain(doc.title), page: plain(page.title), text: plain(doc.text), listing };
      const weight = weigh(address, texts.heading);
      const names = namesOf(address, texts.heading);
      if (names.length) Object.assign(texts, { heading: names.join(" "), text: `${texts.heading} ${texts.text}` });
      this.#add({ doc, page, texts, names, weight });
    }
    for (const place of ["text", "listing"]) {
      const mean = this.#sections.reduce((sum, { size }) => sum + size[place], 0) / this.#sections.length;
      for (const section of this.#sections) section.size[place] /= mean || 1;
    }
    this.#enter();
  }

  #counts(name, section) {
    if (!this.#found.has(name)) this.#found.set(name, new Map());
    const found = this.#found.get(name);
    if (!found.has(section)) found.set(section, PLACE.map(() => 0));
    return found.get(section);
  }

  #add(section) {
    section.size = {};
    section.steps = {};
    section.length = told(wordsOf(plain(section.doc.title)).flatMap(asksFor)).filter(isLooked).length || 1;
    PLACE.forEach((place, at) => {
      const words = wordsOf(section.texts[place] ?? "");
      for (const word of words) {
        if (place === "heading") this.#endings.set(word.toLowerCase(), (this.#endings.get(word.toLowerCase()) ?? 0) + 1);
        for (const name of faces(word)) this.#counts(name, section)[at]++;
      }
      section.size[place] = words.length;
      section.steps[place] = ` ${told(words.flatMap(stems)).join(" ")} `;
    });
    this.#sections.push(section);
  }

  // An entry is found by its name, and by the last part of it if that is no subject of its own, as `load` is and `arange` is not.
  #enter() {
    const explains = ({ doc, names }) => !names.length && !doc.location.startsWith("about/");
    const isSubject = (word) =>
      [...(this.#found.get(word) ?? [])].some(([section, counts]) => counts[HEADING] && explains(section));
    for (const section of this.#sections) {
      for (const name of section.names) {
        const last = stem(name.split(DOT).at(-1));
        for (const face of isSubject(last) ? [name] : [name, last]) this.#counts(face, section)[ENTRY] = 1;
      }
    }
  }

  search(query) {
    const asked = this.#asked(query);
    if (!asked.words.length) return { items: [], suggest: [] };
    const best = new Map();
    for (const trial of this.#trials(asked.words)) {
      for (const [section, result] of this.#score(trial, asked)) {
        if (!(best.get(section)?.score >= result.score)) best.set(section, { section, ...result });
      }
    }
    const results = [...best.values()];
    const unknown = MESSAGE.test(query) && results.every(({ score }) => score < UNKNOWN);
    const section = unknown && this.#sections.find(({ doc }) => doc.location === NO_ENTRY);
    if (section) results.push({ section, score: UNKNOWN, names: new Set() });
    return { items: group(results), suggest: this.#complete(query) };
  }

  // What a query asks for; the words that may be names, and those of several pieces among them, which are looked for as a whole
  // besides; what is still being typed.
  #asked(query) {
    const typed = wordsOf(query).slice(-LONGEST).map((word) => word.replace(/^(triton\.)?language\./, "tl."));
    const words = typed.flatMap((word) => {
      const [name, ...others] = faces(word);
      const known = stems(word).length > 1 || !others.length || this.#found.has(name) || this.#replaceable(name);
      return known ? asksFor(word) : others;
    });
    const names = typed.map(whole);
    const wholes = names.filter((_, at) => stems(typed[at]).length > 1);
    const unfinished = /[\p{L}\p{N}_]$/u.test(query) ? [words.at(-1), names.at(-1)] : [];
    return { words: told(words), names, wholes, unfinished };
  }

  #replaceable(word) {
    return this.#rules.some(({ phrase }) => phrase.includes(word));
  }

  // The query as it is, and with one or two of its phrases replaced: what to look for, and what that is worth.
  #trials(words) {
    const from = [[{ words: [], worth: 1 }]]; // the trials of the last word, the last two …
    for (let at = words.length - 1; at >= 0; at--) {
      const join = (put, next, share) =>
        from[words.length - next].map((rest) => ({ words: [...put, ...rest.words], worth: share * rest.worth }));
      const trials = join([words[at]], at + 1, 1);
      for (const { phrase, others } of this.#rules) {
        if (!phrase.every((step, i) => words[at + i] === step)) continue;
        for (const other of others) trials.push(...join(other, at + phrase.length, REPLACED));
      }
      from.push(trials.filter(({ worth }) => worth >= REPLACED ** 2));
    }
    return from.at(-1);
  }

  #score(trial, { names: typed, wholes, unfinished }) {
    const words = trial.words.filter(isLooked);
    const hold = (word) => this.#holders(word, unfinished.includes(word));
    const looked = [...new Set(words)].map(hold);
    const rarities = new Map(looked.map(({ word, rarity }) => [word, rarity]));
    const most = WHOLE * looked.reduce((sum, { rarity }) => sum + rarity, 0) || Infinity;
    for (const held of wholes.filter((name) => !words.includes(name)).map(hold)) {
      looked.push({ ...held, rarity: Math.min(held.rarity, most) });
    }
    const all = looked.reduce((sum, { rarity }) => sum + rarity, 0);
    const results = new Map();
    for (const { word, rarity, sections } of looked) {
      for (const [section, { hits, names }] of sections) {
        if (!results.has(section)) results.set(section, { heading: 0, entry: 0, rest: 0, covered: 0, headed: 0, names: new Set() });
        const result = results.get(section);
        const earned = hits.map((hit, at) => rarity * hit * PLACES[PLACE[at]]);
        result.heading += earned[HEADING];
        result.entry += typed.includes(word) ? earned[ENTRY] : 0;
        result.rest += earned[PAGE] + earned[TEXT] + earned[LISTING];
        for (const name of names) result.names.add(name);
        result.covered += rarity;
        result.headed += hits[HEADING] > 0;
      }
    }
    for (const [section, result] of results) {
      let beside = 0;
      words.slice(1).forEach((word, i) => {
        const pair = ` ${words[i]} ${word} `;
        const place = Object.keys(BESIDE).find((place) => section.steps[place].includes(pair));
        if (place) beside += ((rarities.get(words[i]) + rarities.get(word)) / 2) * BESIDE[place];
      });
      const fit = 0.6 + 0.4 * Math.min(1, result.headed / section.length);
      const earned = (result.heading * fit + result.rest + beside + result.entry) / all;
      result.score = earned * (result.covered / all) * trial.worth * section.weight;
    }
    return results;
  }

  // The sections that hold a word, or a longer one that begins with it.
  #holders(word, unfinished) {
    const key = unfinished ? `${word}…` : word;
    if (this.#held.has(key)) return this.#held.get(key);
    const sections = new Map();
    for (const [name, found] of this.#found) {
      const near = nearness(word, name, unfinished);
      if (!near) continue;
      for (const [section, counts] of found) {
        if (!sections.has(section)) sections.set(section, { hits: PLACE.map(() => 0), names: [] });
        const held = sections.get(section);
        held.names.push(name);
        counts.forEach((count, at) => {
          const size = section.size[PLACE[at]];
          const hit = at < TEXT ? Math.sign(count) : count / (count + 0.4 + 0.8 * size);
          if (at === ENTRY && near < 1 && !/[._]/.test(word)) return;
          held.hits[at] = Math.max(held.hits[at], near * hit);
        });
      }
    }
    const lost = !sections.size && !this.#replaceable(word); // what no page knows does not count
    const held = { word, sections, rarity: lost ? 0 : Math.log(1 + this.#sections.length / (sections.size || 1)) };
    this.#held.set(key, held);
    return held;
  }

  // What the word that is being typed may become.
  #complete(query) {
    const begun = /[\p{L}\p{N}_.]+$/u.exec(query.toLowerCase())?.[0];
    if (!begun) return [];
    const [best] = [...this.#endings].filter(([word]) => word.startsWith(begun)).sort((a, b) => b[1] - a[1]);
    return best ? [best[0]] : [];
  }
}

function nearness(word, name, unfinished) {
  if (word === name) return 1;
  if (word.length < (unfinished ? 1 : 4) || !name.startsWith(word) || STOP.has(name)) return 0;
  if (/\d/.test(word.at(-1)) && /\d/.test(name[word.length])) return 0; // 64 is not the beginning of 640
  return (0.8 * word.length) / name.length;
}

function weigh(address, heading) {
  const kind = Object.keys(KINDS).filter((start) => address.startsWith(start)).sort((a, b) => b.length - a.length)[0];
  return (KINDS[kind] ?? (address ? 1 : HOME)) * (REPEATS.test(heading) ? 0.7 : 1) * (/_reference\b/.test(heading) ? 0.4 : 1);
}

// What the theme shows: a list of pages, each a list of its sections, its own first part among them.
function group(results) {
  const pages = new Map();
  const most = Math.max(...results.map(({ score, entry }) => (entry ? 0 : score))); // an entry hides no page
  for (const result of results.sort((a, b) => b.score - a.score)) {
    if (result.score < FAINT * most) break;
    const { page } = result.section;
    if (!pages.has(page)) pages.set(page, []);
    pages.get(page).push(result);
  }
  return [...pages].slice(0, PAGES).map(([page, found]) => {
    // The theme folds what earned less than the first, and opens what earned most.
    const level = ({ section, score }, at) => (at < SHOWN && section.doc !== page ? found[0].score : score);
    const items = found.map((result, at) => present(result, level(result, at)));
    if (!found.some(({ section }) => section.doc === page)) items.push({ ...page, score: 0, terms: {} });
    return items;
  });
}

function present({ section, names }, score) {
  const marks = new Set();
  const holds = (word) => faces(word).some((name) => names.has(name));
  const mark = (html) =>
    html.replace(/<[^>]*>|&\w+;|[\p{L}\p{N}_]+(?:[.'’-][\p{L}\p{N}_]+)*/gu, (piece) => {
      if (/^[<&]/.test(piece) || !holds(piece)) return piece;
      marks.add(piece.toLowerCase());
      return `<mark>${piece}</mark>`;
    });
  const title = mark(section.doc.title);
  const text = mark(teaser(section, holds));
  const terms = Object.fromEntries([...marks].map((word) => [word, true]));
  return { ...section.doc, title, text, score, terms };
}

// The sentence that holds most of the words, and the line of a listing if that holds more.
function teaser({ doc, texts }, holds) {
  const most = (parts) => {
    const counts = parts.map((part) => new Set(wordsOf(part).filter(holds).flatMap(stems)).size);
    const count = Math.max(0, ...counts);
    return { part: parts[counts.indexOf(count)] ?? "", count };
  };
  const prose = most(plain(doc.text).split(/\n+|(?<=[.!?:]) /).map((part) => part.trim()).filter(Boolean));
  const line = most(texts.listing.split("\n").map((part) => part.trim()));
  const sentence = escape(prose.part);
  return line.count > prose.count ? `${prose.count ? sentence : ""} <code>${escape(line.part)}</code>` : sentence;
}
