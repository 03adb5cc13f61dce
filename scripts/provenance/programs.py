"""The programs under snippets/: their names, what their headers ask for, and the pages that show them. Standard library alone."""

import re
from functools import cache
from pathlib import Path

from scripts import ROOT

NOT_WRITTEN = ("generated", "baked", "programs", "data", "dist", "assets", "labs")  # of docs/: what only machines write
NAMED = re.compile(r'programs/([\w/-]+)\.py|data-program="([\w/-]+)"')  # how a page names a program
TITLE = re.compile(r"^# (.+?)(?: *\{[^}]*\})?$", re.MULTILINE)
SEVERAL = "2 gpus"  # what a program needs that runs as a process on each GPU of a machine, two at least
MARKER = re.compile(r"^\s*(?:#|//) --8<-- \[(start|end):[\w.-]+\]\s*$")


def snippet_names(root: Path = ROOT) -> list[str]:
    """Every program under snippets/, as `<chapter>/<name>`."""
    paths = sorted((root / "snippets").rglob("*.py"))
    return [path.relative_to(root / "snippets").with_suffix("").as_posix() for path in paths if path.name != "__init__.py"]


def gallery_names(root: Path = ROOT) -> list[str]:
    """The broken kernels, whose programs lie under snippets/gallery."""
    return [name.removeprefix("gallery/") for name in snippet_names(root) if name.startswith("gallery/")]


def needs_of(name: str, root: Path = ROOT) -> str:
    """What the program needs beyond a CPU, from its header: `cuda`, `sm_90`, `2 gpus`, or nothing."""
    return header(name, "needs", root)


def header(name: str, key: str, root: Path = ROOT) -> str:
    """The value of a header comment such as `# needs: cuda`, or nothing."""
    match = re.search(rf"^# {key}: (.+)$", snippet_path(name, root).read_text(encoding="utf-8"), re.MULTILINE)
    return match.group(1).strip() if match else ""


def snippet_path(name: str, root: Path = ROOT) -> Path:
    return root / "snippets" / f"{name}.py"


def pages(root: Path = ROOT) -> dict[str, str]:
    """The Markdown sources by the address of their page, without those that only machines write."""
    found, docs = {}, root / "docs"
    for path in sorted(docs.rglob("*.md")):
        relative = path.relative_to(docs)
        if relative.parts[0] not in NOT_WRITTEN:
            address = relative.with_suffix("").as_posix().removesuffix("index")
            found[address if not address or address.endswith("/") else f"{address}/"] = path.read_text(encoding="utf-8")
    return found


@cache  # each published program says where it is shown
def shown_on(root: Path = ROOT) -> dict[str, tuple[str, str]]:
    """The page of each program that a page shows or links, by its address and its title."""
    found: dict[str, tuple[str, str]] = {}
    for address, text in sorted(pages(root).items(), key=lambda page: not page[0]):  # the home page shows programs of others
        title = TITLE.search(text)
        for name in NAMED.findall(text):
            found.setdefault("".join(name), (address, title[1] if title else ""))
    return found
