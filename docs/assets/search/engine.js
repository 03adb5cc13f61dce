// The search: which sections of which pages answer a query, and the words that show why.
//
// Each word of a query counts for itself, so a question may hold words that no page has. For each of them a section earns what
// the word's rarity and its place there are worth. The query is also tried with its words replaced by what the table of synonyms
// has for them, and the best of these trials counts. A page stands where its best section does.

import { SYNONYMS } from "./synonyms.js";

const PLACES = { heading: 1, page: 0.5, text: 0.35, listing: 0.25 };
const PLACE = Object.keys(PLACES);
const BESIDE = { heading: 0.4, text: 0.2, listing: 0.2 }; // for two words of the query that stand side by side there too
const REPLACED = 0.85;

// A lesson comes before what deepens it, and that before tables and lists.
const HOME = 0.8;
const KINDS = {
  "deeper/": 0.93, "labs/": 0.9, "paths/": 0.75, "reference/": 0.85, "measurements/": 0.75, "claims/": 0.7, "about/": 0.65,
  "about/glossary/": 0.5, "about/references/": 0.5, "about/changelog/": 0.5,
};
const REPEATS = /^(exercise|in short|what you have)$/i; // sections that say what others say
const PAGES = 30;
const LONGEST = 24; // words of a query that are looked for
const SHOWN = 3; // sections of a page that are not folded
const FAINT = 0.3; // of the best score: what earns less is left out

const WORD = /[\p{L}\p{N}_]+(?:[.'’-][\p{L}\p{N}_]+)*/gu;
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
  if (word.length < 4 || /[^a-z]/.test(word)) return word;
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

const pieces = (word) => word.split(/[_'’-]|\.(?!\d)/).filter(Boolean);
const stems = remember((word) => pieces(word).map((piece) => stem(piece.toLowerCase())));
const steps = (text) => (text.match(WORD) ?? []).flatMap(stems);
const told = (steps) => (steps.every((step) => STOP.has(step)) ? steps : steps.filter((step) => !STOP.has(step)));

// All that a word may be found by: itself and its pieces, as in `tl.make_tensor_descriptor` and `TensorDescriptor`.
const faces = remember((word) => {
  const parts = pieces(word);
  const names = new Set([word, ...parts, ...parts.flatMap((part) => part.split(HUMP))]);
  return [...new Set([...names].map((name) => stem(name.toLowerCase())))];
});

const escape = (text) => text.replace(/[<>&]/g, (sign) => ({ "<": "&lt;", ">": "&gt;", "&": "&amp;" })[sign]);
const plain = (html) =>
  html
    .replace(/<\/?(p|li|ol|ul|pre)>/g, "\n")
    .replace(/<[^>]*>/g, "")
    .replace(/&\w+;/g, (entity) => ENTITIES[entity] ?? " ");

function readSynonyms(table) {
  const rules = [];
  const phrases = (side) => side.split(",").map((phrase) => told(steps(phrase)));
  for (const line of table.split("\n").filter((line) => line.trim())) {
    const [from, to] = line.split(">").map(phrases);
    for (const phrase of from) {
      const others = (to ?? from).filter((other) => other.join() !== phrase.join());
      rules.push({ phrase, others });
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
      this.#add({ doc, page, texts, weight: weigh(address, texts.heading) });
    }
    for (const place of ["text", "listing"]) {
      const mean = this.#sections.reduce((sum, { size }) => sum + size[place], 0) / this.#sections.length;
      for (const section of this.#sections) section.size[place] /= mean || 1;
    }
  }

  #add(section) {
    section.size = {};
    section.steps = {};
    PLACE.forEach((place, at) => {
      const words = section.texts[place].match(WORD) ?? [];
      for (const word of words) {
        if (place === "heading") this.#endings.set(word.toLowerCase(), (this.#endings.get(word.toLowerCase()) ?? 0) + 1);
        for (const name of faces(word)) {
          const found = this.#found.get(name) ?? new Map();
          this.#found.set(name, found);
          if (!found.has(section)) found.set(section, [0, 0, 0, 0]);
          found.get(section)[at]++;
        }
      }
      section.size[place] = words.length;
      section.steps[place] = ` ${told(steps(section.texts[place])).join(" ")} `;
    });
    this.#sections.push(section);
  }

  search(query) {
    const { words, wholes, unfinished } = this.#asked(query);
    if (!words.length) return { items: [], suggest: [] };
    const best = new Map();
    for (const trial of this.#trials(words)) {
      for (const [section, result] of this.#score(trial, wholes, unfinished)) {
        if (!(best.get(section)?.score >= result.score)) best.set(section, { section, ...result });
      }
    }
    return { items: group([...best.values()]), suggest: this.#complete(query) };
  }

  // The stems of a query, and the names in it that count as a whole besides.
  #asked(query) {
    const typed = (query.match(WORD) ?? []).slice(0, LONGEST);
    const parts = typed.flatMap((word) => {
      const [name, ...others] = faces(word);
      const known = stems(word).length > 1 || !others.length || this.#found.has(name) || this.#replaceable(name);
      return known ? stems(word) : others;
    });
    const wholes = typed.filter((word) => stems(word).length > 1).map((word) => stem(word.toLowerCase()));
    return { words: told(parts), wholes, unfinished: /[\p{L}\p{N}_]$/u.test(query) ? parts.at(-1) : undefined };
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

  #score({ words, worth }, wholes, unfinished) {
    const looked = [...new Set(words)].map((word) => this.#holders(word, word === unfinished));
    const rarities = new Map(looked.map(({ word, rarity }) => [word, rarity]));
    const all = looked.reduce((sum, { rarity }) => sum + rarity, 0);
    const results = new Map();
    const earn = (result, rarity, { hits, names }) => {
      hits.forEach((hit, at) => { result[at ? "rest" : "heading"] += rarity * hit * PLACES[PLACE[at]]; });
      for (const name of names) result.names.add(name);
    };
    for (const { rarity, sections } of looked) {
      for (const [section, held] of sections) {
        if (!results.has(section)) results.set(section, { heading: 0, rest: 0, covered: 0, headed: 0, names: new Set() });
        const result = results.get(section);
        earn(result, rarity, held);
        result.covered += rarity;
        result.headed += held.hits[0] > 0;
      }
    }
    for (const { rarity, sections } of wholes.map((whole) => this.#holders(whole))) {
      for (const [section, held] of sections) if (results.has(section)) earn(results.get(section), rarity, held);
    }
    for (const [section, result] of results) {
      let beside = 0;
      words.slice(1).forEach((word, i) => {
        const pair = ` ${words[i]} ${word} `;
        const place = Object.keys(BESIDE).find((place) => section.steps[place].includes(pair));
        if (place) beside += ((rarities.get(words[i]) + rarities.get(word)) / 2) * BESIDE[place];
      });
      const fit = 0.6 + 0.4 * Math.min(1, result.headed / (told(steps(section.texts.heading)).length || 1));
      const earned = (result.heading * fit + result.rest + beside) / all;
      result.score = earned * (result.covered / all) * worth * section.weight;
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
        if (!sections.has(section)) sections.set(section, { hits: [0, 0, 0, 0], names: [] });
        const held = sections.get(section);
        held.names.push(name);
        counts.forEach((count, at) => {
          const size = section.size[PLACE[at]];
          const hit = at < 2 ? Math.sign(count) : count / (count + 0.4 + 0.8 * size);
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
    const begun = /[\p{L}\p{N}_]+$/u.exec(query.toLowerCase())?.[0];
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
  return (KINDS[kind] ?? (address ? 1 : HOME)) * (REPEATS.test(heading) ? 0.7 : 1);
}

// What the theme shows: a list of pages, each a list of its sections, its own first part among them.
function group(results) {
  const pages = new Map();
  for (const result of results.sort((a, b) => b.score - a.score)) {
    if (result.score < FAINT * results[0].score) break;
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
function teaser({ texts }, holds) {
  const most = (parts) => {
    const counts = parts.map((part) => new Set((part.match(WORD) ?? []).filter(holds).flatMap(stems)).size);
    const count = Math.max(0, ...counts);
    return { part: parts[counts.indexOf(count)] ?? "", count };
  };
  const prose = most(texts.text.split(/\n+|(?<=[.!?:]) /).map((part) => part.trim()).filter(Boolean));
  const line = most(texts.listing.split("\n").map((part) => part.trim()));
  const sentence = escape(prose.part);
  return line.count > prose.count ? `${prose.count ? sentence : ""} <code>${escape(line.part)}</code>` : sentence;
}
