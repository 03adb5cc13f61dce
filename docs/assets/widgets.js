// Loads the module of each interactive picture of a page when the reader comes near it. Until then, and without scripts, its
// still picture stands there.

const MODULES = {
  "program-stepper": "./stepper.js",
  "memory-dance": "./dance.js",
  "grid-explorer": "./grid-explorer.js",
  "broadcast-explorer": "./broadcast-explorer.js",
  "offset-calculator": "./offset-calculator.js",
  "tile-order": "./tile-order.js",
  "config-picker": "./picker.js",
  "stack-chooser": "./chooser.js",
  "blockwise-question": "./questions.js",
  "chart-cards": "./cards.js",
  "chart-values": "./charts.js",
  "compiler-lens": "./lens/lens.js",
  "claims-table": "./claims.js",
};
const seen = new WeakSet();

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      import(MODULES[target.localName]);
    }
  },
  { rootMargin: "200px" },
);

function watch() {
  for (const found of document.querySelectorAll(Object.keys(MODULES).join())) {
    if (seen.has(found)) continue;
    seen.add(found);
    near.observe(found);
  }
}

new MutationObserver(watch).observe(document.documentElement, { childList: true, subtree: true }); // pages change without loading
watch();
