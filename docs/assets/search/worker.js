// Stands where the theme has its search, and answers the same messages. The listings and what searches come with the first query:
// until then a page has loaded only the prose, which the theme asks for.

const [SETUP, READY, QUERY, RESULT] = [0, 1, 2, 3];
let docs = [];
let engine;
let latest;

async function load() {
  const listings = fetch(new URL("../../search/listings.json", self.location)).then((answer) => (answer.ok ? answer.json() : {}));
  const { Engine } = await import("./engine.js");
  return new Engine(docs, await listings.catch(() => ({})));
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
    docs = data.docs;
    postMessage({ type: READY });
  } else if (type === QUERY) {
    latest = data;
    const found = await answer(data);
    if (data === latest) postMessage({ type: RESULT, data: found }); // an answer to what was typed before is of no use
  }
});
