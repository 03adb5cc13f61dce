// Ticks the pages that were read and the labs that were solved, in the navigation and on lists of pages. Kept in this browser and
// never sent.

const KEY = "blockwise.read";
const READABLE = /((course|deeper|labs|capstone)\/[\w-]+|capstone)\/$/;

const address = (url) => new URL(url, location).pathname.match(READABLE)?.[0];

function readPages() {
  try {
    return new Set(JSON.parse(localStorage.getItem(KEY)) ?? []);
  } catch {
    return new Set();
  }
}

function keep(page, isRead) {
  const pages = readPages();
  if (isRead) pages.add(page);
  else pages.delete(page);
  try {
    localStorage.setItem(KEY, JSON.stringify([...pages]));
  } catch {
    return; // a browser that keeps nothing shows no ticks
  }
  show();
}

function show() {
  const pages = readPages();
  for (const link of document.querySelectorAll(".md-nav--primary a.md-nav__link, article a.bw-page-link")) {
    const page = address(link.href);
    const isRead = page !== undefined && pages.has(page);
    link.classList.toggle("bw-read", isRead);
    const mark = link.querySelector(":scope > .bw-said");
    if (isRead && !mark) link.insertAdjacentHTML("beforeend", '<span class="bw-said">, read</span>');
    if (!isRead) mark?.remove();
  }
  const button = document.querySelector(".bw-mark");
  if (button) {
    const isRead = pages.has(address(location.href));
    button.setAttribute("aria-pressed", String(isRead));
    button.textContent = isRead ? "Read" : "Mark as read";
  }
  for (const count of document.querySelectorAll("[data-read-of]")) {
    const listed = [...document.querySelectorAll(`${count.dataset.readOf} a.bw-page-link`)].map((link) => address(link.href));
    const done = new Set(listed.filter((page) => pages.has(page))).size;
    count.hidden = done === 0;
    count.textContent = `${done} of ${new Set(listed).size} read`;
  }
}

// What is on this page counts as read: a lab when all of it is solved, and any other page when its last lines have been on the screen.
export const tick = () => keep(address(location.href), true);

const end = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting || scrollY === 0) continue;
    end.unobserve(target);
    tick();
  }
});

let seen;
function watch() {
  const article = document.querySelector("article.md-content__inner");
  if (article === seen) return;
  seen = article;
  const page = address(location.href);
  if (page && article && !article.querySelector(".bw-nowhere")) {
    const button = document.createElement("button");
    button.className = "bw-mark";
    button.type = "button";
    button.addEventListener("click", () => keep(address(location.href), button.getAttribute("aria-pressed") !== "true"));
    article.append(button);
    if (!page.startsWith("labs/")) end.observe(button);
  }
  show();
}

new MutationObserver(watch).observe(document.documentElement, { childList: true, subtree: true }); // pages change without loading
watch();
