// Gives the programs that run in the page two buttons more, Run and Edit, the labs' cells theirs, and pictures with numbers to
// choose a row that offers them. That is all until one is pressed: then docs/assets/run/ is loaded, and after it the runtime.

export const root = new URL("..", import.meta.url);

// {folder, bytes, programs}; the folder is null where the site was built without the runtime, and then nothing is offered.
const settings = fetch(new URL("data/run.json", root)).then((answer) => (answer.ok ? answer.json() : { folder: null }));
export const offered = settings.catch(() => ({ folder: null }));

function button(words, title, press) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "md-code__button bw-run";
  made.textContent = words;
  made.title = title;
  made.setAttribute("aria-label", title);
  made.addEventListener("click", async () => {
    made.disabled = true; // until there is what it opens, which the first time has to come first
    try {
      await press();
    } catch (error) {
      console.info(error);
      made.title = "What runs programs in the page could not be loaded. Try again.";
      made.setAttribute("aria-label", made.title);
      made.classList.add("failed");
    }
    made.disabled = false;
  });
  return made;
}

function addToProgram(nav, block) {
  const { program } = block.dataset;
  const open = (how) => async () => (await import("./run/block.js")).open(block, how);
  nav.append(button("Run", `Run ${program}.py in this page`, open("run")), button("Edit", `Edit ${program}.py and run it in this page`, open("edit")));
}

function addToCell(nav, cell) {
  const number = [...document.querySelectorAll(".lab-cell")].indexOf(cell);
  const solve = button("Solve it here", "Edit and check this cell in the page", async () => (await import("./run/lab.js")).open(cell, number));
  nav.append(solve);
}

function addToPicture(stepper) {
  const row = document.createElement("p");
  row.className = "bw-slide";
  const opener = button("Change the numbers", "Change this launch and run it in the page", async () => (await import("./run/sliders.js")).open(stepper, row));
  opener.className = "bw-run";
  row.append(opener);
  stepper.before(row);
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
  for (const stepper of document.querySelectorAll("program-stepper[data-slides]:not([data-run])")) {
    stepper.dataset.run = "";
    if (programs.includes(stepper.dataset.slides)) addToPicture(stepper);
  }
}

const watcher = new MutationObserver(offer);
watcher.observe(document.documentElement, { childList: true, subtree: true });
offer();
