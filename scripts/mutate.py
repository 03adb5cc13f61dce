"""Change the kernels in every place, one change at a time, and keep which changes the tests noticed.

    python scripts/mutate.py                    every module that has no score of today's code
    python scripts/mutate.py softmax add        these modules, whatever they have
    python scripts/mutate.py --again            the same, where only what launches the kernels has changed: see below
    python scripts/mutate.py --judge            sort the kept outcomes anew, after a change of equivalents.txt
    python scripts/mutate.py --list softmax     only say what would be changed
    python scripts/mutate.py --only 'PATTERN' softmax     try some by name, and keep nothing
    python scripts/mutate.py --pack FILE        afterwards, put the records of this machine's CPU into one archive

A mutant counts as caught when the module's tests, or what is asked of its compiled form, fail on it; where several
modules share a kernel, the tests of any of them. It runs on a copy of the checkout, under the interpreter. What no test
noticed is compiled: a mutant that is the same machine code as the kernel, in every specimen, is no change. Of the rest,
those that no test can tell from the original stand in tests/kernels/equivalents.txt, each with the reason. What is left
are gaps. This takes minutes a module, which is why no test runs it; the score goes to docs/baked/cpu/mutants.

With --again, what the last score says of a kernel that has not changed since is a start. A mutant that was noticed is tried
by the test that noticed it, and if that one no longer does by all of them. One that was not noticed is taken for not noticed,
which can make the score worse than it is, and never better.

Triton's interpreter runs no Gluon. What is written in it is changed on a GPU, and because each change is compiled there and some
never end, a lot decides which changes are tried. The digest of kernels and tests draws it, so nobody can choose. A test that
takes longer than a minute has noticed. A bake does that, `python scripts/bake.py --only 'mutants/*'` on a Hopper GPU; the score
goes to docs/baked/<gpu>/mutants.
"""

import argparse
import ast
import contextlib
import fnmatch
import hashlib
import importlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts import matrix
from scripts.baking import archive
from scripts.launches import SPECIMENS
from scripts.mutation.mutants import Mutant, mutants
from scripts.provenance import records, sources
from scripts.provenance.environment import environment, primary_machine
from scripts.provenance.follow import Code

EQUIVALENTS = records.ROOT / "tests/kernels/equivalents.txt"
COPIED: tuple[str, ...] = (
    "kernels",
    "scripts",
    "snippets",
    "tests/kernels",
    "tests/__init__.py",
    "tests/conftest.py",
    "tests/interpreter.py",
)
COPIED += ("tests/language.py", "tests/needs.py", "pyproject.toml")
# What Triton's interpreter does not run, so that no test could notice anything here.
UNSEEN = {path.relative_to(records.ROOT).as_posix() for path in records.ROOT.glob("kernels/*/gluon*.py")}
GLUON = sources.gluon_modules()
DRAWN = 60  # changes of each module of these
# How long the tests may take on a mutant, as a multiple of what they take without one, and in seconds beyond that.
TIMES, SECONDS = 5, 20
# How long one test may take on a GPU, where a group of warps may wait for another for ever, and how long all of them.
TEST_SECONDS, LIMIT = 60, 240
NOTHING_RAN = (4, 5)  # how pytest ends where a test is no longer there, or none was asked for
# What stands in the place of a test where a mutant kept the tests from their end.
ENDED = ("no end", "the run broke off")
SAME_CODE = "the same machine code"
# How many specimens are compiled first: where one of them differs, the others need not be asked.
FEW = 3
# How many of the tests that noticed something are tried before the whole file is.
FIRST = 12


def files(module: str) -> list[str]:
    """The files of the module's kernels: its own and its siblings', but those that are modules of their own right."""
    if module in GLUON:
        return sources.gluon_files(module)
    code = Code()
    others = [sources.public_source(other, code).path for other in matrix.modules() if other != module]
    own = UNSEEN | {path.relative_to(records.ROOT).as_posix() for path in others}
    reached = sorted({place.path.relative_to(records.ROOT).as_posix() for place in sources.reached_by(module, code)})
    return [path for path in reached if path not in own and mutants_in((records.ROOT / path).read_text(encoding="utf-8"))]


def of_module(module: str) -> list[tuple[str, Mutant]]:
    return [(path, mutant) for path in files(module) for mutant in mutants_in((records.ROOT / path).read_text(encoding="utf-8"))]


@cache  # each of a file's mutants is compiled, and several modules share files
def mutants_in(source: str) -> list[Mutant]:
    return list(mutants(source))


def equivalents() -> dict[str, str]:
    """The reason why no test can notice a mutant, by the mutant's name."""
    lines = EQUIVALENTS.read_text(encoding="utf-8").splitlines() if EQUIVALENTS.exists() else []
    return dict((name.strip(), reason.strip()) for name, reason in (line.rsplit(" | ", 1) for line in lines if " | " in line))


def copy_checkout(folder: Path) -> None:
    for name in COPIED:
        source, target = records.ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
        else:
            shutil.copy(source, target)


def fails(folder: Path, arguments: list[str], limit: float) -> str:
    """Run tests of a copy in a child of this process, which has torch and Triton loaded; say what failed, or nothing."""
    report = folder / "report.txt"
    report.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setsid()
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            status = run_tests(folder, arguments, report)
        finally:
            os._exit(status)
    began = time.monotonic()
    while time.monotonic() - began < limit:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            said = report.read_text(encoding="utf-8") if report.exists() else ""
            # Where nothing was to run, as for a function that is compiled within its callers alone, nothing noticed.
            return "" if os.waitstatus_to_exitcode(status) in (0, *NOTHING_RAN) else said or ENDED[1]
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return ENDED[0]


def run_tests(folder: Path, arguments: list[str], report: Path) -> int:
    import pytest

    os.chdir(folder)
    sys.path[0] = str(folder)
    for name in [name for name in sys.modules if name.split(".")[0] in ("kernels", "scripts", "tests")]:
        del sys.modules[name]
    os.environ["CI"] = "1"
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["TRITON_CACHE_DIR"] = str(folder / "cache")
    # Each worker has one core to itself, and what it starts to compile kernels has that one.
    os.cpu_count = lambda: 1

    class Reporter:
        def pytest_runtest_logstart(self, nodeid: str) -> None:
            if "TRITON_INTERPRET" not in os.environ:  # a kernel that never ends ends the process, and this is what it ran
                self.say(nodeid)
                signal.alarm(TEST_SECONDS)

        def pytest_runtest_logfinish(self) -> None:
            signal.alarm(0)

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                self.say(report.nodeid)

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                self.say(report.nodeid)

        def say(self, name: str) -> None:
            report.write_text(name, encoding="utf-8")

    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--no-header", *arguments], plugins=[Reporter()]))


def tried(folder: Path, module: str, path: str, mutant: Mutant, limit: float, first: list[str]) -> str:
    """The test that noticed the mutant, or nothing; those of `first` are asked before the others."""
    target = folder / path
    original = target.read_text(encoding="utf-8")
    try:
        target.write_text(mutant.of(original), encoding="utf-8")
        # A function that is compiled within its callers is asked of a few specimens of theirs.
        names = specimens_of(path, mutant.function)
        is_own = any(name.startswith(f"{mutant.function}/") for name in names)
        asked = f"{mutant.function}/" if is_own or not names else " or ".join(names[:FEW])
        compiled = ["tests/kernels/test_compiles.py", "-k", asked]
        asks: tuple[list[str], ...] = (sources.tests_of(module), compiled)
        if module in GLUON:  # running it compiles it
            asks = ([*sources.tests_of(module), "-k", "not compiles"],)
        for tests in (first, *asks):
            if noticed := fails(folder, tests, limit) if tests else "":
                return noticed
        return ""
    finally:
        target.write_text(original, encoding="utf-8")


def prepare_worker(folder: Path) -> None:
    """Every process has a copy of the checkout to itself, and changes one kernel at a time there."""
    place = folder / str(os.getpid())
    copy_checkout(place)
    globals()["PLACE"] = place


def one(job: tuple[str, str, Mutant, float, str]) -> tuple[Mutant, str]:
    module, path, mutant, limit, last = job
    noticing = globals().setdefault("NOTICING", Counter[str]())
    first = [last] if "::" in last else [test for test, _ in noticing.most_common() if "::" in test][:FIRST]
    noticed = tried(globals()["PLACE"], module, path, mutant, limit, first)
    noticing[noticed] += 1
    return mutant, noticed


def journal(module: str) -> Path:
    """Where the outcomes of a module's mutants are kept until there is a score; of other code it is another file."""
    return records.ROOT / "build" / "mutants" / f"{module}-{sources.digest_of('mutants', module)[:12]}.txt"


def noted(module: str) -> dict[str, str]:
    """What noticed each mutant that the journal knows of; empty for those that nothing noticed."""
    path = journal(module)
    return dict(line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()) if path.exists() else {}


def note(module: str, mutant: Mutant, noticed: str) -> None:
    journal(module).parent.mkdir(parents=True, exist_ok=True)
    with open(journal(module), "a", encoding="utf-8") as file:
        file.write(f"{mutant.name}\t{noticed}\n")


def outcomes(
    module: str, chosen: list[tuple[str, Mutant]], workers: int, known: dict[str, str], last: dict[str, str], limit: float = 0
) -> Iterator[tuple[Mutant, str]]:
    """Every mutant with the test that noticed it; what is known is not tried, and what noticed one `last` is asked first."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_checkout(folder / "whole")
        began = time.monotonic()
        if not limit:
            if broken := fails(folder / "whole", sources.tests_of(module), 600):
                raise RuntimeError(f"the tests are red without any change: {broken}")
            limit = TIMES * (time.monotonic() - began) + SECONDS
        left = [(module, *job, limit, last.get(job[1].name, "")) for job in chosen if job[1].name not in known]
        # Forked, not started anew: a worker has torch and Triton loaded, and forks again for every mutant.
        with multiprocessing.get_context("fork").Pool(workers, prepare_worker, (folder,)) as pool:
            yield from pool.imap_unordered(one, left)


def kernels_at(module: str, commit: str | None = None) -> dict[str, str]:
    """What the functions say that the module's mutants change, now or in a commit, without their comments."""
    found = {}
    for path in files(module):
        source = (records.ROOT / path).read_text(encoding="utf-8")
        if commit:
            shown = subprocess.run(["git", "show", f"{commit}:{path}"], cwd=records.ROOT, capture_output=True, text=True)
            source = shown.stdout if shown.returncode == 0 else ""
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(by) for by in node.decorator_list):
                found[node.name] = ast.unparse(node)
    return found


def last_score(module: str) -> tuple[dict[str, str], dict[str, int]]:
    """Of kernels that are today what they were when the module's score was committed: the test that noticed each mutant, empty
    for none; and of those that none did, in how many specimens they are the same machine code, if no kernel has changed."""
    path = records.record_path("cpu", "mutants", module)
    asked = ["git", "log", "-1", "--format=%H", "--", str(path.relative_to(records.ROOT))]
    commit = subprocess.run(asked, cwd=records.ROOT, capture_output=True, text=True).stdout.strip()
    if not commit:
        raise RuntimeError(f"{module}: no commit has a score that could be a start")
    before, now = kernels_at(module, commit), kernels_at(module)
    last, same = outcomes_kept(records.read(path))
    alike = {function for function, text in now.items() if before.get(function) == text}
    last = {name: test for name, test in last.items() if name.partition(":")[0] in alike}
    return last, {name: same[name] for name, test in last.items() if not test} if before == now else {}


def outcomes_kept(found: dict[str, Any]) -> tuple[dict[str, str], dict[str, int]]:
    """Of a score: the test that noticed each mutant, empty for none; and of the rest, how many specimens are the same."""
    same = {left["name"]: int(left["reason"].split()[-2]) if left["outcome"] == "same" else 0 for left in found["left"]}
    return dict(found["caught"]) | dict.fromkeys(same, ""), same


def score_of_twin(module: str) -> tuple[dict[str, str], dict[str, int]]:
    """The outcomes of a module of the same kernels and the same tests, as the norms have them, whose score is of today's code."""
    asked = files(module), sources.tests_of(module)
    for other in kept():
        if other != module and not is_due(other) and (files(other), sources.tests_of(other)) == asked:
            return outcomes_kept(records.read(records.record_path("cpu", "mutants", other)))
    return {}, {}


def noticed_by_others(module: str) -> dict[str, str]:
    """The mutants of kernels that this module shares with others, with the tests by which those others noticed them."""
    names = {mutant.name for _, mutant in of_module(module)}
    found: dict[str, str] = {}
    for other in kept():
        if other != module and not is_due(other):
            own = tuple(sources.tests_of(other))
            caught = records.read(records.record_path("cpu", "mutants", other))["caught"]
            found |= {name: test for name, test in caught if name in names and test.startswith(own)}
    return found


def specimens_of(path: str, function: str) -> list[str]:
    """The specimens of every kernel of the library that is the function, or uses it; those of 16-bit floats come first."""
    here, found, code = (records.ROOT / path, function), [], Code()
    for kernel in sorted({specimen.kernel for specimen in SPECIMENS if specimen.path.startswith("kernels/")}):
        file, name = kernel.split(":")
        if here == (records.ROOT / file, name) or here in code.followed([(records.ROOT / file, name)]):
            found += [specimen.name for specimen in SPECIMENS if specimen.kernel == kernel]
    return sorted(found, key=lambda name: "16" not in name.rpartition("-")[2])


def machine_code(folder: Path, names: list[str], known: dict[str, str]) -> list[str]:
    """What a checkout's compiler makes of some specimens for sm_90, as PTX; nothing where it makes none."""
    if any(name not in known for name in names):
        variables = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
        variables |= {"TRITON_DEFAULT_FP_FUSION": "1", "TRITON_DISABLE_LINE_INFO": "1", "TRITON_CACHE_DIR": str(folder / "cache")}
        jobs = json.dumps([(name, "sm_90") for name in names])
        command = [sys.executable, "scripts/compile.py", "--worker", "ptx"]
        done = subprocess.run(command, input=jobs, env=variables, cwd=folder, capture_output=True, text=True)
        made = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else [""] * len(names)
        known |= dict(zip(names, made, strict=True))
    return [known[name] for name in names]


def same_code(folder: Path, path: str, mutant: Mutant, original: dict[str, str]) -> int:
    """In how many specimens the mutant is the machine code that the kernel is; zero where it differs in one."""
    names, target = specimens_of(path, mutant.function), folder / path
    source = target.read_text(encoding="utf-8")
    for some in (names[:FEW], names) if names else ():
        before = machine_code(folder, some, original)
        target.write_text(mutant.of(source), encoding="utf-8")
        try:
            after = machine_code(folder, some, {})
        finally:
            target.write_text(source, encoding="utf-8")
        if "" in after or after != before:
            return 0
    return len(names)


def compiled_alike(module: str, found: list[tuple[Mutant, str]], known: dict[str, int]) -> dict[str, int]:
    """Those that no test noticed and that are the same machine code, with the number of specimens that were compared.

    What is known of an earlier run of the same code, zero for those that differ, is not asked again.
    """
    alike: dict[str, int] = {}
    original: dict[str, str] = {}
    paths = {mutant.name: path for path, mutant in of_module(module)}
    with tempfile.TemporaryDirectory() as name:
        copy_checkout(Path(name))
        for mutant, noticed in found:
            if not noticed:
                count = known.get(mutant.name)
                if count is None:
                    count = same_code(Path(name), paths[mutant.name], mutant, original)
                alike |= {mutant.name: count} if count else {}
    return alike


def score(module: str, found: list[tuple[Mutant, str]], alike: dict[str, int]) -> dict[str, Any]:
    """The counts by kind, and every mutant that no test noticed."""
    reasons = equivalents()
    kinds: dict[str, Counter[str]] = {}
    left = []
    for mutant, noticed in found:
        reason = f"{SAME_CODE} in {alike[mutant.name]} specimens" if mutant.name in alike else reasons.get(mutant.name, "")
        outcome = "caught" if noticed else "same" if mutant.name in alike else "equivalent" if reason else "gap"
        kinds.setdefault(mutant.kind, Counter())[outcome] += 1
        if outcome != "caught":
            left.append({"name": mutant.name, "line": mutant.line, "outcome": outcome, "reason": reason})
    total = sum((counts for counts in kinds.values()), Counter[str]())
    return {
        "total": dict(total),
        "kinds": {kind: dict(counts) for kind, counts in sorted(kinds.items())},
        "left": left,
        "caught": [[mutant.name, noticed] for mutant, noticed in found if noticed],
    }


def drawn(module: str, count: int) -> list[tuple[str, Mutant]]:
    """So many of a module's mutants. The digest of its code decides which."""
    seed = sources.digest_of("mutants", module)
    return sorted(of_module(module), key=lambda job: hashlib.sha256((seed + job[1].name).encode()).digest())[:count]


def sample_on_gpu(module: str, workers: int) -> dict[str, Any]:
    """The score of some of a module's mutants. Workers are forked, so nothing may touch the GPU here."""
    if not is_hopper():
        print("needs: sm_90, for which kernels in Gluon are written")
        sys.exit(2)
    kept_at = journal(module)
    for mutant, noticed in outcomes(module, drawn(module, DRAWN), workers, noted(module), {}, LIMIT):
        note(module, mutant, noticed)
        print(f"  line {mutant.line}: {mutant.name}: {noticed or 'not noticed'}", flush=True)
    if journal(module) != kept_at:
        raise RuntimeError("kernels or tests were edited meanwhile; nothing is kept")
    known = noted(module)
    tried_here = [(mutant, known[mutant.name]) for _, mutant in drawn(module, DRAWN)]
    journal(module).unlink()
    return score(module, tried_here, {}) | {"all": len(of_module(module))}


def is_hopper() -> bool:
    asked = "import torch; print(torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0))"
    return subprocess.check_output([sys.executable, "-c", asked], text=True).strip() == "True"


def kept() -> list[str]:
    """The modules that have a score."""
    return [module for module in matrix.modules() if records.record_path("cpu", "mutants", module).exists()]


def unscored() -> list[str]:
    """The modules without a score that have kernels of their own, which no other's score is of either."""
    scored = {path for module in kept() for path in files(module)}
    return [module for module in matrix.modules() if module not in kept() and not set(files(module)) <= scored]


def together() -> dict[str, Counter[str]]:
    """By the kind of change, how many had which outcome: each counted once, as noticed where any module's tests noticed it."""
    outcomes: dict[str, str] = {}
    for found in [records.read(records.record_path("cpu", "mutants", module)) for module in kept()]:
        left = {each["name"]: each["outcome"] for each in found["left"]}
        outcomes |= {name: outcome for name, outcome in left.items() if outcomes.get(name) != "caught"}
        outcomes |= {name: "caught" for name, _ in found["caught"]}
    kinds: dict[str, Counter[str]] = {}
    for name, outcome in outcomes.items():
        kinds.setdefault(name.split(": ")[1], Counter())[outcome] += 1
    return kinds


def judge_again(module: str) -> None:
    """Work a kept score out anew, after the list of equivalents or a score of another module has changed."""
    path = records.record_path(primary_machine() if module in GLUON else "cpu", "mutants", module)
    kept_score = records.read(path)
    _, known = outcomes_kept(kept_score)
    known = known if any(known.values()) or module in GLUON else {}
    if module in GLUON:  # a lot drew some of its changes
        noticed = dict(kept_score["caught"])
        tried = [(mutant, noticed.get(mutant.name, "")) for _, mutant in drawn(module, len(noticed) + len(known))]
        records.write(path, kept_score | score(module, tried, {}))
        return
    own = (*sources.tests_of(module), "tests/kernels/test_compiles.py")
    caught = {name: test for name, test in kept_score["caught"] if "::" not in test or test.startswith(own)}
    noticed = noticed_by_others(module) | caught
    found = [(mutant, noticed.get(mutant.name, "")) for _, mutant in of_module(module)]
    records.write(path, kept_score | score(module, found, compiled_alike(module, found, known)))


def is_due(module: str) -> bool:
    """Whether there is no score of today's code."""
    return not sources.is_kept("cpu", "mutants", module)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="of " + ", ".join(matrix.modules()))
    parser.add_argument("--judge", action="store_true", help="only sort the kept outcomes anew, by equivalents.txt")
    parser.add_argument("--again", action="store_true", help="begin with the last score of kernels that have not changed")
    parser.add_argument("--list", action="store_true", help="say what would be changed, and change nothing")
    parser.add_argument("--only", default="*", help="a pattern for the mutants' names; no score is kept")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="for a bake: try changes of one module in Gluon, into FILE")
    parser.add_argument("--pack", type=Path, metavar="FILE", help="afterwards, put the records of the CPU into FILE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    if not arguments.judge and bool(arguments.keep) != bool(set(arguments.modules) & set(GLUON)):
        parser.error(f"{' and '.join(GLUON)} are tried by a bake on a Hopper GPU, which says --keep")
    if arguments.judge:
        for module in arguments.modules or kept():
            judge_again(module)
        return 0
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    os.environ.pop("TRITON_INTERPRET", None)
    if not arguments.keep:
        os.environ["TRITON_INTERPRET"] = "1"
    import numpy  # noqa: F401
    import pytest  # noqa: F401
    import torch
    import torch.fx.experimental.symbolic_shapes
    import triton.language  # noqa: F401

    with contextlib.suppress(ImportError):  # a plugin of pytest, where it is installed
        importlib.import_module("pytest_examples")
    torch.set_num_threads(1)
    if arguments.keep:
        (module,) = arguments.modules
        records.write_text(arguments.keep, json.dumps(sample_on_gpu(module, arguments.jobs)))
        return 0
    for module in arguments.modules or [module for module in matrix.modules() if is_due(module)]:
        chosen = [job for job in of_module(module) if fnmatch.fnmatch(job[1].name, arguments.only)]
        if arguments.list:
            print(*(f"{path}:{mutant.line}: {mutant.name}" for path, mutant in chosen), sep="\n")
            continue
        began, kept_at, noticing = time.monotonic(), journal(module), dict[str, str]()
        # What another module's tests noticed, of a kernel that both share, is noticed: it need not be tried again.
        others = noticed_by_others(module)
        twins, alike = score_of_twin(module)
        if arguments.only == "*":
            noticing |= twins | others | noted(module)
        last, alike_before = last_score(module) if arguments.again else ({}, {})
        alike |= alike_before
        noticing |= {mutant.name: "" for _, mutant in chosen if last.get(mutant.name) == "" and mutant.name not in noticing}
        if any(mutant.name not in noticing for _, mutant in chosen):
            for mutant, noticed in outcomes(module, chosen, arguments.jobs, noticing, last):
                noticing[mutant.name] = noticed
                if arguments.only == "*":
                    note(module, mutant, noticed)
                if not noticed or arguments.only != "*":
                    print(f"  line {mutant.line}: {mutant.name}: {noticed or 'not noticed'}", flush=True)
        found = [(mutant, noticing[mutant.name] or others.get(mutant.name, "")) for _, mutant in chosen]
        result = score(module, found, compiled_alike(module, found, alike))
        print(f"{module}: {result['total']} ({time.monotonic() - began:.0f} s)", flush=True)
        if arguments.only == "*":
            if journal(module) != kept_at:
                raise RuntimeError(f"{module}: its kernels or tests were edited meanwhile; nothing is kept")
            head = {"schema": records.SCHEMA, "kind": "mutants", "name": module}
            head |= {"hash": sources.digest_of("mutants", module), "environment": environment(cpu=True)}
            records.write(records.record_path("cpu", "mutants", module), head | result)
            kept_at.unlink(missing_ok=True)
    if arguments.pack:
        print(f"packed {archive.pack('cpu', arguments.pack)} records into {arguments.pack.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
