// Stands where the theme has its search, and answers the same messages. What is searched, and what searches, comes with the first
// query: the index that the theme asks for on every page is empty.

const [SETUP, READY, QUERY, RESULT] = [0, 1, 2, 3];
let engine;
let latest;

async function load() {
  const book = fetch(new URL("../../search/book.json", self.location)).then((answer) => answer.json());
  const [{ Engine }, { docs, listings }] = await Promise.all([import("./engine.js"), book]);
  return new Engine(docs, listings);
}

async function answer(query) {
  if (!query.trim()) return { items: [] };
  engine ??= load().catch((error) => {
    engine = undefined; // the next letter typed tries again
    throw error;
  });
  return (await engine).search(query);
}

self.addEventListener("message", async ({ data: { type, data } }) => {
  if (type === SETUP) {
    postMessage({ type: READY });
  } else if (type === QUERY) {
    latest = data;
    const found = await answer(data);
    if (data === latest) postMessage({ type: RESULT, data: found }); // an answer to what was typed before is of no use
  }
});
