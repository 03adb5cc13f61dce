// The one worker of a page, and the files that it runs on: fetched at the first run, checked, and kept for the next visit.
//
// A run can be stopped only by ending its worker. So the next one is started ahead, as soon as a run takes long, and finds every
// file in memory.

import { offered, root } from "../run.js";

const LIMIT = 30_000; // milliseconds of one run
const LONG = 1500; // of a run that may well be stopped
const MOST_RUNS = 50; // after so many a worker has grown, and gives way to a fresh one,
const MOST_MEMORY = 300e6; // as after so many bytes
const SHELF = "blockwise-run-"; // what the browser's caches of this site are called, each with its folder's name
const NOT_FOR_THE_WORKER = /^(worker\.mjs|editor\.js|manifest\.json|licenses?\..*)$/;

// Files

let manifest; // a promise
const files = new Map(); // name → a promise of its bytes
const counted = { loaded: 0, total: 0 };
const watchers = new Set();

const tell = (state) => watchers.forEach((watcher) => watcher(state));

export class Missing extends Error {}

async function folder() {
  const { folder: name } = await offered;
  return new URL(`${name}/`, root);
}

// The Cache API keeps files that a server would have the browser ask for again; it is there on secure addresses alone.
async function shelf() {
  const name = SHELF + (await folder()).pathname.split("/").at(-2);
  try {
    for (const other of await caches.keys()) if (other.startsWith(SHELF) && other !== name) await caches.delete(other);
    return await caches.open(name);
  } catch {
    return undefined;
  }
}
let opened;

async function asked(name, cache) {
  const address = new URL(name, await folder());
  let answer;
  try {
    answer = await fetch(address, { cache });
  } catch {
    throw new Missing(`${name} could not be fetched`);
  }
  if (!answer.ok) throw new Missing(`${name} is not there (${answer.status})`);
  return answer;
}

async function read(answer, count) {
  const reader = answer.body.getReader();
  const parts = [];
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    count(part.value.length);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

async function isWhole(bytes, { bytes: length, sha256 }) {
  if (bytes.length !== length) return false;
  if (!crypto.subtle) return true; // on an address that is not secure
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("") === sha256;
}

async function checked(name, expected, count) {
  const kept = await (opened ??= shelf());
  const address = new URL(name, await folder()).href;
  for (const cache of ["kept", "default", "reload"]) {
    if (cache === "kept" && !kept) continue;
    const answer = cache === "kept" ? await kept.match(address) : await asked(name, cache);
    if (!answer) continue;
    let got = 0;
    const bytes = await read(answer, (more) => cache !== "kept" && count(more, (got += more)));
    if (await isWhole(bytes, expected)) {
      if (cache !== "kept") await kept?.put(address, new Response(bytes)).catch(() => {}); // no room is no harm
      return bytes;
    }
    count(-got);
  }
  throw new Missing(`${name} is damaged: it is not the file that was built`);
}

async function isKept(name) {
  const kept = await (opened ??= shelf());
  return Boolean(await kept?.match(new URL(name, await folder()).href));
}

const unpacked = async (bytes) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());

// The manifest says which files there are. It is asked for anew on each visit, and where there is no network, the one kept will do.
function listed() {
  return (manifest ??= (async () => {
    const kept = await (opened ??= shelf());
    const address = new URL("manifest.json", await folder()).href;
    const text = await ((await kept?.match(address)) ?? (await asked("manifest.json", "default"))).text();
    try {
      const found = JSON.parse(text);
      await kept?.put(address, new Response(text)).catch(() => {});
      return found;
    } catch {
      throw new Missing("manifest.json is damaged");
    }
  })().catch((error) => {
    manifest = undefined;
    throw error;
  }));
}

function file(name, count = () => {}) {
  if (!files.has(name)) {
    const found = (async () => {
      const all = (await listed()).files;
      const packed = all[name] ? name : `${name}.gzip`;
      if (!all[packed]) throw new Missing(`${name} is not in the manifest`);
      const bytes = await checked(packed, all[packed], count);
      return packed === name ? bytes : unpacked(bytes);
    })();
    files.set(name, found);
    found.catch(() => files.delete(name));
  }
  return files.get(name);
}

export async function script(name) {
  const address = URL.createObjectURL(new Blob([await file(name)], { type: "text/javascript" }));
  return import(address);
}

let everything; // a promise of what a worker is given

function all() {
  return (everything ??= (async () => {
    const entries = Object.entries((await listed()).files).filter(([name]) => !NOT_FOR_THE_WORKER.test(name.replace(/\.gzip$/, "")));
    const names = entries.map(([name]) => name.replace(/\.gzip$/, ""));
    const sizes = await Promise.all(entries.map(async ([name, { bytes }], i) => (files.has(names[i]) || (await isKept(name)) ? 0 : bytes)));
    counted.loaded = 0;
    counted.total = sizes.reduce((sum, bytes) => sum + bytes, 0);
    const count = (more) => {
      counted.loaded += more;
      counted.total = Math.max(counted.total, counted.loaded); // one that was kept may be damaged
      tell({ stage: "fetch", ...counted });
    };
    const found = await Promise.all(names.map(async (name) => [name, await file(name, count)]));
    tell({ stage: "start" });
    const given = Object.fromEntries(found);
    const wasm = await WebAssembly.compile(given["pyodide.asm.wasm"]);
    delete given["pyodide.asm.wasm"]; // its bytes are of no more use
    files.delete("pyodide.asm.wasm");
    return { files: given, wasm };
  })().catch((error) => {
    everything = undefined;
    throw error;
  }));
}

// The worker

let current; // {worker, ready, runs}
let next; // the same, started ahead
let job; // the run in progress

function start() {
  const own = { runs: 0 };
  own.ready = new Promise((resolve, reject) => {
    (async () => {
      const [given, source] = await Promise.all([all(), file("worker.mjs")]);
      if (own.ended) return;
      const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      const worker = (own.worker = new Worker(address, { type: "module" }));
      worker.onmessage = ({ data }) => {
        if (data.stage === "ready") resolve(worker);
        else if (data.failed) reject(new Missing(data.failed));
        else if (data.id === job?.id) job.heard(data);
      };
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Missing(event.message || "the worker could not be started"));
        job?.heard({ broke: event.message || "the worker ended" });
      };
      worker.postMessage(given);
    })().catch(reject);
  });
  own.ready.catch(() => {
    if (current === own) current = undefined;
    if (next === own) next = undefined;
  });
  return own;
}

function replace() {
  if (current) {
    current.ended = true;
    current.worker?.terminate();
  }
  current = next ?? start();
  next = undefined;
}

// Have a worker ready for a run that is to be expected.
export function warm() {
  current ??= start();
}

let last = 0;

// Run a request. What happens meanwhile goes to `out(text)` and `stage({stage, loaded, total})`. Gives {done}, {stopped: words},
// {broke: words} or {missing: words}.
export function run(kind, request, { out, stage }) {
  job?.end({ stopped: "Stopped, because another program was started." }, true);
  return new Promise((resolve) => {
    const own = (job = { id: ++last });
    const watch = (state) => stage(state);
    watchers.add(watch);
    own.end = (result, fresh) => {
      if (own.over) return;
      own.over = true;
      clearTimeout(own.timer);
      clearTimeout(own.long);
      watchers.delete(watch);
      if (job === own) job = undefined;
      if (fresh && own.posted) replace();
      resolve(result);
    };
    own.heard = (data) => {
      if (data.out !== undefined) return out(data.out);
      if (data.words) return stage({ stage: "run", words: `${(own.words = data.words)} ` });
      if (data.broke) return own.end({ broke: data.broke }, true);
      const worn = ++current.runs >= MOST_RUNS || data.memory > MOST_MEMORY;
      own.end({ done: data.done }, worn);
    };
    warm();
    current.ready.then(
      (worker) => {
        if (own.over) return;
        stage({ stage: "run" });
        own.posted = true;
        const late = () => (own.words ? `It was in ${own.words}, and Triton’s interpreter runs them one after another.` : "That is all the time a run has here.");
        own.timer = setTimeout(() => own.end({ stopped: `Stopped after ${LIMIT / 1000} seconds. ${late()}` }, true), LIMIT);
        own.long = setTimeout(() => (next ??= start()), LONG);
        worker.postMessage({ id: own.id, kind, request });
      },
      (error) => own.end({ missing: error.message }),
    );
    stage({ stage: counted.loaded < counted.total ? "fetch" : "start", ...counted });
  });
}

export function stop() {
  job?.end({ stopped: "Stopped." }, true);
}

export const isRunning = () => Boolean(job);
