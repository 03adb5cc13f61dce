"""What lets a page run its programs: the built runtime laid into the site, and which programs it runs. Standard library alone.

`make runtime` builds it, and a site without it is whole: then its pages offer no Run.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from scripts import ROOT
from scripts.provenance import records

BUILT = ROOT / "build" / "run"
RECORD = records.record_path("cpu", "runtime", "programs")


def read() -> dict[str, Any]:
    """The record: what the runtime was made of, and what came of each program in it."""
    return records.read(RECORD)


def measured() -> dict[str, dict[str, Any]]:
    """What came of each program that needs no GPU, in the runtime of the record."""
    return read()["programs"] if RECORD.exists() else {}


def programs() -> list[str]:
    """The programs that print in the page what they print elsewhere."""
    return sorted(name for name, found in measured().items() if found["same"])


def built() -> Path | None:
    """The folder that was built last, if it is whole."""
    for manifest in sorted(BUILT.glob("*/manifest.json")):
        files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
        if all((manifest.parent / name).is_file() for name in files):
            return manifest.parent
    return None


def write(docs: Path) -> None:
    """The runtime's files as files of the site, and data/run.json, which says where they are."""
    folder, told = built(), {"folder": None}
    if folder:
        total = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["total"]
        told = {"folder": f"run/{folder.name}", "bytes": total, "programs": programs()}
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
