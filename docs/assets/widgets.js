// Loads the module of each interactive picture of a page. Those that replay a recording come when the reader comes near;
// until then, and without scripts, their still picture stands there.

const REPLAYING = { "program-stepper": "./stepper.js", "memory-dance": "./dance.js" };
const EXPLORING = {
  "grid-explorer": "./grid-explorer.js",
  "broadcast-explorer": "./broadcast-explorer.js",
  "offset-calculator": "./offset-calculator.js",
};
const MODULES = { ...REPLAYING, ...EXPLORING };
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
    if (REPLAYING[found.localName]) near.observe(found);
    else import(MODULES[found.localName]);
  }
}

new MutationObserver(watch).observe(document.documentElement, { childList: true, subtree: true }); // pages change without loading
watch();
