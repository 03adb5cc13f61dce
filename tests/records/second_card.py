"""A second card for tests, made up: the primary's own records, slower and under another name, in documents of their own."""

import json
import shutil
from pathlib import Path
from typing import Any

from scripts import charts
from scripts.provenance import records, sources
from scripts.provenance.environment import primary_machine
from scripts.provenance.follow import Code

GPU, MACHINE = "Test GPU 2", "test-gpu-2"
BOTH = ("softmax_rows", "add_bandwidth")  # charts of which the second card has records
ALONE = "memory_trips"  # and one of the primary's alone
SLOWER = 10


def plant(docs: Path, code: Code | None = None) -> Path:
    """Three charts of the primary and two of the second card, with the records that these are drawn from."""
    own = docs / "charts" / primary_machine()
    own.mkdir(parents=True)
    for name in (*BOTH, ALONE):
        for path in (charts.DRAWN / primary_machine()).glob(f"{name}.*"):
            shutil.copy(path, own)
    for name in BOTH:
        for source in charts.CHARTS[name][1]:
            record = slower(records.read(records.record_path(primary_machine(), "program", source)))
            record["hash"] = sources.digest_of("program", source, code)
            records.write(records.record_path(MACHINE, "program", source, docs / "baked"), record)
    for path, text in charts.files(MACHINE, docs / "baked", docs / "charts").items():
        records.write_text(path, text)
    return docs


def slower(record: dict[str, Any]) -> dict[str, Any]:
    record = json.loads(json.dumps(record))
    record["environment"] |= {"gpu": GPU, "machine": MACHINE}
    for row in (*record["measurements"], *record["ceilings"].values()):
        row["ms"] = [SLOWER * ms for ms in row["ms"]]
    return record
