"""The rules that Python blocks, regions and programs of the pages keep, each a function that lists what breaks it."""

import json
import os
import re
import textwrap
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.docs.pages import (
    INCLUDE,
    PYTHON_BLOCK,
    Block,
    Fence,
    address_of,
    blocks,
    blocks_of,
    expand,
    fences,
    front_matter,
    name_of,
    page_files,
)

FORM = '```{.python data-program="chapter/name"}'
MARKER = re.compile(r"--8<-- \[(start|end):([\w-]+)\]")
PROGRAM_LINK = re.compile(r"\[(?P<label>[^\]]+)\]\((?P<target>[^)\s]+)\)\{ \.program \}")
FILLED_IN = re.compile(r"\]\([^)\n]*\[[=%][^)\n]*\.md\b")
IMPORT = re.compile(r"(?:from [.\w]+ )?import [\w., ]+$")
LIBRARY_IMPORT = re.compile(r"from kernels[.\w]* import [\w, ]+$")
DISGUISED = re.compile(
    r"<(?:code|pre|div)\b[^>]*\b(?:language-py|lang-py)|^[ \t]*(?::::|#!)i?py\w*\s*$",
    re.IGNORECASE | re.MULTILINE,
)


class Region(NamedTuple):
    file: str
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"


def texts(root: Path) -> dict[str, str]:
    return {name_of(path, root): path.read_text(encoding="utf-8") for path in page_files(root)}


def fence_problems(root: Path) -> list[str]:
    """A Python fence in any form but the contract's would not be run, or would not copy its program."""
    found = []
    for page, text in texts(root).items():
        found += [f"{page}:{fence.line}: {problem}" for fence in fences(text) if (problem := form_problem(fence))]
        for match in DISGUISED.finditer(text):
            found.append(f"{page}:{text.count(chr(10), 0, match.start()) + 1}: Python outside a fence; write {FORM}")
    return found


def form_problem(fence: Fence) -> str:
    if not fence.language:
        return "a fence without a language; say `text` where it is none"
    if not fence.is_python:
        return ""
    if fence.marker != "```" or fence.prefix.strip(" ") or not PYTHON_BLOCK.fullmatch(fence.info):
        return f"a Python fence that is not of the form {FORM}: {fence.prefix + fence.marker + fence.info!r}"
    return ""


def include_problems(root: Path) -> list[str]:
    """A block is made of regions by name, of snippets and kernels, and nothing typed between them."""
    found = []
    for page, text in texts(root).items():
        for fence in fences(text):
            if fence.is_python:
                found += [f"{page}:{fence.line}: {problem}" for problem in body_problems(fence, root)]
    return found


def body_problems(fence: Fence, root: Path) -> list[str]:
    typed = [line.strip() for line in fence.body if line.strip() and not INCLUDE.match(line)]
    found = [f"typed line {line!r}; include a region" for line in typed]
    targets = [match["target"] for line in fence.body if (match := INCLUDE.match(line))]
    for target in targets:
        if not re.fullmatch(r"(?:snippets|kernels)/[\w/.-]+\.py:[a-z][\w-]*", target):
            found.append(f"{target!r} is no named region of a snippet or a kernel")
        else:
            try:
                expand(target, root)
            except LookupError as error:
                found.append(str(error))
    return found if targets else [*found, "includes nothing"]


def listed_programs(root: Path) -> list[dict[str, str]]:
    return json.loads((root / "docs" / "data" / "programs.json").read_text(encoding="utf-8"))


def program_problems(root: Path) -> list[str]:
    """Every block's program is listed and published, its link stands under the block, its text stands in the program."""
    listed = {entry["path"]: entry for entry in listed_programs(root)}
    found = []
    for block in blocks(root):
        path = f"programs/{block.program}.py"
        published = root / "docs" / path
        if path not in listed or not published.exists():
            found.append(f"{block.where}: {path} is not published; is there a snippets/{block.program}.py?")
            continue
        if block.gpu and not listed[path]["needs"]:
            found.append(f"{block.where}: the block is skipped on a CPU, but its program needs nothing more than a CPU")
        problems = [*link_problems(block, path), *verbatim_problems(block, published, root)]
        found += [f"{block.where}: {problem}" for problem in problems]
    return found


def link_problems(block: Block, path: str) -> list[str]:
    target = os.path.relpath(f"docs/{path}", Path(block.page).parent)
    wanted = f"[{block.program}.py]({target}){{ .program }}"
    return [] if block.below.strip() == wanted else [f"directly under the block must stand {wanted}"]


def verbatim_problems(block: Block, published: Path, root: Path) -> list[str]:
    program = published.read_text(encoding="utf-8").splitlines()
    found = []
    for target in block.includes:
        try:
            region = textwrap.dedent(expand(target, root)).rstrip().splitlines()
        except LookupError:
            continue
        gone = imports([line for line in region if not LIBRARY_IMPORT.match(line)]) - imports(program)
        if gone or not all(stands_in(part, program) for part in without_imports(region)):
            found.append(f"the text of {target} does not stand in {published.name}")
    return found


def imports(lines: list[str]) -> set[tuple[str, str]]:
    """What lines import, each name beside where it comes from."""
    found = set()
    for line in lines:
        if IMPORT.match(line):
            source, _, names = line.rpartition("import ")
            found |= {(source, name.strip()) for name in names.split(",")}
    return found


def without_imports(lines: list[str]) -> list[list[str]]:
    """The parts between imports: a published program has definitions in place of those from `kernels`, and none twice."""
    parts: list[list[str]] = [[]]
    for line in lines:
        if IMPORT.match(line):
            parts.append([])
        else:
            parts[-1].append(line)
    return ["\n".join(part).strip("\n").splitlines() for part in parts]


def stands_in(part: list[str], program: list[str]) -> bool:
    slices = (program[at : at + len(part)] for at in range(len(program) - len(part) + 1))
    return any(textwrap.dedent("\n".join(lines)).rstrip().splitlines() == part for lines in slices)


def long_listings(root: Path, lessons: list[str], most: int = 200) -> list[str]:
    """Programs that these lessons show and that are longer, whole, than a reader would read."""
    found = {}
    for block in blocks(root):
        path = root / "docs" / "programs" / f"{block.program}.py"
        if block.page in {f"docs/course/{lesson}.md" for lesson in lessons} and path.exists():
            found[block.page, block.program] = len(path.read_text(encoding="utf-8").splitlines())
    return [f"{page}: {name}.py has {lines} lines" for (page, name), lines in sorted(found.items()) if lines > most]


def listing_problems(root: Path) -> list[str]:
    """Each entry of data/programs.json names a program that exists, what it needs, and a page that shows or links it."""
    shown = {address_of(page): text for page, text in texts(root).items()}
    found = []
    for entry in listed_programs(root):
        path, page = entry["path"], entry["page"]
        if set(entry) - {"runs"} != {"path", "page", "needs"} or entry["needs"] not in ("", "cuda", "sm_90", "2 gpus"):
            found.append(f"{path}: an entry has path, page and needs ('', 'cuda', 'sm_90' or '2 gpus'): {entry}")
        if not (root / "docs" / path).exists():
            found.append(f"{path}: listed and not published")
        if not mentions(shown.get(page, ""), path.removeprefix("programs/").removesuffix(".py")):
            found.append(f"{path}: its page {page!r} neither shows nor links it")
    doubled = [path for path, count in Counter(entry["path"] for entry in listed_programs(root)).items() if count > 1]
    return found + [f"{path}: listed twice" for path in doubled]


def mentions(text: str, program: str) -> bool:
    shown = any(block.program == program for block in blocks_of("", text))
    linked = any(match["target"].endswith(f"programs/{program}.py") for match in PROGRAM_LINK.finditer(text))
    return shown or linked or re.search(rf"\]\([./]*programs/{re.escape(program)}\.py\)", text) is not None


def orphan_snippets(root: Path) -> list[str]:
    """A program that no page shows or links teaches nobody."""
    pages = texts(root).values()
    paths = [path for path in sorted((root / "snippets").rglob("*.py")) if path.name != "__init__.py"]
    names = [path.relative_to(root / "snippets").with_suffix("").as_posix() for path in paths]
    return [f"snippets/{name}.py: no page shows or links it" for name in names if not any(mentions(text, name) for text in pages)]


def marked(root: Path) -> dict[str, list[tuple[str, str]]]:
    """The region markers of each file, in order."""
    files = sorted([*(root / "snippets").rglob("*.py"), *(root / "kernels").rglob("*.py")])
    return {name_of(path, root): MARKER.findall(path.read_text(encoding="utf-8")) for path in files}


def marker_problems(root: Path) -> list[str]:
    """A region begins once and ends once, in this order."""
    found = []
    for file, markers in marked(root).items():
        for name in dict.fromkeys(name for _, name in markers):
            kinds = [kind for kind, other in markers if other == name]
            if kinds != ["start", "end"]:
                found.append(f"{file}: region {name!r} has {', '.join(kinds)}; it needs one start and one end after it")
    return found


def orphan_regions(root: Path, kept: set[str]) -> list[str]:
    """A region that no page includes has lost its place, unless it is on the list of those kept for later."""
    regions = {str(Region(file, name)) for file, markers in marked(root).items() for _, name in markers}
    included = {match["target"] for text in texts(root).values() for line in text.splitlines() if (match := INCLUDE.match(line))}
    lost = [f"{region}: no page includes it" for region in sorted(regions - included - kept)]
    gone = [f"{region}: kept for later, but there is no such region" for region in sorted(kept - regions)]
    used = [f"{region}: kept for later, but a page includes it already" for region in sorted(kept & included)]
    return lost + gone + used


def share_problems(root: Path, least: float = 0.8) -> list[str]:
    """Four blocks of five run on a CPU, and a page on which none does says why."""
    found, ran, total = [], 0, 0
    for page, text in texts(root).items():
        here = blocks_of(page, text)
        on_cpu = sum(not block.gpu for block in here)
        ran, total = ran + on_cpu, total + len(here)
        reason = front_matter(text).get("no_cpu_blocks")
        if here and not on_cpu and not reason:
            found.append(f"{page}: no block runs on a CPU; say why in the front matter, as `no_cpu_blocks: reason`")
        if reason and on_cpu:
            found.append(f"{page}: says `no_cpu_blocks`, but {on_cpu} of its blocks run on a CPU")
    if total and ran < least * total:
        found.append(f"{ran} of {total} Python blocks run on a CPU; at least {least:.0%} must")
    return found


def read_list(path: Path) -> list[str]:
    """The lines of a committed list; empty ones and those that begin with # say nothing."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def page_link_problems(root: Path) -> list[str]:
    """Zensical judges a link to a page as it is written, before a template fills it in, and finds no page of that name."""
    found = []
    for page, text in texts(root).items():
        for match in FILLED_IN.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{page}:{line}: a link to a page is filled in by a template; write it whole")
    return found


def gpu_block_problems(root: Path, listed: list[str]) -> list[str]:
    """The blocks that pytest-examples skips are the listed ones, no more and no fewer."""
    skipped, expected = Counter(f"{block.page} {block.program}" for block in blocks(root) if block.gpu), Counter(listed)
    unlisted = [f"{name}: skipped on a CPU and not in gpu_blocks.txt" for name in sorted((skipped - expected).elements())]
    stale = [f"{name}: in gpu_blocks.txt and not on the page" for name in sorted((expected - skipped).elements())]
    return unlisted + stale
