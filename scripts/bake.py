"""Run everything the site shows, and keep what came out under docs/baked/<machine>/.

    python scripts/bake.py                  on a CUDA machine: gate, programs, benchmarks, counters, compiler figures, labs
    python scripts/bake.py --several        on a machine with several GPUs: the programs that run on all of them together
    python scripts/bake.py --cpu            anywhere: the programs under the interpreter, traces, compiler figures, labs
    python scripts/bake.py --only PATTERN   only the work whose name matches, such as 'fused_softmax/*'
    python scripts/bake.py --stale          only what has no record yet, or one older than its code
    python scripts/bake.py --triton FOLDER  also what a Triton from 3.9 on has to say, which lies in FOLDER
    python scripts/bake.py --minutes 25     begin nothing that would not be done by then; the same command goes on later
    python scripts/bake.py --set core       on any card: one benchmark an operation, and their records in one archive
    python scripts/bake.py --plan           run nothing: say what would run, and how long it should take
    python scripts/bake.py --pack FILE      put this machine's records into one archive, with --stale only those made now
    python scripts/bake.py --check FILE     say whether an archive of the core set, or of more, can be taken, and what is absent
    python scripts/bake.py --unpack FILE    check an archive and lay its records into this checkout

On a CUDA machine it needs torch, triton and pytest. A bake that dies is resumed by the same command, and until then the archive
holds what it has made. What measures nothing shares the GPUs; each GPU goes on to what is replayed on it when it has nothing else
left. What times calls from Python comes last, one at a time on each GPU that has enough cores of the host to itself.
"""

import argparse
import contextlib
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
from scripts.baking.runs import CannotRun, Runs, triton_in, variables
from scripts.baking.work import Work, everything, hears_the_host, is_current, measures, seconds, timed
from scripts.provenance import records, sources
from scripts.provenance.environment import environment, machine_name, primary_machine, several_machine, visible
from scripts.provenance.follow import Code, CodeError

# So many pieces of work that measure nothing share a GPU, and so many files of tests; each of these by so many workers.
BESIDE, TESTS, WORKERS = 8, 4, 6
GIB_A_WORKER = 3  # of GPU memory: CUDA itself, and the tensors of a test
CORES_TO_ITSELF = 8  # so many of the host's has what times calls; where a GPU's share is smaller, one has the whole machine
PACKED_EVERY = 30.0  # seconds between two archives of a bake that goes on


class Bake:
    """One bake of one machine. The journal remembers what is done until all of it is."""

    def __init__(
        self,
        cpu: bool,
        work: list[Work],
        code: Code,
        several: bool = False,
        lent: str = "",
        seconds: float = float("inf"),
        pack: Path | None = None,
    ):
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
        self.later: list[str] = []  # what would not have been done in time
        self.writing = threading.Lock()
        self.workers = 1 if cpu else max(1, min(WORKERS, int(room()) // GIB_A_WORKER // TESTS))
        self.runs = Runs(cpu, work, self.machine, lent)
        self.end, self.pack, self.packed = time.monotonic() + seconds, pack, time.monotonic()
        self.made: dict[str, list[Path]] = {}  # the records of this bake, by the machine whose folder they are in

    def run(self) -> int:
        for left_behind in (records.BAKED / self.machine).rglob(".*.part"):
            left_behind.unlink()
        red = self.gate()
        measuring = [item for item in self.work if not self.cpu and (self.several or measures(item, self.code))]
        quiet = [item for item in measuring if not self.several and hears_the_host(item, self.code)]
        alone = [item for item in measuring if item not in quiet]
        beside = [item for item in self.work if item not in measuring]
        expected = {item.name: seconds(item.kind, item.short, self.machine) for item in beside}
        expected |= {item.name: seconds(item.kind, item.short, self.machine, "measured") for item in measuring}
        lanes = {item.name: self.lanes(BESIDE) for item in beside} | {item.name: len(self.gpus) for item in alone}
        shares = shares_of(cores(), self.gpus)
        lanes |= {item.name: len(shares) for item in quiet}
        with Progress("records", expected, lanes) as progress:
            # The longest first, so that no card waits for another at the end.
            for items in (beside, alone, quiet):
                items.sort(key=lambda item: -expected[item.name])
            self.share(beside, alone, BESIDE, lambda item, gpu: self.step(item, gpu, red, progress))
            apart(quiet, shares, lambda item, gpu: self.step(item, gpu, red, progress))
        self.keep_packed(now=True)
        if self.absent:
            print(f"{len(self.absent)} of {len(self.work)} are absent:", *told(self.absent), sep="\n  ")
        if self.later:
            print(f"{len(self.later)} of {len(self.work)} are left for the next time:", *sorted(self.later), sep="\n  ")
        if self.failures:
            failed = f"{len(self.failures)} of {len(self.work)} failed; their records are as they were:"
            print(failed, *self.failures, sep="\n  ")
        if self.failures or self.later:
            return 1
        self.journal.unlink(missing_ok=True)
        print(f"done: {len(self.work) - len(self.absent)} records of {self.machine}")
        return 0

    def lanes(self, each: int) -> int:
        """How many pieces of work that measure nothing run at the same time, at most `each` on a GPU."""
        return len(self.gpus) * self.on_one(each)

    def on_one(self, each: int) -> int:
        return max(1, min(each, (os.cpu_count() or 1) // len(self.gpus)))

    def share(self, beside: list[Any], alone: list[Any], each: int, action: Callable[[Any, str], None]) -> None:
        """Do something with all of `beside`, several at a time on each GPU; a GPU that finds no more of them goes on to `alone`,
        one at a time. The action is told which GPU that is."""

        def card(gpu: str) -> None:
            with ThreadPoolExecutor(self.on_one(each)) as pool:
                list(pool.map(lambda _: drain(first, lambda item: action(item, gpu)), range(self.on_one(each))))
            drain(then, lambda item: action(item, gpu))

        first, then = queue.SimpleQueue[Any](), queue.SimpleQueue[Any]()
        for waiting, items in ((first, beside), (then, alone)):
            for item in items:
                waiting.put(item)
        with ThreadPoolExecutor(len(self.gpus)) as cards:
            list(cards.map(card, self.gpus))

    def step(self, item: Work, gpu: str, red: dict[str, list[str]], progress: Progress) -> None:
        if time.monotonic() + progress.expected[item.name] > self.end:
            self.later.append(item.name)
            return
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
        with contextlib.suppress(records.RecordError):  # whoever has no room for the archive hears so at the end
            self.keep_packed()

    def keep_packed(self, now: bool = False) -> None:
        """Write what is made into the archive from time to time: whoever kills this bake or takes its machine leaves that."""
        with self.writing:
            if self.pack and self.made and (now or time.monotonic() > self.packed + PACKED_EVERY):
                for machine, paths in self.made.items():
                    place = self.pack.with_stem(f"{self.pack.stem}{machine.removeprefix(self.machine)}")
                    contents = {path.relative_to(records.BAKED).as_posix(): path.read_bytes() for path in paths}
                    archive.write(place, machine, contents, {})
                self.packed = time.monotonic()

    def renew(self, item: Work, gpu: str, red: list[str]) -> str:
        """Make one record, unless it is done already, and say how that went."""
        now = sources.digest_of(item.kind, item.short)
        if red:
            raise records.RecordError(f"no number is written while {', '.join(red)} {'is' if len(red) == 1 else 'are'} red")
        machine = self.machine + item.suffix
        path = records.record_path(machine, item.kind, item.short)
        if self.done.get(item.name) == now and is_current(item, self.machine, self.code):
            self.note(machine, path)
            return "done before the interruption"
        began = time.monotonic()
        contents = self.runs.make(item, gpu)
        head = {"schema": records.SCHEMA, "kind": item.kind, "name": item.short, "hash": now}
        made = environment(self.cpu, self.together) | {"machine": machine}
        if item.triton:
            made["triton"] = item.triton
        records.write(path, head | {"environment": made} | contents)
        self.note(machine, path)
        with self.writing:
            self.done[item.name] = now
            records.write_text(self.journal, json.dumps(self.done))
        return f"{time.monotonic() - began:.1f} s"

    def count(self) -> int:
        """How many records this bake has made."""
        return sum(map(len, self.made.values()))

    def note(self, machine: str, path: Path) -> None:
        with self.writing:
            self.made.setdefault(machine, []).append(path)

    def gate(self) -> dict[str, list[str]]:
        """Run the tests of what is baked, but for those that passed here already; return the red ones of each piece of work."""
        covering, here = gate.files(self.work, self.code), environment(self.cpu, self.together)
        due = [stem for stem in covering if not gate.is_passed(stem, here, self.code)]
        if fresh := len(covering) - len(due):
            print(f"gate: {fresh} of {len(covering)} files of tests passed here before, of today's code", flush=True)
        expected = {stem: gate.expected(stem, self.machine) for stem in due}
        red: dict[str, list[str]] = {}
        with Progress("gate", expected, dict.fromkeys(due, self.lanes(TESTS))) as progress:

            def one(stem: str, gpu: str, workers: int = self.workers, alone: bool = False) -> None:
                progress.start(stem)
                ran[stem] = gate.test(stem, lambda: variables(self.cpu, gpu), workers, time.monotonic)
                if not alone and gate.is_crowded(ran[stem]):
                    crowded.append(stem)
                    return
                said = f"red\n{ran[stem].red}" if ran[stem].red else f"{ran[stem].passed} passed, {ran[stem].seconds:.0f} s"
                progress.finish(stem, said)

            ran: dict[str, gate.Ran] = {}
            crowded: list[str] = []
            self.share(sorted(due, key=lambda stem: -expected[stem]), [], TESTS, one)
            self.share([], crowded, 1, lambda stem, gpu: one(stem, gpu, 1, alone=True))  # once more, with the memory to itself
        for result in ran.values():
            if result.red:
                for item in covering[result.file]:
                    red.setdefault(item.name, []).append(result.file)
            else:
                self.note(self.machine, gate.keep(result, here, self.code))
        return red


def drain(waiting: queue.SimpleQueue[Any], action: Callable[[Any], None]) -> None:
    """Do something with whatever still waits, until nothing does."""
    with contextlib.suppress(queue.Empty):
        while True:
            action(waiting.get_nowait())


def apart(items: list[Any], shares: dict[str, list[int]], action: Callable[[Any, str], None]) -> None:
    """Do something with all of these, one at a time on each GPU, whose processes run on that GPU's share of the cores."""
    waiting = queue.SimpleQueue[Any]()
    for item in items:
        waiting.put(item)

    def card(gpu: str) -> None:
        if len(shares) > 1:
            os.sched_setaffinity(0, shares[gpu])  # of this thread alone, and of the processes that it starts
        drain(waiting, lambda item: action(item, gpu))

    with ThreadPoolExecutor(len(shares)) as cards:
        list(cards.map(card, shares))


def cores() -> list[int]:
    """The host's cores that this process may use; where the system does not tell, not enough to share."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]


def shares_of(cores: list[int], gpus: list[str]) -> dict[str, list[int]]:
    """The cores of each GPU that may time calls while the others do: equal shares of neighbors, or all for the first GPU where
    the shares would be too small."""
    each = len(cores) // len(gpus)
    if each < CORES_TO_ITSELF:
        return {gpus[0]: cores}
    return {gpu: cores[number * each : (number + 1) * each] for number, gpu in enumerate(gpus)}


def gpus() -> list[str]:
    """The GPUs of this machine that are of the kind of its first, as CUDA_VISIBLE_DEVICES spells them."""
    import torch

    names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return [gpu for gpu, name in zip(visible(), names, strict=False) if name == names[0]]


def room() -> float:
    """The GPU's memory in gibibytes."""
    import torch

    return torch.cuda.get_device_properties(0).total_memory / 2**30


def told(absent: dict[str, str]) -> list[str]:
    return [f"{name}: {reason}" for name, reason in sorted(absent.items())]


def chosen(cpu: bool, several: bool, patterns: list[str], named: str | None = None, triton: str = "") -> list[Work]:
    found = [item for item in everything(cpu, several, triton) if any(fnmatch.fnmatch(item.name, each) for each in patterns)]
    return core.chosen(found) if named else found


def no_gpu(named: str | None) -> str:
    """What to do where PyTorch finds no GPU."""
    if named:
        hint = "If nvidia-smi shows one, its driver may be too old for this torch; this says so: "
        return f"No CUDA device is visible, and the set {named} is of a GPU. {hint}python -c 'import torch; torch.cuda.init()'"
    return "No CUDA device is visible, so no GPU can be measured here. `python scripts/bake.py --cpu` bakes the rest."


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
    shares = shares_of(cores(), [str(number) for number in range(cards)])
    for item in work:
        measuring = machine != "cpu" and measures(item, code)
        lanes = cards if measuring else cards * min(BESIDE, os.cpu_count() or 1)
        if measuring and hears_the_host(item, code):
            lanes = len(shares)
        expected = seconds(item.kind, item.short, machine, "measured" if measuring else "")
        chapters.setdefault(item.name.split("/")[0], []).append(expected / lanes)
    for chapter, spent in chapters.items():
        print(f"  {chapter:20} {len(spent):4} records, about {span(sum(spent))}")
        total += sum(spent)
    known = [timed("gate", stem, machine) for stem in due] + [timed(item.kind, item.short, machine) for item in work]
    others = {found[0] for found in known if found} - {machine}
    where = "".join(f", if that takes as long as on an {other}" for other in others)
    print(f"in all {len(work)} {'record' if len(work) == 1 else 'records'}, about {span(total)} on {cards} x {machine}{where}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="bake what needs no GPU, under Triton's interpreter")
    parser.add_argument("--several", action="store_true", help="bake only what runs on all GPUs of this machine together")
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="do only the work whose name matches one")
    parser.add_argument("--stale", action="store_true", help="do only what has no record, or one older than its code")
    parser.add_argument("--triton", default="", metavar="FOLDER", help="a folder with a Triton of 3.9 or newer, to ask it, too")
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="N", help="begin nothing that would take longer")
    parser.add_argument("--set", choices=[core.NAME], help="bake one benchmark an operation, on any card, into one archive")
    parser.add_argument("--plan", action="store_true", help="bake nothing: say what would run, and about how long it would take")
    parser.add_argument("--cards", type=int, default=1, metavar="N", help="with --plan: as if N GPUs shared the work")
    parser.add_argument("--pack", type=Path, metavar="FILE", help="afterwards, put this machine's records into FILE")
    parser.add_argument("--check", type=Path, metavar="FILE", help="bake nothing: say whether FILE can be taken")
    parser.add_argument("--unpack", type=Path, metavar="FILE", help="bake nothing: check FILE and lay its records in")
    arguments = parser.parse_args()
    if arguments.set and (arguments.cpu or arguments.several or arguments.only != ["*"] or arguments.pack):
        parser.error(f"--set {arguments.set} is a whole of its own, of a GPU: leave --cpu, --several, --only and --pack out")
    try:
        if arguments.check:
            print(*archive.check(arguments.check), sep="\n")
            return 0
        if arguments.unpack:
            print(f"laid in {len(archive.unpack(arguments.unpack))} records")
            return 0
        began, lent = time.monotonic(), str(Path(arguments.triton).resolve()) if arguments.triton else ""
        newest = triton_in(lent) if lent else ""
        if lent and not newest:
            print(f"{lent}: there is no Triton in this folder", file=sys.stderr)
            return 2
        code, work = Code(), chosen(arguments.cpu, arguments.several, arguments.only, arguments.set, newest)
        if not work:
            hint = "; --several does" if not arguments.several and chosen(False, True, arguments.only) else ""
            print(f"nothing that this bake does is called {' or '.join(arguments.only)}{hint}", file=sys.stderr)
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
            print(no_gpu(arguments.set), file=sys.stderr)
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
        left = began + 60 * arguments.minutes - time.monotonic()
        bake = Bake(arguments.cpu, work, code, arguments.several, lent, left, arguments.pack)
        status = bake.run()
        if others := [] if arguments.cpu or arguments.several or arguments.set else chosen(False, True, arguments.only):
            print(f"left out, and baked by --several: {', '.join(item.name for item in others)}")
        if arguments.set and status == 0:
            send(machine, absent | bake.absent)
        elif arguments.set and bake.failures:
            print("No archive is written yet. Close what else uses the GPU, and give the same command again:")
            print("it repeats only what failed. What fails twice is a bug of the library; please send that output.")
        if arguments.pack:
            packed = bake.count() if arguments.stale else archive.pack(machine, arguments.pack)
            print(f"packed {packed} records into {arguments.pack.name}" if packed else "packed nothing, for nothing was made")
        return status
    except (records.RecordError, CodeError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
