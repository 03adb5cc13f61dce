"""Make the records of the compiler lens: what became of every kernel, each line beside the line of the source it comes from.

    python scripts/lens.py                  every kernel of the library and of the programs
    python scripts/lens.py --stale          only those that have no record of today's code
    python scripts/lens.py softmax_kernel   these kernels

Compiles for sm_90, sm_80, sm_100 and gfx942, and needs none of them. For sm_90 a record also holds the machine code and what
each pass changed. A few kernels are compiled by other versions of Triton too, in the environments that `make test-matrix` makes.
"""

import argparse
import base64
import gzip
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts.provenance import records, sources
from scripts.provenance.environment import environment
from scripts.provenance.follow import Code
from scripts.reading.specimens import Shown, kernels, shown, specimen
from scripts.reading.text import Made, written

Job = tuple[str, list[Shown]]


def is_current(kernel: str, code: Code) -> bool:
    """Whether there is a record of today's code, which shows today's launches."""
    try:
        record = records.read(records.record_path("cpu", "lens", kernel))
    except records.RecordError:
        return False
    return sources.is_fresh(record, code) and is_of_these_launches(record)


def is_of_these_launches(record: dict[str, Any]) -> bool:
    name = record["name"]
    wanted = [(one.label, one.target, specimen(name, one.label).launch) for one in shown(name)]
    return [(entry["label"], entry["target"], entry["launch"]) for entry in record["launches"]] == wanted


def ask(python: str, jobs: list[Job]) -> dict[str, dict[str, Any]]:
    """Records' contents by kernel, made in a process of its own where the interpreter is off and nothing is cached."""
    with tempfile.TemporaryDirectory() as cache:
        variables = {key: value for key, value in os.environ.items() if key not in ("TRITON_INTERPRET", "MLIR_ENABLE_DUMP")}
        variables |= {"TRITON_DEFAULT_FP_FUSION": "1", "TRITON_CACHE_DIR": cache}
        command = [python, str(Path(__file__).resolve()), "--worker"]
        ran = subprocess.run(command, input=json.dumps(jobs), env=variables, cwd=records.ROOT, capture_output=True, text=True)
    if ran.returncode != 0:
        raise records.RecordError(f"the compiler's process ended with status {ran.returncode}\n{ran.stderr.strip()[-3000:]}")
    return json.loads(ran.stdout.splitlines()[-1])


def work() -> None:
    from scripts.reading.made import made

    found = {}
    for kernel, asked in json.load(sys.stdin):
        try:
            found[kernel] = made([(specimen(kernel, one.label), one.target) for one in (Shown(*each) for each in asked)])
        except Exception as error:
            raise RuntimeError(f"{kernel}: {error}") from error
    print(json.dumps(found))


def contents(names: list[str], jobs: int) -> dict[str, dict[str, Any]]:
    """What the records of these kernels hold beside their heads."""
    from scripts import matrix

    here: list[Job] = [(name, [one for one in shown(name) if not one.version]) for name in names]
    shares = [(sys.executable, here[start::jobs]) for start in range(jobs) if here[start::jobs]]
    versions = {one.version for name in names for one in shown(name) if one.version}
    for version in sorted(versions):
        asked = [(name, [one for one in shown(name) if one.version == version]) for name in names]
        shares.append((matrix.python_of(version), [job for job in asked if job[1]]))
    with ThreadPoolExecutor(jobs) as pool:
        parts = list(pool.map(lambda share: ask(*share), shares))
    found: dict[str, dict[str, Any]] = {}
    for part in parts:
        for name, made in part.items():
            if name in found:
                found[name]["launches"] += made["launches"]
            else:
                found[name] = made
    return found


def kept(name: str, made: Made) -> dict[str, Any]:
    """What a record holds beside its head: launches with their figures, and all of it as the published text, compressed."""
    told = ("label", "target", "triton", "launch", "figures", "shared", "refused")
    launches = [{key: one[key] for key in told if key in one} for one in made["launches"]]
    text = gzip.compress(written(name, made).encode(), 9, mtime=0)
    # Without slashes, so that no text looks like a path.
    return {"launches": launches, "text": base64.urlsafe_b64encode(text).decode()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="kernels; all if none is given")
    parser.add_argument("--stale", action="store_true", help="only what has no record of today's code")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1), help="how many compile at the same time")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work()
        return 0
    asked, code = arguments.names or kernels(), Code()
    if unknown := set(asked) - set(kernels()):
        print(f"no kernel that is compiled is called {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    if arguments.stale:
        asked = [name for name in asked if not is_current(name, code)]
    found = contents(asked, arguments.jobs) if asked else {}
    here = environment(cpu=True)
    for name in asked:
        head = {"schema": records.SCHEMA, "kind": "lens", "name": name, "hash": sources.digest_of("lens", name, code)}
        records.write(records.record_path("cpu", "lens", name), head | {"environment": here} | kept(name, found[name]))
    print(f"{len(asked)} records of the compiler lens")
    return 0


if __name__ == "__main__":
    sys.exit(main())
