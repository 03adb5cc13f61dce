"""The error index: what each version of Triton said to a program, what that usually means, and the list of all entries.

    fragment(record)  ->  the part of an entry that machines write, as Markdown
    gpu_fragment(name)  ->  the same of an entry that only a GPU answers, from the GPU's record of the program
    index()           ->  every entry of the pages under docs/errors, as lists

What an error usually means is what the labs' checker and the page runtime say to it: one list serves all three. The standard
library alone.
"""

import ast
import html
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from scripts import ROOT
from scripts.provenance import programs, records
from scripts.provenance.environment import primary_machine

HEADING = re.compile(r"^## (.+?) \{ #([\w-]+) \}$", re.MULTILINE)
LISTED = re.compile(r": errors/(\w+)\.md$", re.MULTILINE)
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
SILENT = "no error"
SPEAKERS = {"compiler": "the compiler", "interpreter": "the interpreter"}


class Entry(NamedTuple):
    """One section of a page of the index."""

    page: str
    title: str
    anchor: str

    @property
    def program(self) -> str:
        return self.anchor.replace("-", "_")

    @property
    def said(self) -> dict[str, dict[str, list[str]]]:
        """What each version said to the entry's program, by the compiler and by the interpreter; nothing for one without."""
        path = records.record_path("cpu", "messages", self.program)
        return records.read(path)["said"] if path.exists() else {}


@cache
def on_gpu() -> list[str]:
    """The programs whose message only a GPU gives."""
    return [path.stem for path in sorted((ROOT / "snippets" / "errors").glob("*.py")) if programs.needs_of(f"errors/{path.stem}")]


def heard_on_gpu(name: str) -> tuple[str, str, str]:
    """Which GPU said what to such a program, with which Triton: all that it printed before its mend's result. Or nothing."""
    path = records.record_path(primary_machine(), "program", f"errors/{name}")
    if name not in on_gpu() or not path.exists():
        return "", "", ""
    record = records.read(path)
    output = record["output"]
    return record["environment"]["gpu"], record["environment"]["triton"], "\n".join(output[: output.index("True")])


def gpu_fragment(name: str) -> str:
    gpu, triton, text = heard_on_gpu(name)
    if not text:
        return "*Only a GPU gives this message, and none has been asked yet: these words are not from a record.*\n"
    cause = usual_cause(text, name)
    usually = f"\n\n*Usually:* {cause}" if cause else ""
    return f"An {gpu} with Triton {triton}:\n\n```{{.text .said}}\n{text}\n```{usually}\n"


def listed_pages(listed: re.Pattern[str]) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Of each page of errors that the navigation lists so: its file, its title, and title and anchor of each section."""
    for page in listed.findall((ROOT / "mkdocs.yml").read_text(encoding="utf-8")):
        text = (ROOT / "docs" / "errors" / f"{page}.md").read_text(encoding="utf-8")
        title = TITLE.search(text)
        yield page, title[1] if title else page, HEADING.findall(text)


def entries() -> dict[str, list[Entry]]:
    """The entries of every page, by the page's title, in the order of the navigation."""
    return {title: [Entry(page, *each) for each in here] for page, title, here in listed_pages(LISTED) if here}


@cache
def meanings() -> list[tuple[str, str, str, str]]:
    """What the pages and the labs' checker know: the message, the line, the cause, and the entry here that has more of it."""
    found: list[tuple[str, str, str, str]] = []
    for name in ("pytorch_mistakes", "error_explanations"):
        tree = ast.parse((ROOT / "kernels" / "labs" / "diagnose" / f"{name}.py").read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.Assign):
                found += ast.literal_eval(node.value)
    return found


def usual_cause(message: str, name: str) -> str:
    """As kernels/labs/diagnose/errors.py has it, which needs Triton; but what leads to the program's own entry goes first."""
    own = f"/#{name.replace('_', '-')}"
    for says, line, cause, _ in sorted(meanings(), key=lambda row: not row[3].endswith(own)):
        match = re.search(says, message)
        if match and re.search(line, mistake(name)):
            return match.expand(cause)
    return ""


def mistake(name: str) -> str:
    """The line of a program that is marked as the mistake."""
    text = (ROOT / "snippets" / "errors" / f"{name}.py").read_text(encoding="utf-8")
    return next((line.split("  #")[0].strip() for line in text.splitlines() if line.endswith("# the mistake")), "")


def span(versions: list[str], every: list[str]) -> str:
    """Versions in words: "3.6 to 3.9", "3.9", "3.6 and 3.8"."""
    short = [version.rpartition(".")[0] for version in versions]
    at = [every.index(version) for version in versions]
    if len(at) > 2 and at == list(range(at[0], at[-1] + 1)):
        return f"{short[0]} to {short[-1]}"
    return " and ".join(short) if len(short) < 3 else f"{', '.join(short[:-1])} and {short[-1]}"


def fragment(record: dict[str, Any]) -> str:
    """Each message once, under the versions that give it."""
    parts = []
    for way, speaker in SPEAKERS.items():
        said: dict[tuple[str, ...], list[str]] = {}
        every = list(record["said"][way])
        for version, texts in record["said"][way].items():
            said.setdefault(tuple(texts), []).append(version)
        for texts, versions in said.items():
            who = f"{speaker[0].upper()}{speaker[1:]} of Triton {span(versions, every)}"
            if not is_loud(list(texts)):
                parts.append(f"{who} says nothing." if texts else f"{who} was not asked.")
            else:
                parts.append(f"{who}:\n\n```{{.text .said}}\n" + "\n\n".join(texts) + "\n```")
    words = " ".join(text for texts in record["said"].values() for said in texts.values() for text in said)
    if cause := usual_cause(words, record["name"]):
        parts.append(f"*Usually:* {cause}")
    return "\n\n".join(parts) + "\n"


def inline_html(markdown: str) -> str:
    return re.sub(r"(`+) ?(.+?) ?(?<!`)\1(?!`)", r"<code>\2</code>", html.escape(markdown, quote=False))


def index() -> str:
    """Every entry, by page, with who says something about it."""
    parts = []
    for title, here in entries().items():
        lines = [
            f'<li><a href="{entry.page}/#{entry.anchor}">{inline_html(entry.title)}</a> <small>{speakers(entry)}</small></li>'
            for entry in here
        ]
        parts.append(f'<h3><a href="{here[0].page}/">{inline_html(title)}</a></h3><ul>{"".join(lines)}</ul>')
    return f'<div class="bw-errors" data-search-exclude="">{"".join(parts)}</div>\n'


def speakers(entry: Entry) -> str:
    """Who says something, in a few words; nothing for an entry without a program that asks."""
    told = [f"a GPU with Triton {heard_on_gpu(entry.program)[1]}"] if heard_on_gpu(entry.program)[2] else []
    for way, said in entry.said.items():
        loud = [version for version in said if is_loud(said[version])]
        if loud:
            told.append(way if loud == list(said) else f"{way} of {span(loud, list(said))}")
    return ", ".join(told)


def is_loud(texts: list[str]) -> bool:
    return bool(set(texts) - {SILENT})


def counts() -> dict[str, int]:
    """How good the messages are, counted over the programs of the index: for the sentences that judge them."""
    found = dict.fromkeys(("programs", "compiler", "interpreter", "caret", "line", "changed"), 0)
    for said in (entry.said for here in entries().values() for entry in here if entry.said):
        oldest, *_, newest = said["compiler"]
        now, before = (said["compiler"][version] for version in (newest, oldest))
        found["programs"] += 1
        found["compiler"] += is_loud(now)
        found["interpreter"] += is_loud(said["interpreter"][newest])
        found["caret"] += any(re.search(r"^ *\^$", text, re.MULTILINE) for text in now)
        found["line"] += any(re.search(r"# the mistake\n *\^", text) for text in now)
        found["changed"] += [last_line(text) for text in now] != [last_line(text) for text in before]
    return found


def last_line(text: str) -> str:
    return text.splitlines()[-1] if text else ""
