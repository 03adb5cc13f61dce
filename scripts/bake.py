"""Run everything the site shows, and keep what came out under docs/baked/<machine>/.

    python scripts/bake.py                  on a CUDA machine: gate, programs, benchmarks, counters, compiler figures, labs
    python scripts/bake.py --several        on a machine with several GPUs: the programs that run on all of them together
    python scripts/bake.py --cpu            anywhere: the programs under the interpreter, traces, compiler figures, labs
    python scripts/bake.py --only PATTERN   only the work whose name matches, such as 'fused_softmax/*'
    python scripts/bake.py --stale          only what has no record yet, or one older than its code
    python scripts/bake.py --set core       on any card: one benchmark an operation, and their records in one archive
    python scripts/bake.py --plan           run nothing: say what would run, and how long it should take
    python scripts/bake.py --pack FILE      put this machine's records into one archive (after baking)
    python scripts/bake.py --check FILE     say whether an archive of the core set, or of more, can be taken, and what is absent
    python scripts/bake.py --unpack FILE    check an archive and lay its records into this checkout

On a CUDA machine it needs torch, triton and pytest. A bake that dies is resumed by the same command.
"""

import argparse
import fnmatch
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts.baking import archive, core, gate
from scripts.baking.progress import Progress, span
from scripts.baking.runs import CannotRun, Runs, variables
from scripts.baking.work import Work, everything, is_current, measures, seconds
from scripts.provenance import records, sources
from scripts.provenance.environment import environment, machine_name, primary_machine, several_machine
from scripts.provenance.follow import Code, CodeError

# So many pieces of work that measure nothing share a GPU, and so many files of tests; each of these by so many workers.
BESIDE, TESTS, WORKERS = 8, 4, 6
GIB_A_WORKER = 3  # of GPU memory: CUDA itself, and the tensors of a test


class Bake:
    """One bake of one machine. The journal remembers what is done until all of it is."""

    def __init__(self, cpu: bool, work: list[Work], code: Code, several: bool = False):
        self.cpu, self.work, self.code, self.several = cpu, work, code, several
        self.gpus = [""] if cpu else gpus()
        self.together = len(self.gpus) if several else 1
        self.machine = machine_name(cpu, self.together)
        if several:  # then all of them are one place to work
            self.gpus = [",".join(self.gpus)]
        self.journal = records.ROOT / "build" / f"bake-{self.machine}.json"
        self.done: dict[str, str] = json.loads(self.journal.read_text()) if self.journal.exists() else {}
        self.failures: list[str] = []
        self.absent: dict[str, str] = {}  # what this card is none for, each with the reason
        self.writing = threading.Lock()
        self.workers = 1 if cpu else max(1, min(WORKERS, int(room()) // GIB_A_WORKER // TESTS))
        self.runs = Runs(cpu, work)

    def run(self) -> int:
        for left_behind in (records.BAKED / self.machine).rglob(".*.part"):
            left_behind.unlink()
        red = self.gate()
        alone = [item for item in self.work if not self.cpu and (self.several or measures(item, self.code))]
        beside = [item for item in self.work if item not in alone]
        for title, items, each in (("beside each other", beside, BESIDE), ("one at a time", alone, 1)):
            expected = {item.name: seconds(item.kind, item.short, self.machine) for item in items}
            with Progress(title, expected, self.lanes(each)) as progress:
                # The longest first, so that no card waits for another at the end.
                ordered = sorted(items, key=lambda item: -expected[item.name])
                self.share(ordered, each, lambda item, gpu: self.step(item, gpu, red, progress))
        if self.absent:
            print(f"{len(self.absent)} of {len(self.work)} are absent:", *told(self.absent), sep="\n  ")
        if self.failures:
            failed = f"{len(self.failures)} of {len(self.work)} failed; their records are as they were:"
            print(failed, *self.failures, sep="\n  ")
            return 1
        self.journal.unlink(missing_ok=True)
        print(f"done: {len(self.work) - len(self.absent)} records of {self.machine}")
        return 0

    def lanes(self, each: int) -> int:
        return len(self.gpus) * min(each, os.cpu_count() or 1)

    def share(self, items: list[Any], each: int, action: Callable[[Any, str], Any]) -> list[Any]:
        """Do something with every item, `each` at a time on each GPU; the action is told which GPU that is."""
        free: queue.SimpleQueue[str] = queue.SimpleQueue()
        for gpu in self.gpus * each:
            free.put(gpu)

        def one(item: Any) -> Any:
            gpu = free.get()
            try:
                return action(item, gpu)
            finally:
                free.put(gpu)

        with ThreadPoolExecutor(self.lanes(each)) as pool:
            return list(pool.map(one, items))

    def step(self, item: Work, gpu: str, red: dict[str, list[str]], progress: Progress) -> None:
        progress.start(item.name)
        try:
            outcome = self.renew(item, gpu, red.get(item.name, []))
        except CannotRun as reason:
            outcome = f"absent: {reason}"
            self.absent[item.name] = str(reason)
        except Exception as error:  # whatever goes wrong with one, the others have their turn
            outcome = f"failed: {error}"
            self.failures.append(f"{item.name}: {error}")
        progress.finish(item.name, outcome)

    def renew(self, item: Work, gpu: str, red: list[str]) -> str:
        """Make one record, unless it is done already, and say how that went."""
        now = sources.digest_of(item.kind, item.short)
        if red:
            raise records.RecordError(f"no number is written while {', '.join(red)} {'is' if len(red) == 1 else 'are'} red")
        path = records.record_path(self.machine, item.kind, item.short)
        if self.done.get(item.name) == now and path.exists():
            return "done before the interruption"
        began = time.monotonic()
        contents = self.runs.make(item, gpu)
        head = {"schema": records.SCHEMA, "kind": item.kind, "name": item.short, "hash": now}
        records.write(path, head | {"environment": environment(self.cpu, self.together)} | contents)
        with self.writing:
            self.done[item.name] = now
            records.write_text(self.journal, json.dumps(self.done))
        return f"{time.monotonic() - began:.1f} s"

    def gate(self) -> dict[str, list[str]]:
        """Run the tests of what is baked, but for those that passed here already; return the red ones of each piece of work."""
        covering, here = gate.files(self.work, self.code), environment(self.cpu, self.together)
        due = [stem for stem in covering if not gate.is_passed(stem, here, self.code)]
        if fresh := len(covering) - len(due):
            print(f"gate: {fresh} of {len(covering)} files of tests passed here before, of today's code", flush=True)
        expected = {stem: gate.expected(stem, self.machine) for stem in due}
        red: dict[str, list[str]] = {}
        with Progress("gate", expected, self.lanes(TESTS)) as progress:

            def one(stem: str, gpu: str, workers: int = self.workers) -> gate.Ran:
                progress.start(stem)
                ran = gate.test(stem, lambda: variables(self.cpu, gpu), workers, time.monotonic)
                if not gate.is_crowded(ran) or workers == 1:
                    progress.finish(stem, f"{ran.passed} passed, {ran.seconds:.0f} s" if not ran.red else f"red\n{ran.red}")
                return ran

            ran = self.share(sorted(due, key=lambda stem: -expected[stem]), TESTS, one)
            for number, result in enumerate(ran):
                if not self.cpu and gate.is_crowded(result):  # once more, with the GPU's memory to itself
                    ran[number] = self.share([result.file], 1, lambda stem, gpu: one(stem, gpu, 1))[0]
        for result in ran:
            if result.red:
                for item in covering[result.file]:
                    red.setdefault(item.name, []).append(result.file)
            else:
                gate.keep(result, here, self.code)
        return red


def gpus() -> list[str]:
    """The GPUs of this machine that are of the kind of its first, as CUDA_VISIBLE_DEVICES spells them."""
    import torch

    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    spelled = visible.split(",") if visible else [str(number) for number in range(len(names))]
    return [gpu for gpu, name in zip(spelled, names, strict=False) if name == names[0]]


def room() -> float:
    """The GPU's memory in gibibytes."""
    import torch

    return torch.cuda.get_device_properties(0).total_memory / 2**30


def told(absent: dict[str, str]) -> list[str]:
    return [f"{name}: {reason}" for name, reason in sorted(absent.items())]


def chosen(cpu: bool, several: bool, pattern: str, named: str | None = None) -> list[Work]:
    found = [item for item in everything(cpu, several) if fnmatch.fnmatch(item.name, pattern)]
    return core.chosen(found) if named else found


def send(machine: str, absent: dict[str, str]) -> None:
    """Pack the core set of a machine, and say in three lines what to do with the file."""
    path = Path(f"{machine}-{core.NAME}.tgz")
    print(f"packed {archive.pack_core(machine, path, absent)} records into {path}. What to do with it:")
    print(f"  1. See that it can be taken: python scripts/bake.py --check {path}")
    print(f"  2. Put this one file, as it is, into a merge request or an issue that is called 'Records of {machine}'.")
    print("  3. Say there what else ran on the machine, if anything did; docs/baked/README.md says how the file is looked at.")


def plan(work: list[Work], machine: str, cards: int, here: dict[str, Any] | None, code: Code) -> None:
    """Say what a bake would run, and how long the last records of it took; `here` tells this machine, if it could be the one."""
    covering = gate.files(work, code)
    due = [stem for stem in covering if here is None or not gate.is_passed(stem, here, code)]
    gating = sum(gate.expected(stem, machine) for stem in due) / (cards * TESTS)
    print(f"gate: {len(due)} of {len(covering)} files of tests, about {span(gating)}", *due, sep="\n  ")
    total, chapters = gating, dict[str, list[float]]()
    for item in work:
        lanes = cards * (1 if machine != "cpu" and measures(item, code) else min(BESIDE, os.cpu_count() or 1))
        chapters.setdefault(item.name.split("/")[0], []).append(seconds(item.kind, item.short, machine) / lanes)
    for chapter, spent in chapters.items():
        print(f"  {chapter:20} {len(spent):4} records, about {span(sum(spent))}")
        total += sum(spent)
    print(f"in all {len(work)} {'record' if len(work) == 1 else 'records'}, about {span(total)} on {cards} x {machine}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="bake what needs no GPU, under Triton's interpreter")
    parser.add_argument("--several", action="store_true", help="bake only what runs on all GPUs of this machine together")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="do only the work whose name matches")
    parser.add_argument("--stale", action="store_true", help="do only what has no record, or one older than its code")
    parser.add_argument("--set", choices=[core.NAME], help="bake one benchmark an operation, on any card, into one archive")
    parser.add_argument("--plan", action="store_true", help="bake nothing: say what would run, and about how long it would take")
    parser.add_argument("--cards", type=int, default=1, metavar="N", help="with --plan: as if N GPUs shared the work")
    parser.add_argument("--pack", type=Path, metavar="FILE", help="afterwards, put this machine's records into FILE")
    parser.add_argument("--check", type=Path, metavar="FILE", help="bake nothing: say whether FILE can be taken")
    parser.add_argument("--unpack", type=Path, metavar="FILE", help="bake nothing: check FILE and lay its records in")
    arguments = parser.parse_args()
    if arguments.set and (arguments.cpu or arguments.only != "*" or arguments.pack):
        parser.error(f"--set {arguments.set} is a whole of its own, of a GPU: leave --cpu, --only and --pack out")
    try:
        if arguments.check:
            print(*archive.check(arguments.check), sep="\n")
            return 0
        if arguments.unpack:
            print(f"laid in {len(archive.unpack(arguments.unpack))} records")
            return 0
        code, work = Code(), chosen(arguments.cpu, arguments.several, arguments.only, arguments.set)
        if not work:
            hint = "; --several does" if not arguments.several and chosen(False, True, arguments.only) else ""
            print(f"nothing that this bake does is called {arguments.only}{hint}", file=sys.stderr)
            return 2
        try:
            import torch
        except ModuleNotFoundError:
            torch = None  # type: ignore[assignment]
        if torch is None and not arguments.plan:
            print(f"{sys.executable} has no torch. A bake needs torch, triton, numpy and pytest.", file=sys.stderr)
            return 2
        has_gpu = torch is not None and torch.cuda.is_available()
        if not (arguments.cpu or has_gpu or arguments.plan):
            print(
                "No CUDA device is visible, so no GPU can be measured here. `python scripts/bake.py --cpu` bakes the rest.",
                file=sys.stderr,
            )
            return 2
        cards = len(gpus()) if has_gpu and not arguments.cpu else 1
        if arguments.several and not arguments.plan and cards < 2:
            print("This machine has one GPU, and what --several bakes runs on two at least.", file=sys.stderr)
            return 2
        if arguments.several:
            machine = machine_name(False, cards) if cards > 1 else several_machine()
        else:
            machine = "cpu" if arguments.cpu else machine_name(False) if has_gpu else primary_machine()
        absent = core.no_room(room()) if arguments.set and has_gpu else {}
        if absent:
            print("absent, because this card has no room for them:", *told(absent), sep="\n  ", flush=True)
            work = [item for item in work if item.short not in absent]
        if arguments.stale:
            work = [item for item in work if not is_current(item, machine, code)]
        if arguments.plan:
            is_here = has_gpu or arguments.cpu and torch is not None
            here = environment(arguments.cpu, cards if arguments.several else 1) if is_here else None
            plan(work, machine, max(arguments.cards, 1), here, code)
            return 0
        bake = Bake(arguments.cpu, work, code, arguments.several)
        status = bake.run()
        if left := [] if arguments.cpu or arguments.several or arguments.set else chosen(False, True, arguments.only):
            print(f"left out, and baked by --several: {', '.join(item.name for item in left)}")
        if arguments.set and status == 0:
            send(machine, absent | bake.absent)
        if arguments.pack:
            print(f"packed {archive.pack(machine, arguments.pack)} records into {arguments.pack.name}")
        return status
    except (records.RecordError, CodeError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
