"""Run the tests of the finished capstone on this machine, in a folder as a reader unpacks it.

    python scripts/finished.py capstone               print a line a part; status 1 where a test fails
    ... capstone --keep FILE                          also write how many tests of each part passed and were skipped
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts import prepare
from scripts.pages import capstone


def parts_of(report: Path) -> dict[str, dict[str, int]]:
    """How many tests of each file had which outcome, by the files' names, from what pytest reports."""
    found: dict[str, Counter[str]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        outcome = next((part.tag for part in case if part.tag in ("skipped", "failure", "error")), "passed")
        found.setdefault(case.attrib["classname"].rpartition(".")[2], Counter())[outcome] += 1
    return {name: dict(counts) for name, counts in sorted(found.items())}


def run(folder: Path) -> tuple[dict[str, dict[str, int]], str]:
    """The finished version's tests, in a new folder: what each part came to, and the end of what pytest printed."""
    for name, text in capstone.tree(True, prepare.figures()).items():
        path = folder / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={report}"]
    done = subprocess.run(command, cwd=folder / "tree", capture_output=True, text=True)
    return parts_of(report) if report.exists() else {}, done.stdout[-3000:] or done.stderr[-3000:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=["capstone"])
    parser.add_argument("--keep", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        parts, said = run(Path(folder))
    for name, counts in parts.items():
        print(f"{re.sub('^test_', '', name)}: {', '.join(f'{count} {outcome}' for outcome, count in sorted(counts.items()))}")
    if not parts or any({"failure", "error"} & counts.keys() for counts in parts.values()):
        print(said, file=sys.stderr)
        return 1
    if arguments.keep:
        sums = {outcome: sum(counts.get(outcome, 0) for counts in parts.values()) for outcome in ("passed", "skipped")}
        arguments.keep.write_text(json.dumps({"figures": {"parts": parts, **sums}}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
