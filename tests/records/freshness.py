"""What must be baked, and how the records that are there differ from it. Each problem names the command that mends it."""

import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from scripts import ROOT, errors, matrix, mutate, versions
from scripts.baking.work import everything
from scripts.provenance import records, sources
from scripts.provenance.environment import primary_machine, several_machine
from scripts.provenance.follow import Code
from scripts.provenance.programs import gallery_names

# The kind and the name of a record, by its place in the folder of its machine.
Wanted = dict[str, tuple[str, str]]


@cache  # which kernels have changes to try takes long to find
def wanted(machine: str) -> Wanted:
    """Every record that a machine should have."""
    several = machine == several_machine()
    work = {item.name: (item.kind, item.short) for item in everything(machine == "cpu", several)}
    if several:
        return work
    if machine != "cpu":
        return work
    work |= {f"noticed/{name}": ("gallery", name) for name in gallery_names()}
    work |= {f"matrix/{part}": ("matrix", part) for part in matrix.kept()}
    work |= {f"messages/{name}": ("messages", name) for name in errors.names()}
    work |= {f"by_version/{kernel}": ("versions", kernel) for kernel in versions.launches()}
    work |= {f"printed/{name}": ("printed", name) for name in versions.programs()}
    work |= {"runtime/programs": ("runtime", "programs")}
    return work | {f"mutants/{module}": ("mutants", module) for module in (*mutate.kept(), *mutate.unscored())}


def command(machine: str, name: str) -> str:
    if machine == several_machine():
        return f"python scripts/bake.py --several --only '{name}' on a machine with several GPUs ({machine})"
    folder, _, short = name.partition("/")
    if machine != "cpu":
        lent = " --triton FOLDER" if folder == "noticed" else ""
        return f"python scripts/bake.py --only '{name}'{lent} on a CUDA machine ({machine})"
    scripts = {"matrix": "matrix", "messages": "errors", "by_version": "versions", "printed": "versions"}
    scripts |= {"noticed": "gallery", "mutants": "mutate"}
    if folder in scripts:
        return f"python scripts/{scripts[folder]}.py {short}"
    if folder == "runtime":
        return "make runtime, and python runtime/measure.py --stale"
    return f"python scripts/bake.py --cpu --only '{name}'"


@cache
def pending() -> dict[str, str]:
    """What has no record of today's code, and why, by name or pattern; what has its records again must go from the list."""
    lines = (ROOT / "tests/records/pending.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(" | ", 1) for line in lines if not line.startswith("#"))


def awaited(op: str) -> bool:
    """Whether a program that has still to be run says that it measures this operation."""
    programs = [ROOT / f"snippets/{name.partition('/')[2]}.py" for name in pending()]
    return any(f'"{op}"' in program.read_text(encoding="utf-8") for program in programs if program.exists())


def waiting(name: str) -> set[str]:
    """The lines of that list which a record's name belongs to."""
    return {line for line in pending() if fnmatch.fnmatch(name, line)}


def problems(machine: str, work: Wanted, root: Path = ROOT, baked: Path = records.BAKED) -> list[str]:
    """Records that are missing, stale, left over or not where they say they belong."""
    found, code = [], Code(root)
    for name in work:
        path = baked / machine / f"{name}.json"
        if not path.exists():
            found.append(f"{machine}/{name}: there is no record; make it with {command(machine, name)}")
            continue
        record = records.read(path)
        if not sources.is_fresh(record, code):
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


def stale_elsewhere(root: Path = ROOT, baked: Path = records.BAKED) -> list[str]:
    """One line for each GPU, other than the primary one, whose records have grown stale."""
    found, code = [], Code(root)
    for folder in sorted(path for path in baked.iterdir() if path.is_dir()):
        if folder.name not in (primary_machine(), several_machine(), "cpu"):
            every: list[dict[str, Any]] = [record for _, record in records.all_records(folder.name, baked)]
            stale = [record for record in every if not sources.is_fresh(record, code)]
            if stale:
                date = max(record["environment"]["measured_at"] for record in stale)[:10]
                counts = f"{len(stale)} of {len(every)} records are older than their code"
                found.append(f"{folder.name}: {counts}, the last of {date}; renew them with python scripts/bake.py on that GPU")
    return found
