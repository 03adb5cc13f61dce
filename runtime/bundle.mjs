// Puts the page's Python into one archive, in which every module is compiled already: half of what an import takes.
//
//     node runtime/bundle.mjs SERVED PYTHON BUNDLE.zip
//
// SERVED has Pyodide and NumPy, PYTHON is what build.py laid out. pack.py does it, in the Python that will run the result.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [served, python, bundle] = process.argv.slice(2).map((name) => path.resolve(name));
const { loadPyodide } = await import(pathToFileURL(path.join(served, "pyodide.mjs")));
// The compiled modules keep no columns: a traceback through them shows lines.
const env = { TRITON_INTERPRET: "1", HOME: "/home/pyodide", PYTHONNODEBUGRANGES: "1" };
const py = await loadPyodide({ indexURL: `${served}/`, packages: ["numpy"], env });
const copy = (from, to) => {
  py.FS.mkdirTree(to);
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    if (entry.isDirectory()) copy(path.join(from, entry.name), `${to}/${entry.name}`);
    else py.FS.writeFile(`${to}/${entry.name}`, fs.readFileSync(path.join(from, entry.name)));
  }
};
copy(python, "/lib/blockwise");
py.FS.writeFile("/lib/pack.py", fs.readFileSync(new URL("pack.py", import.meta.url)));
py.runPython(`
import sys
sys.dont_write_bytecode = True
sys.path[:0] = ["/lib/blockwise", "/lib"]
import pack
pack.pack("/lib/blockwise", "/bundle.zip")
`);
fs.writeFileSync(bundle, py.FS.readFile("/bundle.zip"));
