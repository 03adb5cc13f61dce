"""Pages for widgets that stand on no page of the site: a finished page with another figure in the place of its own."""

import re
from collections.abc import Callable

from playwright.sync_api import Page

from tests.browser.conftest import Site


def add_page(site: Site, name: str, figure: str) -> str:
    """Write a page of the site's course that shows `figure`; return its address."""
    text = (site.folder / "course" / "first-kernel" / "index.html").read_text(encoding="utf-8")
    text, found = re.subn(r'<figure class="stepper-figure".*?</figure>', lambda _: figure, text, flags=re.DOTALL)
    assert found == 1
    (site.folder / "course" / name).mkdir(exist_ok=True)
    (site.folder / "course" / name / "index.html").write_text(text, encoding="utf-8")
    return f"course/{name}/"


def reach(page: Page) -> None:
    """Come near the picture that replays a recording: it loads then."""
    page.locator("program-stepper, memory-dance").first.scroll_into_view_if_needed()
    page.wait_for_selector(".stepper:not(.still)")


def open_on_a_still_clock(page: Page, address: str) -> None:
    """Open a page whose time stands, until the test moves it: a busy machine may draw nothing for longer than a play takes."""
    page.clock.install(time=0)
    page.goto(address)
    page.clock.pause_at(3_600_000)


def reaching(fresh: Callable[..., Page]) -> Callable[..., Page]:
    """`fresh`, but a page that is opened at once is one whose picture the reader has come near."""

    def make(path: str | None = None, *settings, **named) -> Page:
        page = fresh(path, *settings, **named)
        if path is not None:
            reach(page)
        return page

    return make
