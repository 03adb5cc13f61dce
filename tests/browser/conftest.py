"""One copy of the site, one server and one Chromium for all browser tests."""

import functools
import http.server
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Locator, Page, sync_playwright

from tests.docs import builds, pages

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"]
FOLDER = builds.SITE_URL.rstrip("/").rpartition("/")[2]
PATIENCE = 90_000  # milliseconds: far more than anything takes here, for a machine that stands still now and then
PALETTES = {"light": "default", "dark": "slate"}


class Site(NamedTuple):
    url: str
    folder: Path


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {".woff2": "font/woff2", ".js": "text/javascript"}

    def log_message(self, *_: object) -> None:
        pass

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """As a static host does, answer an unknown address with the site's own page."""
        if code != 404:
            return super().send_error(code, message, explain)
        body = (Path(self.directory) / FOLDER / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """The site at its own address, which stands in every page: instant navigation is off anywhere else."""
    (pages.ROOT / "build").mkdir(exist_ok=True)
    served = Path(tempfile.mkdtemp(prefix="browser-site-", dir=pages.ROOT / "build"))  # one's own: tests add pages to it
    folder = shutil.copytree(builds.mkdocs_site().site, served / FOLDER)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(served)))
    url = f"http://127.0.0.1:{server.server_port}/{FOLDER}/"
    for path in folder.rglob("*"):
        if path.suffix in (".html", ".json", ".md", ".txt", ".xml"):
            path.write_bytes(path.read_bytes().replace(builds.SITE_URL.encode(), url.encode()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Site(url, folder)
    server.shutdown()
    shutil.rmtree(served)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # Debian's headless shell is Chromium without windows of its own, and opens a page in half the time.
    found = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as playwright:
        try:
            launched = playwright.chromium.launch(executable_path=found, args=FLAGS)
        except Error as error:
            pytest.fail(
                "the browser tests need Chromium, and none could be started. Install it (`apt install chromium` or "
                f"`{sys.executable} -m playwright install chromium`), or name one in CHROMIUM.\n{error}",
                pytrace=False,
            )
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def context_of(browser: Browser) -> Iterator[Callable[[str, int], BrowserContext]]:
    """A context for a palette and a width, kept for the tests after."""

    @functools.cache
    def make(palette: str, width: int) -> BrowserContext:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=palette)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.set_default_timeout(PATIENCE)
        return context

    yield make
    make.cache_clear()


@pytest.fixture
def fresh(browser: Browser, site: Site) -> Iterator[Callable[..., Page]]:
    """A page that remembers nothing of earlier tests."""
    contexts = []

    def make(path: str | None = "", palette: str = "light", width: int = 1280) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=palette)
        contexts.append(context)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        if path is not None:
            page.goto(site.url + path)
        return page

    yield make
    for context in contexts:
        context.close()


def settle(page: Page) -> None:
    """Wait until the faces are there, and the copy buttons of the blocks in the window."""
    page.wait_for_function("document.fonts.status === 'loaded'")
    page.wait_for_function(
        """[...document.querySelectorAll('.highlight[data-program]')]
           .filter((block) => block.checkVisibility())
           .filter((block) => block.getBoundingClientRect().top < innerHeight && block.getBoundingClientRect().bottom > 0)
           .every((block) => block.querySelector('button[data-md-type=copy]'))"""
    )


def open_for_instant(page: Page, address: str) -> None:
    """Open a page, wait until instant navigation works there, and mark the page: a full load loses the mark.

    The theme asks for sitemap.xml when it starts, and a click on a link before that file is read is an ordinary one.
    """
    page.add_init_script(NOTE_SITEMAP)
    page.goto(address)
    page.wait_for_function("window.sitemapRead")
    page.evaluate("window.marker = true")


NOTE_SITEMAP = """const parse = DOMParser.prototype.parseFromString;
DOMParser.prototype.parseFromString = function (text, type) {
  const parsed = parse.call(this, text, type);
  if (type === 'text/xml') setTimeout(() => { window.sitemapRead = true; });
  return parsed;
};"""


def walk(page: Page) -> None:
    """Go past every block, as a reader does: each gets its copy button when it comes into view.

    Nothing comes into view while no frame is drawn, which on a busy machine may last for half a minute.
    """
    stuck = page.evaluate(WALK, PATIENCE)
    assert not stuck, f"a block in view got no copy button: {stuck}"


WALK = """async (patience) => {
  const sleep = (time) => new Promise((ready) => setTimeout(ready, time));
  const end = performance.now() + patience;
  for (const block of document.querySelectorAll('.highlight[data-program]')) {
    if (!block.checkVisibility()) continue;
    for (let wait = 0; !block.querySelector('button[data-md-type=copy]'); wait++) {
      if (performance.now() > end) {
        let frames = 0;
        const count = () => { frames++; requestAnimationFrame(count); };
        requestAnimationFrame(count);
        await sleep(1000);
        const { top, bottom } = block.getBoundingClientRect();
        const where = { top, bottom, window: innerHeight, frames, state: document.visibilityState };
        return { block: block.textContent.slice(0, 80), ...where };
      }
      if (wait % 40 === 0) block.scrollIntoView({ block: ['center', 'start', 'end'][(wait / 40) % 3], behavior: 'instant' });
      await sleep(20);
    }
  }
  scrollTo({ top: 0, behavior: 'instant' });
}"""


def press_copy(page: Page, block: Locator, number: int = 0) -> str:
    """Press a copy button of a block with the mouse, once it has its text; return what the clipboard then holds."""
    for _ in range(3):  # what is drawn above a block may still move it after it was looked for
        spot = block.evaluate(FIND_BUTTON, [PATIENCE, number])
        page.mouse.click(spot["x"], spot["y"])
        copied = page.evaluate(READ_CLIPBOARD)
        if copied:
            return copied
    pytest.fail(f"pressing the copy button copied nothing: {block.inner_text()[:200]}")


FIND_BUTTON = """async (block, [patience, number]) => {
  const end = performance.now() + patience;
  await navigator.clipboard.writeText('');
  block.scrollIntoView({ block: 'center', behavior: 'instant' });
  const ready = () => {
    const button = block.querySelectorAll('button[data-md-type=copy]')[number]; // the two texts are loaded one by one
    return button && !button.disabled && / · \\d|could not be loaded/.test(button.ariaLabel ?? '') ? button : null;
  };
  while (!ready()) {
    if (performance.now() > end) throw new Error(`no copy button: ${block.textContent.slice(0, 200)}`);
    await new Promise((again) => setTimeout(again, 10));
  }
  ready().scrollIntoView({ block: 'center', behavior: 'instant' }); // a block may be taller than the window
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const { left, top, width, height } = ready().getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
}"""
READ_CLIPBOARD = """async () => {
  for (let wait = 0; wait < 100; wait++) {
    const text = await navigator.clipboard.readText();
    if (text !== '') return text;
    await new Promise((again) => setTimeout(again, 10));
  }
}"""
