// Gives tables and blocks of code that are wider than their place a tab stop, so that the keyboard can scroll them.
// The theme does that for code too, but only once a block has come into view.

const watched = new Set();

// All widths are read before anything is changed, when the page has just been laid out: so none of it is laid out twice.
const widths = new ResizeObserver((entries) => {
  const wide = entries.map(({ target }) => target.scrollWidth > target.clientWidth);
  entries.forEach(({ target }, i) => {
    if (wide[i]) target.tabIndex = 0;
    else if (target !== document.activeElement) target.removeAttribute("tabindex");
  });
});

function watchAll() {
  for (const element of watched) {
    if (element.isConnected) continue;
    watched.delete(element);
    widths.unobserve(element);
  }
  for (const element of document.querySelectorAll(".md-typeset__scrollwrap, .highlight > pre > code")) {
    if (watched.has(element)) continue;
    watched.add(element);
    element.tabIndex = 0; // until its width is known: what is far below the window has not been laid out
    widths.observe(element);
  }
}

new MutationObserver(watchAll).observe(document.documentElement, { childList: true, subtree: true });
watchAll();

// A face that arrives late makes lines longer and leaves their box as it is: every box is seen once more after the next layout.
document.fonts.addEventListener("loadingdone", () => {
  for (const element of watched) {
    widths.unobserve(element);
    widths.observe(element);
  }
});
