"""Pages for widgets that stand on no page of the site: a finished page with another figure in the place of its own."""

import re

from tests.browser.conftest import Site


def add_page(site: Site, name: str, figure: str) -> str:
    """Write a page of the site's course that shows `figure`; return its address."""
    text = (site.folder / "course" / "first-kernel" / "index.html").read_text(encoding="utf-8")
    text, found = re.subn(r'<figure class="stepper-figure".*?</figure>', lambda _: figure, text, flags=re.DOTALL)
    assert found == 1
    (site.folder / "course" / name).mkdir(exist_ok=True)
    (site.folder / "course" / name / "index.html").write_text(text, encoding="utf-8")
    return f"course/{name}/"
