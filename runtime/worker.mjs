// The worker of "Run it here": one Pyodide with Triton's interpreter on the stand-ins. The page hands it every file (docs/assets/run/
// runtime.js), so it asks for nothing over the network, and what a reader types has no way out.
//
// In: {files, wasm} once, then {id, kind, request}. Out: {stage: "ready"}, {id, out}, {id, words}, {id, done, memory}, {failed}.

const MOST_OUTPUT = 200_000; // characters of one run that are shown
const AT_ONCE = 500; // so many writes go to the page as they come, and those after them together, because each message costs
const TOGETHER = 2000; // characters
const HOME = "/home/pyodide";
const ROOM = "/lib/blockwise";

const NOWHERE = "https://runtime.invalid/"; // an address for what lies in memory

const lastLine = (error) => String(error.message ?? error).trim().split("\n").at(-1);
let running; // the id of the run whose output this is
let left = 0; // how many more characters of it are shown
let writes = 0;
let waiting = "";

function say(text) {
  if (left <= 0) return;
  waiting += text.slice(0, left);
  left -= text.length;
  if (left <= 0) waiting += `\n[More than ${MOST_OUTPUT / 1000} kB were printed. The rest is not shown.]\n`;
  if (++writes < AT_ONCE || waiting.length > TOGETHER || left <= 0) flush();
}

function flush() {
  if (waiting) postMessage({ id: running, out: waiting });
  waiting = "";
}

// A character may come in two writes, so each stream has a decoder that remembers.
function stream() {
  const reader = new TextDecoder();
  return {
    isatty: true, // written line by line, as a program in a terminal does
    write(bytes) {
      say(reader.decode(bytes, { stream: true }));
      return bytes.length;
    },
  };
}

// What Pyodide asks for comes from memory; anything else does not exist.
function served(files) {
  const types = { wasm: "application/wasm", json: "application/json" };
  return async (asked) => {
    const name = decodeURIComponent(String(asked.url ?? asked).split(/[?#]/)[0].split("/").at(-1));
    if (!files[name]) return new Response("", { status: 404 });
    return new Response(files[name], { headers: { "Content-Type": types[name.split(".").at(-1)] ?? "application/octet-stream" } });
  };
}

async function module(bytes) {
  const address = URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }));
  return import(address).finally(() => URL.revokeObjectURL(address));
}

async function boot({ files, wasm }) {
  globalThis.fetch = served(files);
  // The page has compiled it, once for all workers.
  WebAssembly.instantiateStreaming = async (_, imports) => ({ module: wasm, instance: await WebAssembly.instantiate(wasm, imports) });
  const [{ loadPyodide }, core] = await Promise.all([module(files["pyodide.mjs"]), module(files["pyodide.asm.mjs"])]);
  const python = await loadPyodide({
    indexURL: NOWHERE,
    packageBaseUrl: NOWHERE,
    lockFileContents: new TextDecoder().decode(files["pyodide-lock.json"]),
    createPyodideModule: core.default,
    packages: ["numpy"],
    env: { TRITON_INTERPRET: "1", HOME },
    stdLibURL: `${NOWHERE}python_stdlib.zip`,
  });
  for (const name of ["XMLHttpRequest", "WebSocket", "EventSource", "importScripts"]) delete globalThis[name];
  python.unpackArchive(files["bundle.zip"], "zip", { extractDir: ROOM });
  python.setStdout(stream());
  python.setStderr(stream());
  python.setStdin({ stdin: () => null });
  python.runPython(`import sys\nsys.path.insert(0, "${ROOM}")`);
  const session = python.pyimport("runtime.session");
  session.listen((words) => postMessage({ id: running, words }));
  postMessage({ stage: "ready" });
  return { python, session };
}

let booted;

onmessage = async ({ data }) => {
  if (data.files) {
    booted = boot(data);
    booted.catch((error) => postMessage({ failed: lastLine(error) }));
    return;
  }
  const { python, session } = await booted;
  [running, left, writes] = [data.id, MOST_OUTPUT, 0];
  try {
    const done = JSON.parse(session[data.kind](JSON.stringify(data.request)));
    flush();
    postMessage({ id: data.id, done, memory: python._module.HEAPU8.length });
  } catch (error) {
    // Python itself gave up, for want of memory or of stack: this worker is of no more use.
    flush();
    postMessage({ id: data.id, broke: lastLine(error) });
  }
};
