// Builds the site, serves it with gzip, and asks Lighthouse about it as on a phone: the median of three runs a page.
//
//     npm install --prefix scripts && node scripts/lighthouse.mjs [page ...]
//
// CHROME_PATH names the browser where the launcher finds none.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";
import { launch } from "chrome-launcher";
import lighthouse from "lighthouse";

const FOLDER = "build/lighthouse-site";
const PAGES = ["", "course/first-kernel/", "course/fused-softmax/", "labs/elementwise/"];
const WANTED = { performance: 95, accessibility: 100, "best-practices": 100, seo: 100 };
const CATEGORIES = Object.keys(WANTED);
const RUNS = 3;
const TYPES = {
  ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".json": "application/json",
  ".svg": "image/svg+xml", ".woff2": "font/woff2", ".py": "text/x-python; charset=utf-8", ".xml": "application/xml",
};

async function answer(request, response) {
  const path = normalize(new URL(request.url, "http://site").pathname);
  try {
    const body = await readFile(join(FOLDER, path.endsWith("/") ? `${path}index.html` : path));
    const type = TYPES[extname(path) || ".html"] ?? "application/octet-stream";
    const packed = type !== "font/woff2";
    const headers = { "Content-Type": type, "Cache-Control": "max-age=600", ...(packed && { "Content-Encoding": "gzip" }) };
    response.writeHead(200, headers).end(packed ? gzipSync(body) : body);
  } catch {
    response.writeHead(404).end();
  }
}

function build(url) {
  const python = [".venv/site/bin/python", ".venv/test/bin/python"].find(existsSync) ?? "python3";
  const options = { stdio: "inherit", env: { ...process.env, SITE_URL: url, NO_MKDOCS_2_WARNING: "1" } };
  execFileSync(python, ["scripts/prepare.py"], options);
  execFileSync(python, ["-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", FOLDER], options);
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function scores(url, port) {
  const runs = [];
  for (let run = 0; run < RUNS; run++) {
    const { lhr } = await lighthouse(url, { port, output: "json", logLevel: "error", onlyCategories: CATEGORIES });
    runs.push(lhr);
  }
  const found = Object.fromEntries(CATEGORIES.map((name) => [name, median(runs.map((lhr) => Math.round(lhr.categories[name].score * 100)))]));
  const lost = CATEGORIES.flatMap((name) => runs[0].categories[name].auditRefs)
    .filter(({ id, weight }) => weight > 0 && runs[0].audits[id].score !== null && runs[0].audits[id].score < 0.9)
    .map(({ id }) => `${id} (${runs[0].audits[id].displayValue ?? "failed"})`);
  return { found, lost };
}

const server = createServer(answer).listen(0, "127.0.0.1");
await new Promise((ready) => server.once("listening", ready));
const site = `http://127.0.0.1:${server.address().port}/`;
build(site);
const chrome = await launch({ chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu"] });
let failed = false;
for (const page of process.argv.length > 2 ? process.argv.slice(2) : PAGES) {
  const { found, lost } = await scores(site + page, chrome.port);
  failed ||= CATEGORIES.some((name) => found[name] < WANTED[name]);
  console.log(`/${page}`, found, lost.join(", "));
}
chrome.kill();
server.close();
process.exit(failed ? 1 : 0);
