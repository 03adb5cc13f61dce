"""Records: what was run, on which machine, by which code, and what came out. The standard library alone.

A record is one JSON file under docs/baked/<machine>/. Its kind and its name say which code it came from (`entries`), and it
carries the digest of that code, so that any machine can tell whether a published result is older than the code beside it.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts import ROOT

BAKED = ROOT / "docs" / "baked"
SCHEMA = 1
KINDS = (
    "program", "compiled", "layout", "trace", "lab", "matrix", "mutants", "runtime", "gate", "messages", "gallery", "lens",
    "versions", "printed", "finished",
)  # fmt: skip
# Of the others, a kind's name is its folder's.
FOLDERS = {"program": "", "layout": "layouts", "trace": "traces", "lab": "labs", "gallery": "noticed", "versions": "by_version"}
FIELDS = {"schema": int, "kind": str, "name": str, "hash": str, "environment": dict}


class RecordError(Exception):
    """A record that cannot be read or written, with the file and the reason in words."""


def read(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise RecordError(f"{path}: there is no such record") from None
    except OSError as error:
        raise RecordError(f"{path}: not a readable record ({error})") from None
    return parse(data, str(path))


def parse(data: bytes, where: str) -> dict[str, Any]:
    """The record that a file holds; `where` names the file in messages."""
    try:
        record = json.loads(data.decode("utf-8"))
    except ValueError as error:
        raise RecordError(f"{where}: not a readable record ({error})") from None
    known = record if isinstance(record, dict) else {}
    lacking = [field for field, kind in FIELDS.items() if not isinstance(known.get(field), kind)]
    if lacking:
        raise RecordError(f"{where}: not a record, it lacks {', '.join(lacking)}")
    if record["schema"] != SCHEMA or record["kind"] not in KINDS:
        raise RecordError(f"{where}: schema {record['schema']}, kind {record['kind']!r} is none that this checkout knows")
    return record


def write(path: Path, record: dict[str, Any]) -> None:
    """Write a record whole or not at all."""
    write_text(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: beside its place first, then moved over it."""
    temporary, data = None, text.encode("utf-8")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".part", delete=False) as file:
            temporary = file.name
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
        raise RecordError(f"{path}: could not be written ({error.strerror}); what stood there before is untouched") from None


def all_records(machine: str, baked: Path = BAKED, gates: bool = False) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every record of one machine, in the order of their paths; where asked for, also those of passed gates, which no page shows,
    and those of the compiler lens, which are long."""
    for path in sorted((baked / machine).rglob("*.json")):
        if gates or path.relative_to(baked / machine).parts[0] not in ("gate", "lens"):
            yield path, read(path)


def record_path(machine: str, kind: str, name: str, baked: Path = BAKED) -> Path:
    return baked / machine / FOLDERS.get(kind, kind) / f"{name}.json"


