// Gives tables and blocks of code that are wider than their place a tab stop, so that the keyboard can scroll them.
// The theme does that for code too, but only once a block has come into view.

const SCROLLS = ".md-typeset__scrollwrap, pre > code";

function check(element) {
  if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
  else element.removeAttribute("tabindex");
}

const widths = new ResizeObserver((entries) => entries.forEach(({ target }) => check(target)));
const watched = new WeakSet();

function watchAll() {
  for (const element of document.querySelectorAll(SCROLLS)) {
    if (watched.has(element)) continue;
    watched.add(element);
    widths.observe(element);
  }
}

new MutationObserver(watchAll).observe(document.documentElement, { childList: true, subtree: true });
watchAll();
// A face that arrives late makes lines longer and leaves their box as it is.
document.fonts.addEventListener("loadingdone", () => document.querySelectorAll(SCROLLS).forEach(check));
