// Runs requests in the built runtime, as the worker does but in Node: a line of JSON in, a line of JSON out.
//
//     node runtime/in_node.mjs build/run/<hash>
//     in:  {"kind": "run" | "lab", "request": {...}}      out: {"out": [printed lines], "done": result, "seconds": of the processor, "heap": bytes}
import path from "node:path";
import fs from "node:fs";
import os from "node:os";
import zlib from "node:zlib";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

// Pyodide in Node reads its files from the disk, so what is served packed is laid out unpacked.
const built = path.resolve(process.argv[2]);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "blockwise-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true }));
for (const name of fs.readdirSync(built)) {
  const bytes = fs.readFileSync(path.join(built, name));
  if (name.endsWith(".gzip")) fs.writeFileSync(path.join(folder, name.slice(0, -".gzip".length)), zlib.gunzipSync(bytes));
  else fs.writeFileSync(path.join(folder, name), bytes);
}
const begun = performance.now();
const { loadPyodide } = await import(pathToFileURL(path.join(folder, "pyodide.mjs")));
const env = { TRITON_INTERPRET: "1", HOME: "/home/pyodide" };
const py = await loadPyodide({ indexURL: `${folder}/`, packages: ["numpy"], env });
py.unpackArchive(new Uint8Array(fs.readFileSync(path.join(folder, "bundle.zip"))), "zip", { extractDir: "/lib/blockwise" });
let printed = "";
const text = new TextDecoder();
// Byte by byte, because what is batched waits for the end of a line that may never come.
const write = (bytes) => ((printed += text.decode(bytes, { stream: true })), bytes.length);
py.setStdout({ write });
py.setStderr({ write: (bytes) => bytes.length });  // records keep what goes to standard output
py.runPython('import sys; sys.path.insert(0, "/lib/blockwise")');
const session = py.pyimport("runtime.session");
console.log(JSON.stringify({ ready: performance.now() - begun }));
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { kind, request } = JSON.parse(line);
  printed = "";
  const start = process.cpuUsage();
  const done = JSON.parse(session[kind](JSON.stringify(request)));
  const used = process.cpuUsage(start);
  const seconds = (used.user + used.system) / 1e6;
  console.log(JSON.stringify({ out: printed.split("\n"), done, seconds, heap: py._module.HEAPU8.length }));
}
