// A short visit: `node visit.mjs firefox|chrome EXECUTABLE ADDRESS PROGRAM [SECONDS]`. Prints as JSON what a reader would see, and
// after how long. With SECONDS there is a second loop without end, which is stopped only after so many: by then, the next worker
// should be ready.
import puppeteer from "puppeteer-core";

const [name, executablePath, address, program, seconds] = process.argv.slice(2);
const PATIENCE = { timeout: 90_000 };
const BLOCK = `.highlight[data-program="${program}"]`;
const browser = await puppeteer.launch({ browser: name, executablePath, headless: true, args: name === "chrome" ? ["--no-sandbox"] : [] });
const page = await browser.newPage();
const complaints = [];
// Firefox says of each of our faces that one of its tables is of no use.
page.on("console", (message) => complaints.push(message.text()));
page.on("pageerror", ({ message }) => message.startsWith("downloadable font") || complaints.push(message));

const press = (words) => page.evaluate((named) => [...document.querySelectorAll("run-panel button")].find((one) => one.textContent === named).click(), words);
const text = (selector) => page.$eval(selector, (found) => found.innerText);

async function ended(begun) {
  await page.waitForFunction(() => /^(Done|Ended|Stopped|It cannot|Python gave)/.test(document.querySelector("run-panel .run-state [role=status]")?.textContent), PATIENCE);
  const said = await text("run-panel .run-state [role=status]");
  return { said, printed: await text(".run-output"), problem: await text(".run-problem"), seconds: (performance.now() - begun) / 1000 };
}

async function run(source) {
  await page.focus("run-panel .cm-content");
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.press("Backspace");
  await page.keyboard.type(source);
  const begun = performance.now();
  await press("Run");
  return begun;
}

async function endless(milliseconds) {
  const begun = await run("while True: pass");
  await page.waitForFunction(() => document.querySelector(".run-state").innerText.startsWith("Running"), PATIENCE);
  await new Promise((ready) => setTimeout(ready, milliseconds));
  await press("Stop");
  told.endless = await ended(begun);
}

const told = { complaints };
try {
  await page.goto(address);
  await page.$eval(BLOCK, (block) => block.scrollIntoView());
  await page.waitForSelector(`${BLOCK} button.bw-run`, PATIENCE);
  const begun = performance.now();
  await page.$eval(`${BLOCK} button.bw-run`, (button) => button.click());
  told.cold = await ended(begun);
  const once_more = performance.now();
  await press("Run");
  told.warm = await ended(once_more);
  await press("Edit");
  await page.waitForSelector("run-panel .cm-content", PATIENCE);
  told.wrong = await ended(await run("print(1)\nx = nothing\n"));
  await endless(0);
  told.again = await ended(await run("print(42)"));
  if (seconds) {
    await endless(seconds * 1000);
    told.ready = await ended(await run("print(43)"));
  }
} finally {
  await browser.close();
}
console.log(JSON.stringify(told));
