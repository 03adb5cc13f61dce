"""The bake: gate, programs, failures, and being killed at any moment. Bakes run in small checkouts of their own."""

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from scripts.bake import apart, shares_of
from scripts.provenance import records, sources
from scripts.provenance.follow import Code
from tests.scripts import trees
from tests.scripts.trees import bake, baked, checkout

A_GPU = "Test GPU 1 (PCIe)"
TINY = ("--cpu", "--only", "tiny/*")


@pytest.fixture
def tree(tmp_path) -> Path:
    return checkout(tmp_path / "tree")


def found(tree: Path, name: str, machine: str = "cpu") -> dict[str, Any]:
    return records.read(records.record_path(machine, "program", f"tiny/{name}", baked(tree)))


def names(tree: Path, machine: str = "cpu") -> list[str]:
    return [path.stem for path, _ in records.all_records(machine, baked(tree))]


def journal(tree: Path, machine: str = "cpu") -> Path:
    return tree / "build" / f"bake-{machine}.json"


# Without a GPU


def test_without_a_gpu_a_bake_says_so_in_one_line_and_writes_nothing(tree):
    """With the real torch."""
    before = trees.snapshot(tree)
    done = bake(tree, PYTHONPATH="")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"No CUDA device is visible.*bake\.py --cpu.*\n", done.stderr)
    assert trees.snapshot(tree) == before


def test_without_torch_a_bake_says_so_in_one_line(tree):
    before = trees.snapshot(tree)
    done = bake(tree, *TINY, NO_TORCH="1")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r".* has no torch\..*\n", done.stderr)
    assert trees.snapshot(tree) == before


def test_a_real_program_is_baked_under_the_interpreter(tmp_path):
    """With the real torch, triton and library; the gate is a small one."""
    tree = checkout(tmp_path)
    for room in ("kernels", "snippets"):
        shutil.rmtree(tree / room)
        shutil.copytree(records.ROOT / room, tree / room, ignore=shutil.ignore_patterns("__pycache__"))
    done = bake(tree, "--cpu", "--only", "first_kernel/launch", PYTHONPATH="")
    assert done.returncode == 0, done.stdout + done.stderr
    ((path, record),) = records.all_records("cpu", baked(tree))
    assert path == baked(tree) / "cpu/first_kernel/launch.json"
    assert record["output"][1:] == ["programs: 4", "same as PyTorch: True"] and "interpreter" in record["output"][0]
    assert (
        record["environment"]["triton"]
        == subprocess.run(
            [sys.executable, "-c", "import triton; print(triton.__version__)"], capture_output=True, text=True, check=True
        ).stdout.strip()
    )
    assert sources.is_fresh(record)


# What a bake does


def test_every_program_has_its_record(tree):
    done = bake(tree, *TINY)
    assert done.returncode == 0, done.stdout + done.stderr
    assert names(tree) == ["alone", "plus", "times"]
    record = found(tree, "plus")
    assert record["output"] == ["plus 3"] and record["status"] == 0 and sources.is_fresh(record, Code(tree))
    environment = record["environment"]
    assert [environment[key] for key in ("machine", "gpu", "driver", "cuda", "power_limit_w")] == ["cpu", None, None, None, None]
    assert (environment["torch"], environment["triton"], environment["commit"]) == ("1.2.3", "6.7", "")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", environment["measured_at"])
    assert sorted(re.findall(r"\[\d/2\] (test_\w+) \.\.\. 1 passed", done.stdout)) == ["test_plus", "test_times"]
    assert {int(number) for number in re.findall(r"\[(\d)/3\] tiny/\w+ \.\.\. ", done.stdout)} == {1, 2, 3}
    assert done.stdout.splitlines()[-1] == "done: 3 records of cpu"
    assert not journal(tree).exists() and not list(tree.rglob("*.part"))


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_copy_without_git_is_told_its_commit(tree):
    assert bake(tree, "--cpu", "--only", "tiny/plus", BLOCKWISE_COMMIT=COMMIT).returncode == 0
    assert found(tree, "plus")["environment"]["commit"] == COMMIT


def test_what_is_no_commit_is_not_recorded_as_one(tree):
    done = bake(tree, "--cpu", "--only", "tiny/plus", BLOCKWISE_COMMIT="main")
    assert done.returncode == 1 and "BLOCKWISE_COMMIT: expected a commit's 40 hexadecimal digits, got 'main'" in done.stderr
    assert names(tree) == []


def test_a_checkout_asks_git_and_nobody_else(tree):
    git = ["git", "-C", str(tree), "-c", "user.name=a", "-c", "user.email=a@b"]
    (tree / ".gitignore").write_text("__pycache__/\nbuild/\n")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *arguments], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert bake(tree, "--cpu", "--only", "tiny/plus", BLOCKWISE_COMMIT=COMMIT).returncode == 0
    assert found(tree, "plus")["environment"]["commit"] == head
    with (tree / "kernels/plus.py").open("a") as file:
        file.write("# changed\n")
    assert bake(tree, "--cpu", "--only", "tiny/times", BLOCKWISE_COMMIT=COMMIT).returncode == 0
    environment = found(tree, "times")["environment"]
    assert (environment["commit"], environment["changed"]) == (head, True) and "changed" not in found(tree, "plus")["environment"]


def test_only_a_part_is_done_where_a_part_is_asked_for(tree):
    old = trees.lay(tree, "tiny/plus", output=["old"]).read_bytes()
    assert bake(tree, "--cpu", "--only", "tiny/[at]*").returncode == 0
    assert names(tree) == ["alone", "plus", "times"] and (baked(tree) / "cpu/tiny/plus.json").read_bytes() == old


def test_a_name_that_nothing_has_is_an_error(tree):
    before = trees.snapshot(tree)
    done = bake(tree, "--cpu", "--only", "tiny/plsu")
    assert (done.returncode, done.stdout) == (2, "") and done.stderr == "nothing that this bake does is called tiny/plsu\n"
    assert trees.snapshot(tree) == before


INTERPRETED = "import os\nprint(os.environ.get('TRITON_INTERPRET'), os.environ.get('TRITON_DEFAULT_FP_FUSION'))\n"
WATCHED = f"# needs: cuda\n# counters: one two\n{INTERPRETED}"


def test_what_needs_a_gpu_waits_for_one(tmp_path):
    tree = checkout(tmp_path, watched=WATCHED, anywhere=INTERPRETED)
    assert bake(tree, *TINY, TRITON_INTERPRET="0").returncode == 0
    assert names(tree) == ["anywhere"] and found(tree, "anywhere")["output"] == ["1 1"]


def test_on_a_gpu_everything_runs_and_the_interpreter_stays_off(tmp_path):
    tree = checkout(tmp_path, watched=WATCHED, anywhere=INTERPRETED)
    machine = "test-gpu-1-pcie"
    done = bake(tree, "--only", "tiny/*", A_GPU=A_GPU, TRITON_INTERPRET="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert names(tree, machine) == ["anywhere", "watched"]
    record = found(tree, "watched", machine)
    assert record["output"] == ["None 1"]
    counted = {"kernel": "plus_kernel", "dram_read_bytes": 1024, "dram_write_bytes": 512, "registers": 32}
    assert record["counters"] == [{"implementation": part, **counted, "ms": 0.0025} for part in ("one", "two")]
    environment = record["environment"]
    assert (environment["machine"], environment["gpu"]) == (machine, A_GPU)
    measured = [environment[key] for key in ("driver", "cuda", "power_limit_w", "sm_clock_mhz", "memory_clock_mhz")]
    assert measured == ["580.1", "4.5", 700.0, 1980, 3201]


def test_a_card_that_tells_no_power_limit_is_baked(tmp_path):
    tree = checkout(tmp_path, anywhere=INTERPRETED)
    smi = tree / "stubs/bin/nvidia-smi"
    smi.write_text(smi.read_text().replace("700.00", "[N/A]"))
    done = bake(tree, "--only", "tiny/*", A_GPU=A_GPU)
    assert done.returncode == 0, done.stdout + done.stderr
    environment = found(tree, "anywhere", "test-gpu-1-pcie")["environment"]
    assert (environment["power_limit_w"], environment["sm_clock_mhz"]) == (None, 1980)


TWO_CARDS = """#!/bin/sh
case "$*" in
*=uuid*) echo GPU-slow; echo GPU-fast;;
*--id=GPU-fast*--loop-ms*) while :; do echo "1755, 3201, 512.25, 48"; sleep 0.05; done;;
*--id=GPU-fast*) echo '580.1, 700.00, 1980, 3201';;
*) echo '580.1, 70.00, 210, 405';;
esac
"""


def test_of_two_cards_the_driver_is_asked_for_the_one_that_cuda_runs_on(tmp_path):
    """nvidia-smi and CUDA may count them in another order."""
    tree = checkout(tmp_path, timed=MEASURES)
    trees.put(tree, {"kernels/tools/benchmark.py": STUB, "stubs/bin/nvidia-smi": TWO_CARDS})
    done = bake(tree, "--only", "tiny/*", A_GPU=A_GPU, A_UUID="fast")
    assert done.returncode == 0, done.stdout + done.stderr
    record = found(tree, "timed", "test-gpu-1-pcie")
    assert record["environment"]["power_limit_w"] == 700.0 and record["during"]["power_w"][0] == 512.25


FAILING_SMI = "#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n"


@pytest.mark.parametrize("smi, said", [(None, "nvidia-smi is not on the PATH"), (FAILING_SMI, "status 9: NVIDIA-SMI has failed")])
def test_without_an_answer_of_the_driver_a_bake_says_so_in_one_line(tmp_path, smi, said):
    tree = checkout(tmp_path, alone=trees.PROGRAMS["alone"])
    if smi:
        trees.put(tree, {"stubs/bin/nvidia-smi": smi})
    else:
        (tree / "stubs/bin/nvidia-smi").unlink()
    done = bake(tree, "--only", "tiny/*", A_GPU=A_GPU, PATH=str(tree / "stubs/bin"))
    assert done.returncode == 1 and said in done.stderr and done.stderr.count("\n") == 1
    assert names(tree, "test-gpu-1-pcie") == []


def test_a_bake_is_carried_to_another_checkout(tree, tmp_path):
    done = bake(tree, "--only", "tiny/*", "--pack", str(tmp_path / "bake.tgz"), A_GPU=A_GPU)
    assert done.stdout.splitlines()[-1] == "packed 5 records into bake.tgz"
    other = checkout(tmp_path / "other")
    assert bake(other, "--unpack", str(tmp_path / "bake.tgz")).returncode == 0
    assert trees.snapshot(baked(other)) == trees.snapshot(baked(tree))
    trees.put(other, {"kernels/times.py": trees.LIBRARY["times"].replace("*", "+")})
    refused = bake(other, "--unpack", str(tmp_path / "bake.tgz"))
    assert refused.returncode == 1 and "2 of 5 records come from other code than this checkout's" in refused.stderr


TOGETHER = "# needs: 2 gpus\nimport os\nprint(os.environ['CUDA_VISIBLE_DEVICES'])\n"


def test_what_runs_on_several_gpus_has_them_all_and_a_folder_of_its_own(tmp_path):
    tree = checkout(tmp_path, together=TOGETHER, alone=trees.PROGRAMS["alone"])
    two = {"A_GPU": A_GPU, "CUDA_VISIBLE_DEVICES": "0,3"}
    done = bake(tree, "--only", "tiny/*", **two)
    assert done.returncode == 0 and "left out, and baked by --several: tiny/together\n" in done.stdout
    assert names(tree, "test-gpu-1-pcie") == ["alone"]
    done = bake(tree, "--several", "--pack", str(tmp_path / "two.tgz"), **two)
    assert done.returncode == 0, done.stdout + done.stderr
    assert names(tree, "test-gpu-1-pcie-x2") == ["together"]
    record = found(tree, "together", "test-gpu-1-pcie-x2")
    assert record["output"] == ["0,3"] and record["environment"]["machine"] == "test-gpu-1-pcie-x2"
    assert bake(tree, "--several", "--stale", **two).stdout.splitlines()[-1] == "done: 0 records of test-gpu-1-pcie-x2"
    other = checkout(tmp_path / "other", together=TOGETHER)
    assert bake(other, "--unpack", str(tmp_path / "two.tgz")).returncode == 0
    assert names(other, "test-gpu-1-pcie-x2") == ["together"]


def test_one_gpu_bakes_nothing_that_runs_on_several(tmp_path):
    tree = checkout(tmp_path, together=TOGETHER)
    before = trees.snapshot(tree)
    done = bake(tree, "--several", A_GPU=A_GPU)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("This machine has one GPU")
    assert bake(tree, "--only", "tiny/*", A_GPU=A_GPU).stderr == "nothing that this bake does is called tiny/*; --several does\n"
    assert trees.snapshot(tree) == before


KEEPS = "import json, os\njson.dump({'extra': {'bytes': 7}}, open(os.environ['BLOCKWISE_RECORD'], 'w'))\n"


def test_what_a_program_keeps_is_in_its_record(tmp_path):
    tree = checkout(tmp_path, keeps=KEEPS)
    assert bake(tree, *TINY).returncode == 0
    assert found(tree, "keeps")["extra"] == {"bytes": 7}


# Red and broken

RED = "def test_it():\n    assert False\n"
GATES = {
    "a red test": ({"tests/kernels/test_plus.py": RED}, {"plus"}),
    "a red test of a module that others import": (
        {"tests/kernels/test_checks.py": RED},
        {"plus"},
    ),
    "a test file that cannot be read": ({"tests/kernels/test_plus.py": "def"}, {"alone", "plus", "times"}),
    "no tests": ({"tests/kernels/test_plus.py": "", "tests/kernels/test_times.py": ""}, {"plus", "times"}),
    "another failure of pytest": ({"pytest.ini": "[pytest]\naddopts = --nonsense\n"}, {"plus", "times"}),
}


@pytest.mark.parametrize("files, blocked", GATES.values(), ids=GATES)
def test_a_red_gate_blocks_what_it_covers_and_nothing_else(tree, files, blocked):
    old = {name: trees.lay(tree, f"tiny/{name}", output=["old"]).read_bytes() for name in trees.PROGRAMS}
    trees.put(tree, files)
    done = bake(tree, *TINY)
    assert done.returncode == 1 and " ... red\n" in done.stdout
    kept = {name for name in old if (baked(tree) / f"cpu/tiny/{name}.json").read_bytes() == old[name]}
    assert kept == blocked
    listed = done.stdout.partition(f"{len(blocked)} of 3 failed; their records are as they were:\n")[2]
    assert {
        re.match(r"  tiny/(\w+): no number is written while test_\w+.* (is|are) red", line)[1] for line in listed.splitlines()
    } == blocked


def test_a_program_of_the_same_name_as_a_red_kernel_is_not_blocked(tmp_path):
    tree = checkout(tmp_path, plus="print('only a name')\n")
    trees.put(tree, {"tests/kernels/test_plus.py": RED})
    assert bake(tree, *TINY).returncode == 0


def test_the_gate_runs_where_the_programs_run(tree):
    trees.put(
        tree, {"tests/kernels/test_plus.py": "import os\n\ndef test_it():\n    assert os.environ['TRITON_INTERPRET'] == '1'\n"}
    )
    assert bake(tree, *TINY).returncode == 0
    assert bake(tree, "--only", "tiny/plus", A_GPU=A_GPU, TRITON_INTERPRET="1").returncode == 1


BROKEN = {
    "exits": ("import sys\nprint('half')\nsys.exit('out of luck')\n", "ended with status 1\nout of luck"),
    "raises": ("raise ValueError('no luck')\n", "ValueError: no luck"),
    "killed": ("import os\nos.kill(os.getpid(), 9)\n", "ended with status -9"),
    "slow": ("import time\nprint('half', flush=True)\ntime.sleep(60)\n", "was stopped, because it was not done after 1 seconds"),
    "unreadable": ("def\n", "invalid syntax"),
    "unfollowed": ("import kernels\n", "or not by name"),
    "missing": ("from kernels.gone import gone\n", "there is no module kernels.gone"),
    "unkept": ("import os\nopen(os.environ['BLOCKWISE_RECORD'], 'w').write('{')\n", "Expecting property name"),
}


def test_a_program_that_fails_keeps_its_old_record_and_holds_up_no_other(tmp_path):
    tree = checkout(tmp_path, **{name: text for name, (text, _) in BROKEN.items()}, **trees.PROGRAMS)
    script = tree / "scripts/baking/profile.py"
    script.write_text(re.sub(r"^LIMIT_SECONDS = \d+$", "LIMIT_SECONDS = 1", script.read_text(), flags=re.MULTILINE))
    old = trees.record(tree, "tiny/alone", output=["old"])
    for name in BROKEN:
        records.write(records.record_path("cpu", "program", f"tiny/{name}", baked(tree)), old)
    before = trees.snapshot(baked(tree))
    done = bake(tree, *TINY)
    assert done.returncode == 1, done.stderr
    assert {name: data for name, data in trees.snapshot(baked(tree)).items() if name in before} == before
    assert all(found(tree, name)["output"] != ["old"] for name in trees.PROGRAMS)
    listed = done.stdout.partition(f"{len(BROKEN)} of {len(BROKEN) + 3} failed; their records are as they were:\n")[2]
    for name, (_, reason) in BROKEN.items():
        assert re.search(rf"^  tiny/{name}: [^#]*?{re.escape(reason)}", listed, re.MULTILINE), (name, listed)
    assert set(json.loads(journal(tree).read_text())) == {f"tiny/{name}" for name in trees.PROGRAMS}


def test_only_what_is_stale_or_missing_is_done_where_that_is_asked_for(tree):
    assert bake(tree, *TINY).returncode == 0
    before = {path.stem: path.read_bytes() for path, _ in records.all_records("cpu", baked(tree))}
    trees.lay(tree, "tiny/times", hash="of other code")
    records.record_path("cpu", "program", "tiny/alone", baked(tree)).unlink()
    done = bake(tree, *TINY, "--stale")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "done: 2 records of cpu"
    assert "tiny/plus" not in done.stdout and names(tree) == list(before)
    assert records.record_path("cpu", "program", "tiny/plus", baked(tree)).read_bytes() == before["plus"]
    assert bake(tree, *TINY, "--stale").stdout.splitlines()[-1] == "done: 0 records of cpu"


MEETS = """# needs: cuda
import pathlib, sys, time
here = pathlib.Path({folder!r})
(here / {mine!r}).touch()
began = time.monotonic()
while not (here / {other!r}).exists():
    if time.monotonic() - began > 20:
        sys.exit('alone')
    time.sleep(0.05)
"""


def test_on_a_gpu_programs_that_measure_nothing_run_side_by_side(tmp_path):
    tree = checkout(
        tmp_path / "tree",
        one=MEETS.format(folder=str(tmp_path), mine="a", other="b"),
        two=MEETS.format(folder=str(tmp_path), mine="b", other="a"),
    )
    done = bake(tree, "--only", "tiny/*", A_GPU=A_GPU)
    assert done.returncode == 0, done.stdout + done.stderr


def gated(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The files of tests that a bake's gate ran."""
    return set(re.findall(r"\] (test_\w+) \.\.\. ", done.stdout))


def test_a_passed_gate_is_not_run_again_until_its_tests_or_what_they_cover_change(tree):
    assert gated(bake(tree, *TINY)) == {"test_plus", "test_times"}
    again = bake(tree, *TINY)
    assert gated(again) == set() and "gate: 2 of 2 files of tests passed here before, of today's code" in again.stdout
    trees.put(tree, {"kernels/checks.py": trees.LIBRARY["checks"].replace("3", "30")})
    assert gated(bake(tree, *TINY)) == {"test_plus"}
    trees.put(tree, {"tests/kernels/test_times.py": f"{trees.GREEN}    assert True\n"})
    assert gated(bake(tree, *TINY)) == {"test_times"}
    trees.put(tree, {"stubs/triton.py": "__version__ = '6.8'\n"})
    assert gated(bake(tree, *TINY)) == {"test_plus", "test_times"}


def test_the_gate_runs_only_what_covers_the_work(tree):
    assert gated(bake(tree, "--cpu", "--only", "tiny/times")) == {"test_times"}
    assert gated(bake(tree, "--cpu", "--only", "tiny/alone")) == set()


@pytest.mark.parametrize("gib", ["12", "80"])
def test_a_file_of_tests_that_lacked_memory_beside_others_is_run_once_more_alone(tree, tmp_path, gib):
    """On a small card, too, where each file has one worker and four files still share the memory."""
    ran = f"marker = __import__('pathlib').Path({str(tmp_path / 'ran')!r})\n\n\n"
    text = ran + "def test_it():\n    is_first = not marker.exists()\n    marker.touch()\n    assert not is_first, '{}'\n"
    trees.put(tree, {"tests/kernels/test_plus.py": text.format("Triton Error [CUDA]: out of memory")})
    assert bake(tree, "--only", "tiny/plus", A_GPU=A_GPU, GIB=gib).returncode == 0
    (tmp_path / "ran").unlink()
    trees.put(tree, {"tests/kernels/test_plus.py": text.format("wrong")})
    assert bake(tree, "--only", "tiny/plus", A_GPU=A_GPU, GIB=gib).returncode == 1


def test_a_gate_that_passed_elsewhere_is_run_here(tree):
    assert gated(bake(tree, "--only", "tiny/times", A_GPU=A_GPU)) == {"test_times"}
    assert gated(bake(tree, "--only", "tiny/times", A_GPU="Test GPU 2")) == {"test_times"}


def test_a_plan_runs_nothing_and_says_what_would_run(tree):
    trees.lay(tree, "tiny/plus", seconds=90.0)
    before = trees.snapshot(tree)
    planned = bake(tree, *TINY, "--plan", NO_TORCH="1")
    assert planned.returncode == 0, planned.stderr
    assert "gate: 2 of 2 files of tests" in planned.stdout and "tiny" in planned.stdout
    assert re.search(r"in all 3 records, about \d+ (s|min) on 1 x cpu", planned.stdout)
    assert trees.snapshot(tree) == before


def test_a_program_runs_as_it_is_published(tree):
    text = "from kernels.plus import plus\n\nprint(plus.__module__, __file__.count('plus.py'))\n"
    trees.put(tree, {"snippets/tiny/plus.py": text})
    assert bake(tree, *TINY).returncode == 0
    assert found(tree, "plus")["output"] == ["__main__ 1"]


SMI = """#!/bin/sh
case "$*" in *--loop-ms*) while :; do echo "1755, 3201, 512.25, 48"; echo "1980, 3201, 700.00, 61"; sleep 0.05; done;; esac
echo '580.1, 700.00, 1980, 3201'
"""


def test_clocks_power_and_temperature_are_sampled_while_something_is_measured(tmp_path):
    tree = checkout(tmp_path, timed=MEASURES, printed="# needs: cuda\nprint(1)\n")
    trees.put(tree, {"kernels/tools/benchmark.py": STUB, "stubs/bin/nvidia-smi": SMI})
    assert bake(tree, "--only", "tiny/*", A_GPU=A_GPU).returncode == 0
    during = found(tree, "timed", "test-gpu-1-pcie")["during"]
    assert during["samples"] >= 2 and during["sm_clock_mhz"][0] == 1755 and during["sm_clock_mhz"][2] == 1980
    assert during["power_w"][2] == 700.0 and during["temperature_c"] == [48.0, during["temperature_c"][1], 61.0]
    assert "during" not in found(tree, "printed", "test-gpu-1-pcie")


def test_counters_that_cannot_be_read_fail_their_program_alone(tmp_path):
    tree = checkout(tmp_path, watched=WATCHED, alone=trees.PROGRAMS["alone"])
    trees.put(tree, {"stubs/bin/ncu": "#!/bin/sh\necho 'no permission'\nexit 1\n"})
    done = bake(tree, "--only", "tiny/*", A_GPU=A_GPU)
    assert done.returncode == 1 and "tiny/watched: ncu ended with status 1\nno permission" in done.stdout
    assert names(tree, "test-gpu-1-pcie") == ["alone"]


ALSO = """#!/bin/sh
unknown=sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active
case "$*" in *hmma*) echo "==ERROR== Failed to find metric $unknown"; exit 1;; esac
base='"Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum","launch__registers_per_thread","gpu__time_duration.sum"'
tensor=sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active
wait=smsp__average_warps_issue_stalled_wait_per_issue_active.ratio
barrier=smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio
echo "$base,lts__t_bytes.sum,lts__t_sector_hit_rate.pct,$tensor,$wait,$barrier"
echo '"","byte","byte","register/thread","ns","byte","%","%","inst","inst"'
echo '"plus_kernel","1,024","512","32","2,500","4,096","n/a","61.257","0.5","2.25"'
"""


def test_more_is_counted_where_a_program_asks_for_it_and_what_is_not_known_is_left_out(tmp_path):
    tree = checkout(tmp_path, watched=WATCHED.replace("# counters: one two", "# counters: one\n# counters-also: everything"))
    trees.put(tree, {"stubs/bin/ncu": ALSO})
    done = bake(tree, "--only", "tiny/*", A_GPU=A_GPU)
    assert done.returncode == 0, done.stdout + done.stderr
    (entry,) = found(tree, "watched", "test-gpu-1-pcie")["counters"]
    assert entry["dram_read_bytes"] == 1024 and entry["ms"] == 0.0025
    assert (entry["l2_bytes"], entry["tensor_percent"]) == (4096.0, 61.26) and "l2_hit_percent" not in entry
    assert list(entry["stalls"].items()) == [("barrier", 2.25), ("wait", 0.5)]


MEASURES = """# needs: cuda
import os, time
from kernels.tools.benchmark import keep

began = time.time()
time.sleep(0.4)
keep(figures={"gpu": os.environ["CUDA_VISIBLE_DEVICES"], "began": began, "ended": time.time()})
"""


STUB = """import json, os


def keep(**contents):
    with open(os.environ["BLOCKWISE_RECORD"], "w") as file:
        json.dump(contents, file)
"""


def replayed(program: str) -> str:
    """A program that times by replays alone."""
    return program.replace("benchmark import keep", "drawn import finish").replace("keep(", "finish(")


DRAWN = {"kernels/tools/benchmark.py": STUB, "kernels/tools/drawn.py": "from kernels.tools.benchmark import keep\n\n\n"}
DRAWN["kernels/tools/drawn.py"] += "def finish(**contents):\n    keep(**contents)\n"


@pytest.fixture
def few_cores():
    """As on a host with too few cores for two that time calls."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[:2])
    yield
    os.sched_setaffinity(0, cores)


def test_what_times_calls_has_the_machine_to_itself(tmp_path, few_cores):
    programs = {f"timed_{letter}": MEASURES for letter in "ab"} | {f"drawn_{letter}": replayed(MEASURES) for letter in "ab"}
    tree = checkout(tmp_path, **programs)
    trees.put(tree, DRAWN)
    done = bake(tree, "--only", "tiny/*", A_GPU=A_GPU, CUDA_VISIBLE_DEVICES="0,3")
    assert done.returncode == 0, done.stdout + done.stderr
    runs = {name: found(tree, name, "test-gpu-1-pcie")["figures"] for name in programs}
    first, second = sorted((runs[name]["began"], runs[name]["ended"]) for name in ("timed_a", "timed_b"))
    assert max(runs[name]["ended"] for name in ("drawn_a", "drawn_b")) <= first[0] and first[1] <= second[0]


def test_what_times_calls_runs_on_each_gpu_that_has_cores_enough_of_its_own():
    assert shares_of([*range(64)], ["0", "3"]) == {"0": [*range(32)], "3": [*range(32, 64)]}
    assert shares_of([*range(15)], ["0", "3"]) == {"0": [*range(15)]}
    cores, ran = sorted(os.sched_getaffinity(0)), []
    shares = {"0": cores[:1], "3": cores[-1:]}
    together = threading.Barrier(2, timeout=20)

    def on_its_cores(item: str, gpu: str) -> None:
        together.wait()
        told = "import os; print(*os.sched_getaffinity(0))"
        ran.append((gpu, subprocess.run([sys.executable, "-c", told], capture_output=True, text=True).stdout.split()))

    apart(["a", "b", "c", "d"], shares, on_its_cores)
    assert sorted(ran) == [(gpu, [str(share[0])]) for gpu, share in sorted(shares.items()) for _ in range(2)]
    assert sorted(os.sched_getaffinity(0)) == cores


def test_several_patterns_are_taken_together(tree):
    assert bake(tree, "--cpu", "--only", "tiny/p*", "tiny/times").returncode == 0
    assert names(tree) == ["plus", "times"]


def test_what_is_replayed_has_a_gpu_to_itself(tmp_path):
    tree = checkout(tmp_path, **{f"timed_{letter}": replayed(MEASURES) for letter in "abcd"})
    trees.put(tree, DRAWN)
    assert bake(tree, "--only", "tiny/*", A_GPU=A_GPU, CUDA_VISIBLE_DEVICES="0,3").returncode == 0
    runs = [found(tree, f"timed_{letter}", "test-gpu-1-pcie")["figures"] for letter in "abcd"]
    assert {run["gpu"] for run in runs} == {"0", "3"}
    for gpu in ("0", "3"):
        mine = sorted((run["began"], run["ended"]) for run in runs if run["gpu"] == gpu)
        assert all(ended <= began for (_, ended), (began, _) in zip(mine, mine[1:], strict=False))


LOOKS = """# needs: cuda
import pathlib, sys, time
began = time.monotonic()
while not list(pathlib.Path({folder!r}).glob('done*')):
    if time.monotonic() - began > 20:
        sys.exit('nobody measured meanwhile')
    time.sleep(0.05)
"""


def test_a_gpu_goes_on_to_what_is_replayed_while_another_is_busy(tmp_path):
    timed = replayed(MEASURES) + f"open({str(tmp_path / 'done')!r}, 'w').close()\n"
    tree = checkout(tmp_path / "tree", slow=LOOKS.format(folder=str(tmp_path)), timed=timed)
    trees.put(tree, DRAWN)
    done = bake(tree, "--only", "tiny/*", A_GPU=A_GPU, CUDA_VISIBLE_DEVICES="0,3")
    assert done.returncode == 0, done.stdout + done.stderr


KEPT = """import json, os, sys
if {refuses!r} in sys.argv:
    print("needs: triton>=9.9 for its sanitizers")
    sys.exit(2)
gpu = os.environ["CUDA_VISIBLE_DEVICES"]
json.dump({{"asked": sys.argv[1:-1], "gpu": gpu}}, open(sys.argv[-1], "w"))
"""


def test_broken_kernels_and_changed_ones_are_asked_on_the_gpu(tmp_path):
    tree, machine = checkout(tmp_path / "tree"), "test-gpu-1-pcie"
    trees.put(tree, {"snippets/gallery/odd.py": "", "snippets/gallery/refused.py": "", "kernels/tiny/gluon.py": ""})
    trees.put(tree, {"tests/kernels/test_tiny_gluon.py": trees.GREEN, "tests/interpreter.py": ""})
    trees.put(tree, {"scripts/recording/stand_in_run.py": ""})  # it reaches more of the library than is here
    trees.put(tree, {f"scripts/{script}.py": KEPT.format(refuses="refused") for script in ("gallery", "mutate")})
    trees.put(tmp_path, {"lent/triton.py": "__version__ = '9.9'\n"})
    done = bake(tree, "--only", "[nm]*/*", "--triton", str(tmp_path / "lent"), A_GPU=A_GPU, CUDA_VISIBLE_DEVICES="3")
    assert done.returncode == 0 and "\n  noticed/refused: needs: triton>=9.9" in done.stdout, done.stdout + done.stderr
    said = records.read(records.record_path(machine, "gallery", "odd", baked(tree)))
    assert said["cells"] == {"asked": ["odd", "--triton", str(tmp_path / "lent"), "--keep"], "gpu": "3"}
    score = records.read(records.record_path(machine, "mutants", "tiny_gluon", baked(tree)))
    assert score["asked"][0] == "tiny_gluon" and score["gpu"] == "3"
    assert not records.record_path(machine, "gallery", "refused", baked(tree)).exists()
    assert bake(tree, "--only", "[nm]*/*", "--stale", A_GPU=A_GPU).stdout.splitlines()[-1] == "done: 0 records of test-gpu-1-pcie"


def test_what_is_timed_with_a_lent_triton_has_a_folder_of_its_own(tmp_path):
    tree, machine = checkout(tmp_path / "tree"), "test-gpu-1-pcie"
    told = "# needs: cuda\nimport os, triton\nprint(triton.__version__, os.environ['BLOCKWISE_TRITON'])\n"
    trees.put(tree, {"snippets/versions/timed.py": told, "snippets/versions/other.py": told})
    trees.put(tmp_path, {"lent/triton.py": "__version__ = '9.9'\n"})
    asked = ("--only", "versions/*", "--triton", str(tmp_path / "lent"), "--stale", "--pack", str(tmp_path / "made.tgz"))
    done = bake(tree, *asked, A_GPU=A_GPU)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "packed 3 records into made.tgz", done.stdout + done.stderr
    for place, version in ((machine, "6.7"), (f"{machine}-triton-9.9", "9.9")):
        record = records.read(records.record_path(place, "program", "versions/timed", baked(tree)))
        assert record["output"] == [f"{version} {tmp_path / 'lent'}"]
        assert [record["environment"][key] for key in ("machine", "triton")] == [place, version]
    other = checkout(tmp_path / "other")
    trees.put(other, {"snippets/versions/timed.py": told, "snippets/versions/other.py": told})
    for archive in ("made.tgz", "made-triton-9.9.tgz"):
        assert bake(other, "--unpack", str(tmp_path / archive)).returncode == 0
    assert trees.snapshot(baked(other)) == trees.snapshot(baked(tree))
    assert bake(tree, *asked, A_GPU=A_GPU).stdout.splitlines()[-1] == "packed nothing, for nothing was made"
    refused = bake(tree, "--only", "versions/*", "--triton", str(tmp_path), A_GPU=A_GPU)
    assert refused.returncode == 2 and "there is no Triton in this folder" in refused.stderr


CHECKED = f"# needs: cuda\n# sanitizer: memcheck{{}}\n{INTERPRETED}"


def test_what_the_sanitizer_finds_is_kept_without_what_varies(tmp_path):
    tree = checkout(tmp_path, whole=CHECKED.format(""), part=CHECKED.format(" fault"), clean=CHECKED.format(" clean"))
    done = bake(tree, "--only", "tiny/*", A_GPU=A_GPU)
    assert done.returncode == 0, done.stdout + done.stderr
    found_in = {name: found(tree, name, "test-gpu-1-pcie")["sanitizer"] for name in ("whole", "part", "clean")}
    assert found_in["part"] == {
        "tool": "memcheck",
        "part": "fault",
        "errors": 24,
        "output": [
            "========= COMPUTE-SANITIZER",
            "========= Invalid __global__ read of size 4 bytes",
            "=========     at plus_kernel+0x90 in plus.py:12",
            "=========     Access at 0x... is out of bounds",
            "=========     and is 1 bytes after the nearest allocation at 0x... of size 4,000 bytes",
            "========= Target process: ...",
            "========= ERROR SUMMARY: 24 errors",
            "========= ERROR SUMMARY: 22 errors were not printed.",
        ],
    }
    assert found_in["whole"] == found_in["part"] | {"part": ""}
    assert (found_in["clean"]["errors"], found_in["clean"]["output"][1:]) == (0, ["========= ERROR SUMMARY: 0 errors"])


def test_the_sanitizer_runs_the_program_with_allocations_of_its_own(tmp_path):
    tree = checkout(tmp_path, checked=CHECKED.format(" fault"))
    said = '#!/bin/sh\nfor last; do :; done\necho "========= $1 $2, part $last, caching off: $PYTORCH_NO_CUDA_MEMORY_CACHING"\n'
    said += "echo '========= ERROR SUMMARY: 0 errors'\n"
    trees.put(tree, {"stubs/bin/compute-sanitizer": said})
    assert bake(tree, "--only", "tiny/*", A_GPU=A_GPU).returncode == 0
    line = found(tree, "checked", "test-gpu-1-pcie")["sanitizer"]["output"][0]
    assert line == "========= --tool memcheck, part fault, caching off: 1"


def test_without_a_gpu_no_sanitizer_is_asked_for(tmp_path):
    tree = checkout(tmp_path, checked="# sanitizer: memcheck\nprint('x')\n")
    assert bake(tree, *TINY).returncode == 0 and "sanitizer" not in found(tree, "checked")


RACY = """#!/bin/sh
case "$*" in
*racecheck*) echo '========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)';;
*initcheck*) echo '========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)';;
*) echo '========= ERROR SUMMARY: 1 error';;
esac
"""


def test_several_sanitizers_are_asked_one_after_another(tmp_path):
    tree = checkout(tmp_path, checked=f"# needs: cuda\n# sanitizers: memcheck racecheck initcheck\n{INTERPRETED}")
    trees.put(tree, {"stubs/bin/compute-sanitizer": RACY})
    assert bake(tree, "--only", "tiny/*", A_GPU=A_GPU).returncode == 0
    kept = found(tree, "checked", "test-gpu-1-pcie")["sanitizers"]
    assert [(entry["tool"], entry["errors"]) for entry in kept] == [("memcheck", 1), ("racecheck", 2), ("initcheck", 0)]


UNCHECKED = {
    "no result": (" broken", "compute-sanitizer told no result"),
    "a program that fails for another reason": (" raises", "ended with status 1 under compute-sanitizer"),
    "an unknown tool": ("", "no tool 'memchek' of Compute Sanitizer is known here, only memcheck, racecheck"),
}


@pytest.mark.parametrize("part, reason", UNCHECKED.values(), ids=UNCHECKED)
def test_a_sanitizer_that_says_nothing_fails_its_program_alone(tmp_path, part, reason):
    text = CHECKED.format(part) if part else CHECKED.format("").replace("memcheck", "memchek")
    tree = checkout(tmp_path, checked=text, alone=trees.PROGRAMS["alone"])
    done = bake(tree, "--only", "tiny/*", A_GPU=A_GPU)
    assert done.returncode == 1 and f"tiny/checked: {reason}" in done.stdout
    assert names(tree, "test-gpu-1-pcie") == ["alone"]


def test_a_machine_without_the_sanitizer_says_so(tmp_path):
    tree = checkout(tmp_path, checked=CHECKED.format(""))
    (tree / "stubs/bin/compute-sanitizer").unlink()
    done = bake(tree, "--only", "tiny/*", A_GPU=A_GPU, PATH=str(tree / "stubs/bin"))
    assert done.returncode == 1
    assert "tiny/checked: Compute Sanitizer (compute-sanitizer) is not on the PATH" in done.stdout


def test_a_full_disk_fails_what_does_not_fit_and_loses_nothing(tmp_path):
    tree = checkout(tmp_path, long="print('x' * 200_000)\n", short="print('x')\n")
    old = trees.lay(tree, "tiny/long", output=["old"]).read_bytes()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(**trees.command(tree, *TINY), capture_output=True, preexec_fn=limit)
    assert done.returncode == 1 and done.stderr == ""
    assert "long.json: could not be written (File too large); what stood there before is untouched" in done.stdout
    assert names(tree) == ["long", "short"] and (baked(tree) / "cpu/tiny/long.json").read_bytes() == old
    assert not list(tree.rglob("*.part"))


# Interrupted

SLEEPS = "import time\ntime.sleep(0.2)\n"
WAITS = "import os, time\nwhile not os.path.exists({!r}):\n    time.sleep(0.01)\n"
FIVE = [f"program_{letter}" for letter in "abcde"]


def started(tree: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(**trees.command(tree, *TINY), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def kill(process: subprocess.Popen[str]) -> str:
    """Kill a bake and all that it started, and return what it had said."""
    os.killpg(process.pid, signal.SIGKILL)
    return process.communicate()[0]


def states(tree: Path, old: dict[str, bytes]) -> dict[str, str]:
    """For each program: is its record the old one, or a whole new one?"""
    found = {}
    for name in FIVE:
        path = baked(tree) / f"cpu/tiny/{name}.json"
        fresh = path.read_bytes() != old[name] and sources.is_fresh(records.read(path), Code(tree))
        found[name] = "new" if fresh else "old"
        assert fresh or path.read_bytes() == old[name]
    return found


def test_killed_at_any_moment_a_bake_loses_nothing_and_the_next_finishes_the_rest(tmp_path):
    go = tmp_path / "go"
    tree = checkout(tmp_path, **dict.fromkeys(FIVE, SLEEPS) | {FIVE[-1]: WAITS.format(str(go))})
    old = {name: trees.lay(tree, f"tiny/{name}", hash="of other code", output=["old"]).read_bytes() for name in FIVE}
    moments = random.Random(0)
    now = dict.fromkeys(FIVE, "old")
    for line in ("", "1/5", "", "3/5", "4/5"):
        process = started(tree)
        while line and line not in process.stdout.readline():
            assert process.poll() is None
        time.sleep(moments.uniform(0, 0.2))
        kill(process)
        before, now = now, states(tree, old)
        assert all(now[name] == "new" for name in FIVE if before[name] == "new")
    new = [name for name in FIVE if now[name] == "new"]
    assert len(new) >= 3 and FIVE[-1] not in new
    go.touch()
    done = bake(tree, *TINY)
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(states(tree, old).values()) == {"new"}
    # A bake that was killed between a record and the journal's entry for it repeats that one.
    kept = re.findall(r"tiny/(\w+) \.\.\. done before the interruption", done.stdout)
    assert len(set(new) - set(kept)) <= 1 and set(kept) <= set(new)
    assert done.stdout.splitlines()[-1] == "done: 5 records of cpu"
    assert not journal(tree).exists() and not list(baked(tree).rglob(".*"))


def test_what_would_take_too_long_is_left_for_the_next_time(tree):
    trees.lay(tree, "tiny/times", seconds=90.0, hash="of other code")
    done = bake(tree, *TINY, "--stale", "--minutes", "1")
    assert done.returncode == 1 and done.stdout.endswith("1 of 3 are left for the next time:\n  tiny/times\n")
    assert found(tree, "times")["seconds"] == 90.0 and sources.is_fresh(found(tree, "plus"), Code(tree))
    assert bake(tree, *TINY, "--stale").stdout.splitlines()[-1] == "done: 1 records of cpu"


def test_a_killed_bake_leaves_an_archive_of_what_it_has_made(tmp_path):
    tree = checkout(tmp_path / "tree", quick="print('quick')\n", slow=WAITS.format(str(tmp_path / "never")))
    script = tree / "scripts/bake.py"
    script.write_text(script.read_text().replace("PACKED_EVERY = 30.0", "PACKED_EVERY = 0.0"))
    process = subprocess.Popen(
        **trees.command(tree, *TINY, "--pack", str(tmp_path / "made.tgz")), stdout=subprocess.PIPE, start_new_session=True
    )
    began = time.monotonic()
    while not (tmp_path / "made.tgz").exists():
        assert process.poll() is None and time.monotonic() - began < 60
        time.sleep(0.05)
    kill(process)
    other = checkout(tmp_path / "other", quick="print('quick')\n", slow="")
    assert bake(other, "--unpack", str(tmp_path / "made.tgz")).returncode == 0
    assert names(other) == ["quick"]


def test_what_was_done_before_the_interruption_is_done_again_after_a_change(tmp_path):
    tree = checkout(tmp_path, **trees.PROGRAMS, broken="raise ValueError\n")
    assert bake(tree, *TINY).returncode == 1
    trees.put(tree, {"kernels/checks.py": trees.LIBRARY["checks"].replace("3", "30"), "snippets/tiny/broken.py": ""})
    (baked(tree) / "cpu/tiny/times.json").unlink()
    done = bake(tree, *TINY)
    assert done.returncode == 0
    assert re.findall(r"tiny/(\w+) \.\.\. done before", done.stdout) == ["alone"]
    assert names(tree) == ["alone", "broken", "plus", "times"] and not journal(tree).exists()


def test_what_a_killed_bake_left_behind_is_removed(tree):
    trees.put(baked(tree), {"cpu/tiny/.abc.part": "{", "other-gpu/tiny/.abc.part": "{"})
    assert bake(tree, *TINY).returncode == 0
    assert [path.relative_to(tree).as_posix() for path in tree.rglob("*.part")] == ["docs/baked/other-gpu/tiny/.abc.part"]
