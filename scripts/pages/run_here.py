"""What lets a page run its programs: the built runtime laid into the site, and which programs it runs. Standard library alone.

`make runtime` builds it, and a site without it is whole: then its pages offer no Run.
"""

import html
import json
import os
import shutil
import statistics
from pathlib import Path
from typing import Any

from scripts import ROOT
from scripts.provenance import records

BUILT = ROOT / "build" / "run"
RECORD = records.record_path("cpu", "runtime", "programs")
LATER = ("editor.js", "license")  # files of these names wait until they are asked for
FEW = 4  # so many names of programs stand in a row of a table as they are


def read() -> dict[str, Any]:
    """The record: what the runtime was made of, and what came of each program in it."""
    return records.read(RECORD)


def measured() -> dict[str, dict[str, Any]]:
    """What came of each program that needs no GPU, in the runtime of the record."""
    return read()["programs"] if RECORD.exists() else {}


def programs() -> list[str]:
    """The programs that print in the page what they print elsewhere."""
    return sorted(name for name, found in measured().items() if found["same"])


def reasons() -> dict[str, str]:
    """The programs that print otherwise in the page, or not at all, and why."""
    path = ROOT / "runtime" / "exceptions.tsv"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return dict(line.split("\t", 1) for line in lines if line and not line.startswith("#"))


def first_run(sizes: dict[str, int]) -> int:
    """The bytes that the first run in a browser fetches, of files as they are served."""
    return sum(size for name, size in sizes.items() if not name.startswith(LATER))


def summary() -> str:
    """In a paragraph: what runs in a page, with what, and how long it takes; nothing before it was measured."""
    if not RECORD.exists():
        return ""
    record, found = read(), measured()
    versions, seconds = record["versions"], sorted(found[name]["seconds"] for name in programs())
    quick = sum(one < 1 for one in seconds)
    first = first_run(record["bytes"]) / 1e6
    editor = sum(size for name, size in record["bytes"].items() if name.startswith("editor.js")) / 1e6
    made_of = f"Triton {versions['triton']} as it is, on Pyodide {versions['pyodide']} and NumPy {versions['numpy']}"
    return (
        f"<p>Of the {len(found)} programs that need no GPU, {len(seconds)} print in a page what they print elsewhere: with "
        f"{made_of}, and with a stand-in for PyTorch. Half of them take at most {statistics.median(seconds):.2f} seconds of one "
        f"core, {quick} less than a second, and the longest {seconds[-1]:.0f}; measured in Node, "
        f"{record['environment']['measured_at'][:10]}. The first run fetches {first:.1f} MB and the first Edit {editor:.1f} MB "
        "more, and a browser keeps both.</p>\n"
    ) + waits(record)


def waits(record: dict[str, Any]) -> str:
    """How long a reader waits in each browser that the machine of the record had."""
    if not record.get("browsers"):
        return ""
    columns = {"cold": "first run", "warm": "again", "again": "after Stop, at once", "ready": "after Stop of a long run"}
    head = "".join(f"<th>{title}</th>" for title in ("browser", *columns.values()))
    rows = "".join(
        f"<tr><td>{name} {found['version']}</td>" + "".join(f"<td>{found[part]:.1f} s</td>" for part in columns) + "</tr>"
        for name, found in record["browsers"].items()
    )
    return (
        f"<p>From the press of a button to the end of a small program, on a machine of {record['cores']} cores that is its own "
        "server, the median of several visits:</p>\n"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>\n"
    )


def exceptions() -> str:
    """The table of the others: a row for each reason, and the programs that have it, folded where they are many."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in sorted(reasons().items()):
        by_reason.setdefault(reason, []).append(name)
    rows = "".join(f"<tr><td>{html.escape(reason)}</td><td>{listed(names)}</td></tr>" for reason, names in by_reason.items())
    return f"<table><thead><tr><th scope=col>why</th><th scope=col>programs</th></tr></thead><tbody>{rows}</tbody></table>\n"


def listed(names: list[str]) -> str:
    """Names of programs, behind their number where they are many."""
    told = html.escape(", ".join(names))
    return told if len(names) <= FEW else f'<details class="names"><summary>{len(names)} programs</summary> {told}</details>'


def built() -> Path | None:
    """The folder that was built last, if it is whole."""
    for manifest in sorted(BUILT.glob("*/manifest.json")):
        files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
        if all((manifest.parent / name).is_file() for name in files):
            return manifest.parent
    return None


def write(docs: Path) -> None:
    """The runtime's files as files of the site, and data/run.json, which says where they are."""
    told: dict[str, Any] = {"folder": None}
    folder = built()
    if folder:
        files = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"]
        fetched = first_run({name: file["bytes"] for name, file in files.items()})
        told = {"folder": f"run/{folder.name}", "bytes": fetched, "programs": programs()}
        lay(folder, docs / "run" / folder.name)
    for old in (docs / "run").glob("*"):
        if not folder or old.name != folder.name:
            shutil.rmtree(old)
    (docs / "data").mkdir(parents=True, exist_ok=True)
    (docs / "data" / "run.json").write_text(json.dumps(told) + "\n", encoding="utf-8")


def lay(folder: Path, target: Path) -> None:
    """Each file once more under another name, without a copy where the disk can do that."""
    target.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        (target / path.name).unlink(missing_ok=True)
        try:
            os.link(path, target / path.name)
        except OSError:
            shutil.copyfile(path, target / path.name)
