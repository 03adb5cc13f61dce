"""What must be baked, and how the records that are there differ from it. Each problem names the command that mends it."""

from pathlib import Path
from typing import Any

from scripts import matrix, mutate, prepare
from scripts.bake import Bake
from scripts.provenance import records

Wanted = dict[str, list[str]]


class Listing(Bake):
    """A bake that only says what it would do, on any machine."""

    def __init__(self, cpu: bool):
        self.cpu = cpu


def wanted(machine: str) -> Wanted:
    """The name of every record that a machine should have, with the files of code it comes from."""
    work = {name: code for name, code, _ in Listing(machine == "cpu").work()}
    if machine != "cpu":
        return work
    work |= {f"matrix/{part}": matrix.code(part) for part in matrix.kept()}
    return work | {f"mutants/{module}": mutate.code(module) for module in mutate.kept()}


def command(machine: str, name: str) -> str:
    if name.startswith("matrix/"):
        return f"python scripts/matrix.py {name.partition('/')[2]}"
    if name.startswith("mutants/"):
        return f"python scripts/mutate.py {name.partition('/')[2]}"
    if machine == "cpu":
        return f"python scripts/bake.py --cpu --only '{name}'"
    return f"python scripts/bake.py --only '{name}' on a CUDA machine ({machine})"


def problems(machine: str, work: Wanted, root: Path = records.ROOT, baked: Path = records.BAKED) -> list[str]:
    """Records that are missing, stale, left over or not where they say they belong."""
    found = []
    for name, code in work.items():
        path = baked / machine / f"{name}.json"
        if not path.exists():
            found.append(f"{machine}/{name}: there is no record; make it with {command(machine, name)}")
            continue
        record = records.read(path)
        if record["code"] != code or not records.is_fresh(record, root):
            found.append(f"{machine}/{name}: older than its code; renew it with {command(machine, name)}")
        if (
            record["environment"]["machine"] != machine
            or records.record_path(machine, record["kind"], record["name"], baked) != path
        ):
            found.append(
                f"{machine}/{name}: says that it is {record['kind']} {record['name']} of {record['environment']['machine']}"
            )
    there = [path.relative_to(baked / machine).with_suffix("").as_posix() for path, _ in records.all_records(machine, baked)]
    return found + [f"{machine}/{name}: nothing makes this record any more; delete it" for name in there if name not in work]


def stale_elsewhere(root: Path = records.ROOT, baked: Path = records.BAKED) -> list[str]:
    """One line for each GPU, other than the primary one, whose records have grown stale."""
    found = []
    for folder in sorted(path for path in baked.iterdir() if path.is_dir()):
        if folder.name not in (prepare.primary_machine(), "cpu"):
            every: list[dict[str, Any]] = [record for _, record in records.all_records(folder.name, baked)]
            stale = [record for record in every if not records.is_fresh(record, root)]
            if stale:
                date = max(record["environment"]["measured_at"] for record in stale)[:10]
                counts = f"{len(stale)} of {len(every)} records are older than their code"
                found.append(f"{folder.name}: {counts}, the last of {date}; renew them with python scripts/bake.py on that GPU")
    return found
