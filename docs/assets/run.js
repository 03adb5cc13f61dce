// Gives the programs that run in the page two buttons more, Run and Edit, the labs' cells theirs, and pictures with numbers to
// choose a row that offers them. That is all until one is pressed: then docs/assets/run/ is loaded, and after it the runtime.

export const root = new URL("..", import.meta.url);

// {folder, bytes, programs}; the folder is null where the site was built without the runtime, and then nothing is offered.
const settings = fetch(new URL("data/run.json", root)).then((answer) => (answer.ok ? answer.json() : { folder: null }));
export const offered = settings.catch(() => ({ folder: null }));

function name(made, words, title) {
  made.named = [words, title];
  made.textContent = words;
  made.title = made.ariaLabel = title;
}

function button(words, title, press) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "md-code__button bw-run";
  name(made, words, title);
  made.addEventListener("click", async () => {
    if (made.ariaBusy) return; // what it opens is on its way
    made.ariaBusy = "true";
    try {
      await press(made);
      name(made, ...made.named);
    } catch {
      made.textContent = made.ariaLabel = `${made.named[0]}: could not be loaded`;
    }
    made.ariaBusy = null;
  });
  return made;
}

function addToProgram(nav, block) {
  const { program } = block.dataset;
  const open = (how) => async () => (await import("./run/block.js")).open(block, how);
  nav.append(button("Run", `Run ${program}.py in this page`, open("run")), button("Edit", `Edit ${program}.py and run it in this page`, open("edit")));
}

const openLab = async (opener, cell) => (await import("./run/lab.js")).open(opener, cell);

// What a reader has made of this lab, see run/lab.js.
function kept() {
  let found;
  try {
    const lab = location.pathname.slice(root.pathname.length).split("/")[1];
    found = JSON.parse(localStorage.getItem(`blockwise-lab-${lab}`));
  } catch {}
  return { work: {}, solved: [], ...found };
}

export const cellsShown = () => [...document.querySelectorAll(".lab-cell")];
const codeOf = (cell) => cell.querySelector("code").textContent;
const isExercise = (cell) => /# YOUR TURN/.test(codeOf(cell));

// What is to be written is solved, what checks it checks, and any other cell runs.
function addToCell(nav, cell) {
  const [words, title] = isExercise(cell)
    ? [cellsShown().indexOf(cell) in kept().work ? "Go on here" : "Solve it here", "Write and check this exercise in the page"]
    : /\bcheck\(/.test(codeOf(cell)) ? ["Check", "Check the exercise in the page"] : ["Run", "Run this cell in the page"];
  nav.append(button(words, title, (opener) => openLab(opener, cell)));
}

// What the button at the head of a lab says.
function wordsOf({ work, solved }) {
  if (![...solved, ...Object.keys(work)].length) return ["Solve it in this page", "Solve this lab in the page: nothing to install, no GPU"];
  const words = `Go on: ${solved.length} of ${cellsShown().filter(isExercise).length} solved`;
  return [words, words];
}

export function tellHead(state) {
  const opener = document.querySelector(".bw-solve button");
  if (opener) name(opener, ...wordsOf(state));
}

// At the head of a lab, in a place that is kept for it, so that nothing moves.
function addToLab(place) {
  const opener = button(...wordsOf(kept()), (made) => openLab(made));
  opener.className = "bw-button";
  place.append(opener);
}

// The programs of which numbers can be changed, and the picture that then replays the launch. docs/assets/run/slides.json says more.
export const SLIDES = {
  "first_kernel/launch": "trace-first-kernel-add",
  "masking/largest": "trace-masking-largest",
  "grid_math/owners": "",
  "block_model/tile": "trace-block-model-tile",
};

// It stands in a line that is there already, the picture's caption or the link to the program, so that nothing moves.
function addSlides(program, picture) {
  const figure = document.getElementById(picture);
  const link = document.querySelector(`.highlight[data-program="${program}"] + p > a.program`);
  const place = picture ? figure?.querySelector("figcaption") : link?.parentElement;
  if (!place || place.dataset.slides !== undefined) return;
  place.dataset.slides = "";
  const open = async () => (await import("./run/sliders.js")).open(program, place, figure);
  const opener = button("Change the numbers", `Change the numbers of ${program}.py, run it in the page, and watch it`, open);
  opener.className = "bw-slides";
  place.append(" ", opener);
}

async function offer() {
  const { folder, programs } = await offered;
  if (!folder) return watcher.disconnect();
  for (const nav of document.querySelectorAll(".md-code__nav:not([data-run])")) {
    const block = nav.closest(".language-python[data-program], .lab-cell");
    if (!block || !nav.children.length) continue;
    nav.dataset.run = "";
    if (block.matches(".lab-cell")) addToCell(nav, block);
    else if (programs.includes(block.dataset.program)) addToProgram(nav, block);
  }
  document.querySelectorAll(".bw-solve:empty").forEach(addToLab);
  for (const [program, picture] of Object.entries(SLIDES)) if (programs.includes(program)) addSlides(program, picture);
}

const watcher = new MutationObserver(offer);
watcher.observe(document.documentElement, { childList: true, subtree: true });
offer();
