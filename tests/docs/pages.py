"""Find the pages, their fences and their Python blocks, as a reader would see them."""

import fcntl
import os
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from markdown import Markdown
from pymdownx.snippets import SnippetMissingError

ROOT = Path(__file__).resolve().parent.parent.parent
RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"{os.getpid()} {time.time_ns()}"
# The labs' pages among them: they are made from docs/labs/*.py, which tests/labs looks after.
MACHINE_WRITTEN = {"baked", "programs", "data", "generated", "assets", "overrides", "labs"}
FENCE = re.compile(r"^(?P<prefix>[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?)(?P<marker>`{3,}|~{3,})(?P<info>[^\n]*)$")
INCLUDE = re.compile(r'^[ \t]*-+8<-+[ \t]+["\'](?P<target>[^"\']+)["\'][ \t]*$')
PYTHON_BLOCK = re.compile(
    r'\{\.python(?P<classes>(?: \.[\w-]+)*) data-program="(?P<program>[\w-]+(?:/[\w-]+)+)"(?P<rest>(?: [\w-]+="[^"]*")*)\}'
)


class Fence(NamedTuple):
    line: int
    prefix: str
    marker: str
    info: str
    body: list[str]
    end: int

    @property
    def language(self) -> str:
        """The first word of the info string, whatever its spelling: `python`, `{.python}`, `{ .python title="x" }`."""
        found = re.match(r"[\s{.]*([\w+-]*)", self.info)
        return found.group(1).lower() if found else ""

    @property
    def is_python(self) -> bool:
        return re.match(r"i?py|bpython|sage", self.language) is not None


class Block(NamedTuple):
    """A Python block in the one form that pages use."""

    page: str
    line: int
    end: int
    program: str
    gpu: bool
    includes: list[str]
    below: str

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"


def page_files(root: Path = ROOT) -> list[Path]:
    """The Markdown that people write, in order."""
    docs = root / "docs"
    return [path for path in sorted(docs.rglob("*.md")) if path.relative_to(docs).parts[0] not in MACHINE_WRITTEN]


def addresses(root: Path = ROOT) -> list[str]:
    """The address of every page of the site, without what precedes it."""
    labs = [f"labs/{path.stem}/" for path in sorted((root / "docs" / "labs").glob("*.py"))]
    return [address_of(name_of(path, root)) for path in page_files(root)] + labs


def navigation(root: Path = ROOT) -> list[str]:
    """The address of every page of the navigation, in order, with the site at `/`. The first is Home."""
    listed = (root / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2].partition("\n\n")[0]
    return [f"/{address_of(f'docs/{name}')}" for name in re.findall(r": (\S+\.md)$", listed, re.MULTILINE)]


def name_of(path: Path, root: Path = ROOT) -> str:
    return path.relative_to(root).as_posix()


def address_of(page: str) -> str:
    """The address of a page in the site: `docs/course/first-kernel.md` is `course/first-kernel/`."""
    address = page.removeprefix("docs/").removesuffix(".md")
    return "" if address == "index" else f"{address.removesuffix('/index')}/"


def file_of(address: str) -> str:
    """What a page is written in, for a lab its Python: the inverse of `address_of`."""
    name = f"docs/{address.strip('/')}".rstrip("/")
    files = (f"{name}.py", f"{name}.md", f"{name}/index.md")
    return next((file for file in files if (ROOT / file).is_file()), name)


def front_matter(text: str) -> dict:
    found = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    return (yaml.safe_load(found.group(1)) or {}) if found else {}


def fences(text: str) -> list[Fence]:
    """Every fence in every spelling: backticks or tildes, three or more, indented, quoted, in a list."""
    found: list[Fence] = []
    opened: re.Match[str] | None = None
    start, body = 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if opened is None:
            opened = FENCE.match(line)
            if opened and opened["marker"][0] == "`" and "`" in opened["info"]:
                opened = None
            start, body = number, []
        elif closes(line, opened["marker"]):
            found.append(Fence(start, opened["prefix"], opened["marker"], opened["info"], body, number))
            opened = None
        else:
            body.append(without_prefix(line, opened["prefix"]))
    if opened:
        found.append(Fence(start, opened["prefix"], opened["marker"], opened["info"], body, start + len(body) + 1))
    return found


def closes(line: str, marker: str) -> bool:
    stripped = line.strip(" \t>")
    return len(stripped) >= len(marker) and set(stripped) == {marker[0]}


def without_prefix(line: str, prefix: str) -> str:
    taken = len(line) - len(line.lstrip(" \t>"))
    return line[min(taken, len(prefix)) :]


def includes(fence: Fence) -> list[str]:
    return [found["target"] for line in fence.body if (found := INCLUDE.match(line))]


def blocks_of(page: str, text: str) -> list[Block]:
    """The page's Python blocks; a Python fence in another form is none (see `page_rules.fence_problems`)."""
    lines = text.splitlines()
    found = []
    for fence in fences(text):
        form = PYTHON_BLOCK.fullmatch(fence.info)
        if form and fence.marker == "```" and not fence.prefix.strip(" "):
            gpu = ".gpu" in form["classes"].split()
            below = next((line for line in lines[fence.end :] if line.strip()), "")
            found.append(Block(page, fence.line, fence.end, form["program"], gpu, includes(fence), below))
    return found


def blocks(root: Path = ROOT) -> list[Block]:
    return [block for path in page_files(root) for block in blocks_of(name_of(path, root), path.read_text(encoding="utf-8"))]


@cache
def snippet_processor(root: Path):
    options = {"base_path": [str(root)], "check_paths": True, "dedent_subsections": True}
    markdown = Markdown(extensions=["pymdownx.snippets"], extension_configs={"pymdownx.snippets": options})
    return markdown.preprocessors["snippet"]


def expand(target: str, root: Path = ROOT) -> str:
    """The text that `--8<-- "target"` puts into a page. A missing file or region raises LookupError."""
    try:
        lines = snippet_processor(root).run([f'--8<-- "{target}"'])
    except SnippetMissingError as error:
        raise LookupError(f"{target}: {error}") from None
    return "\n".join(lines).strip("\n") + "\n"


def source_of(block: Block, root: Path = ROOT) -> str:
    """The block as the page shows it."""
    return "".join(expand(target, root) for target in block.includes)


def expanded(path: Path, root: Path = ROOT) -> str:
    """A page in which every Python block holds its text in place of its includes."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    found = {fence.line: fence for fence in fences(text)}
    for block in reversed(blocks_of(name_of(path, root), text)):
        shown = textwrap.indent(source_of(block, root), found[block.line].prefix).splitlines()
        lines[block.line : block.end - 1] = shown
    return "\n".join(lines) + "\n"


def once(name: str, make: Callable[[], None]) -> None:
    """Call `make` once in a test run, however many worker processes ask for it."""
    stamp = ROOT / "build" / f"{name}.once"
    stamp.parent.mkdir(exist_ok=True)
    with stamp.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        if file.read() != RUN:
            make()
            file.truncate(0)
            file.write(RUN)


def prepare() -> None:
    """Have scripts/prepare.py write what the pages and the programs need."""

    def make() -> None:
        done = subprocess.run([sys.executable, "scripts/prepare.py"], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, f"python scripts/prepare.py failed:\n{done.stdout}{done.stderr}"

    once("prepare", make)
