// Gives tables that are wider than the page a tab stop, so that the keyboard can scroll them. Code blocks have one from the theme.

const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});

const watched = new WeakSet();

function watchAll() {
  for (const wrap of document.getElementsByClassName("md-typeset__scrollwrap")) {
    if (watched.has(wrap)) continue;
    watched.add(wrap);
    widths.observe(wrap);
  }
}

new MutationObserver(watchAll).observe(document.documentElement, { childList: true, subtree: true });
watchAll();
