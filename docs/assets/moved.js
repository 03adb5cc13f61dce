// Sends a reader whose address names a section that has moved to the page where it stands now.

const root = new URL("..", import.meta.url);

async function follow() {
  const anchor = decodeURIComponent(location.hash.slice(1));
  if (!anchor || document.getElementById(anchor)) return;
  const answer = await fetch(new URL("data/moved.json", root));
  if (!answer.ok) return;
  const page = location.pathname.slice(root.pathname.length);
  const target = (await answer.json())[`${page}#${anchor}`];
  if (target) location.replace(new URL(target, root));
}

addEventListener("hashchange", follow);
follow();
