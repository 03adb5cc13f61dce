"""The gallery of broken kernels: which tool notices which, as a table, and what pages say of each kernel.

    table()         every kernel and every tool, as HTML
    fragment(name)  what machines write of one kernel: what the program prints, the mend, who notices, as Markdown
    counts()        of each tool, how often it notices, is silent and is wrong; and which tools together notice most

The kernels stand in the order of the pages docs/errors/gallery-*.md. The standard library alone.
"""

import ast
import difflib
import html
import re
from functools import cache
from typing import Any, NamedTuple

from scripts.pages.messages import inline_html, listed_pages
from scripts.provenance import records
from scripts.provenance.environment import primary_machine
from scripts.provenance.programs import snippet_path

LISTED = re.compile(r": errors/(gallery-\w+)\.md$", re.MULTILINE)
# Every tool by the name that records have for it: its title, and where it runs. Cheap ones first: of equals these come first.
TOOLS = {
    "own": "the author's size",
    "odd": "an odd size",
    "hard": "inputs that hurt",
    "poison": "poison",
    "again": "the same bits",
    "compiler": "compiler",
    "interpreter": "interpreter",
    "page": "the page's runtime",
    "debug": "debug mode",
    "memcheck": "memcheck",
    "racecheck": "racecheck",
    "initcheck": "initcheck",
    "synccheck": "synccheck",
    "consan": "ConSan",
    "iisan": "IISan",
    "gsan": "GSan",
    "fpsan": "FPSan",
}
ON_CPU = ("compiler", "interpreter", "page")
MODES = ("consan", "iisan", "gsan", "fpsan")
ON_GPU = tuple(tool for tool in TOOLS if tool not in ON_CPU)
LOUD = ("notices", "refuses", "hangs")
# What a cell shows, and what a screen reader says of it.
ICONS = {"notices": "●", "refuses": "■", "hangs": "◆", "silent": "·", "cannot": "–", "": "○"}
WORDS = {"": "not asked yet", "cannot": "cannot be asked"}
ALARM = "▲"


class Kernel(NamedTuple):
    """One section of a page of the gallery."""

    page: str
    group: str
    title: str
    anchor: str

    @property
    def name(self) -> str:
        return self.anchor.replace("-", "_")


class Cell(NamedTuple):
    """What a tool says: of the wrong kernel, and whether it is wrong about the mended one."""

    verdict: str  # empty where nobody has asked yet
    said: str
    alarm: str  # what it says of the mended kernel, if that is more than silence
    triton: str

    @property
    def tells(self) -> bool:
        """Whether it tells the wrong kernel from the mended one: who objects to both knows of no mistake."""
        return self.verdict in LOUD and not self.alarm


@cache
def kernels() -> list[Kernel]:
    return [Kernel(page, title, *each) for page, title, here in listed_pages(LISTED) for each in here]


def cells(name: str) -> dict[str, Cell]:
    """What each tool said of a kernel."""
    known: dict[str, Any] = {}
    for machine in ("cpu", primary_machine()):
        path = records.record_path(machine, "gallery", name)
        known |= records.read(path)["cells"] if path.exists() else {}
    return {tool: cell(known.get(tool)) for tool in TOOLS}


def cell(kept: dict[str, Any] | None) -> Cell:
    if kept is None:
        return Cell("", "", "", "")
    (verdict, said), (mended, words) = kept["wrong"], kept["right"]
    return Cell(verdict, said, words if mended in LOUD else "", kept["triton"])


def spoken(found: Cell) -> str:
    return WORDS.get(found.verdict, found.verdict) + (", and a false alarm" if found.alarm else "")


def table() -> str:
    """Rows by kind, a column for each tool; a legend below."""
    head = "".join(f"<th scope=col>{html.escape(title)}</th>" for title in TOOLS.values())
    rows, group = [], ""
    for kernel in kernels():
        if kernel.group != group:
            group = kernel.group
            rows.append(f'<tr class="group"><th scope=rowgroup>{inline_html(group)}</th><td colspan={len(TOOLS)}></td></tr>')
        link = f'<a href="../{kernel.page}/#{kernel.anchor}">{inline_html(kernel.title)}</a>'
        told = "".join(cell_html(found) for found in cells(kernel.name).values())
        rows.append(f"<tr><th scope=row>{link}</th>{told}</tr>")
    body = f"<thead><tr><th scope=col>kernel</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    parts = [f"<span>{icon} {WORDS.get(verdict, verdict)}</span>" for verdict, icon in ICONS.items()]
    legend = f'<p class="bw-legend" aria-hidden="true">{" ".join([*parts, f"<span>{ALARM} false alarm</span>"])}</p>'
    label = "Which tool notices which kernel"
    opened = f'<div class="scroll bw-noticed" tabindex="0" role="region" aria-label="{label}">'
    return f"{opened}<table>{body}</table></div>\n{legend}\n"


def cell_html(found: Cell) -> str:
    icon = ICONS[found.verdict] + (ALARM if found.alarm else "")
    kind = found.verdict or "open"
    words = "; of the fixed kernel: ".join(filter(None, (found.said, found.alarm)))
    said = f' title="{html.escape(words)}"' if words else ""
    return f'<td class="{kind}"{said}><span aria-hidden="true">{icon}</span><span class="bw-said">{spoken(found)}</span></td>'


def fragment(name: str) -> str:
    """What the program prints, the mend, and who notices."""
    return "\n\n".join([*printed(name), "The fix:", f"```diff\n{mend(name)}\n```", *noticed(name)]) + "\n"


def printed(name: str) -> list[str]:
    """What the program printed on the GPU, or else on the CPU; nothing before it ran anywhere."""
    for machine, where in ((primary_machine(), "on the GPU"), ("cpu", "under the interpreter")):
        path = records.record_path(machine, "program", f"gallery/{name}")
        if path.exists():
            lines = [line for line in records.read(path)["output"] if line.startswith(("wrong,", "mended,"))]
            return [f"It prints, {where}:", "```{.text .said}\n" + "\n".join(lines) + "\n```"]
    return ["It asks for a GPU, and has not run on one yet."]


def goes_wrong(name: str) -> bool:
    """Whether the wrong kernel, run on the GPU, showed it: a result that differs, or an error."""
    path = records.record_path(primary_machine(), "program", f"gallery/{name}")
    lines = records.read(path)["output"] if path.exists() else []
    return any(line.startswith("wrong,") and not line.endswith("agrees with PyTorch") for line in lines)


def mend(name: str) -> str:
    """The lines in which the mended kernel differs, between their neighbors."""
    text = snippet_path(name=f"gallery/{name}").read_text(encoding="utf-8")
    both = {}
    for node in ast.parse(text).body:
        called = bound(node)
        which = "wrong" if "wrong" in called else "right" if "right" in called else ""
        if which and isinstance(node, ast.FunctionDef | ast.Assign):
            source = ast.get_source_segment(text, node) or ""
            both[which] = [line.split("  # ")[0].replace(f"_{which}", "") for line in source.splitlines()]
    lines = list(difflib.unified_diff(both["wrong"], both["right"], n=1, lineterm=""))[2:]
    return "\n".join(line for line in lines if not line.startswith("@@"))


def bound(node: ast.stmt) -> str:
    """The name that a statement binds."""
    if isinstance(node, ast.FunctionDef):
        return node.name
    return ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else ""


def noticed(name: str) -> list[str]:
    found = cells(name)
    loud = [(tool, each) for tool, each in found.items() if each.verdict in LOUD]
    lines = [f"- **{TOOLS[tool]}** {each.verdict}: `` {each.said} ``" for tool, each in loud]
    lines += [f"- **{TOOLS[tool]}** gives a *false alarm*: `` {each.alarm} ``" for tool, each in found.items() if each.alarm]
    parts = ["Who notices:", "\n".join(lines)] if lines else ["None of the tools that were asked notices."]
    for verdict, words in (("silent", "Silent"), ("cannot", "Cannot be asked"), ("", "Not asked yet")):
        those = [(tool, each) for tool, each in found.items() if each.verdict == verdict]
        reasons = {each.said for _, each in those}
        listed = ", ".join(TOOLS[tool] for tool, _ in those)
        if those:
            parts.append(f"{words}: {listed}" + (f" ({'; '.join(sorted(reasons))})." if verdict == "cannot" else "."))
    return parts


def counts() -> dict[str, Any]:
    """For sentences about the table: how often each tool was asked, noticed, gave a false alarm; and what to begin with."""
    every = {kernel.name: cells(kernel.name) for kernel in kernels()}
    tools: dict[str, dict[str, Any]] = {}
    for tool in TOOLS:
        those = [found[tool] for found in every.values()]
        asked = [each for each in those if each.verdict not in ("", "cannot")]
        loud = [each for each in asked if each.verdict in LOUD]
        tools[tool] = {"asked": len(asked), "notices": len(loud), "alarms": sum(bool(each.alarm) for each in those)}
        tools[tool]["said"] = f"notices {len(loud)} of {len(asked)}" if asked else "not asked yet"
    steps = first(every)
    left = [name for name, found in every.items() if not any(each.tells for each in found.values())]
    seen = sum(goes_wrong(name) for name in left)
    open_tools = [TOOLS[tool] for tool in TOOLS if any(found[tool].verdict == "" for found in every.values())]
    return {"kernels": len(every), "tools": tools, "steps": steps, "left": len(left), "seen": seen, "open": open_tools}


def first(every: dict[str, dict[str, Cell]]) -> list[dict[str, Any]]:
    """The tools in the order in which each adds most to those before it; what adds nothing is left out."""
    noticed_by = {tool: {name for name, found in every.items() if found[tool].tells} for tool in TOOLS}
    steps: list[dict[str, Any]] = []
    known: set[str] = set()
    while True:
        tool = max(noticed_by, key=lambda each: len(noticed_by[each] - known))
        added = noticed_by[tool] - known
        if not added:
            return steps
        known |= added
        steps.append({"tool": tool, "title": TOOLS[tool], "adds": len(added), "so_far": len(known)})
