"""kernels.matmul.search: what is tried, what is kept where, and what an interruption or a broken file costs."""

import json
import multiprocessing
import os
from pathlib import Path

import pytest
import torch
import triton

from kernels.matmul import search as module
from kernels.matmul.autotune_cache import cache_folder, search_file, search_key
from kernels.matmul.plan import MatmulPlan, choose_plan, matmul_plan
from kernels.matmul.search import matmul_search, search_candidates
from tests.kernels.matmul_numerics import assert_matmul
from tests.kernels.numerics import random
from tests.needs import needs

SMALL = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "GROUP_M": 2, "num_warps": 4, "num_stages": 2}
SIZES = [("tiled", SMALL), *(("tiled", SMALL | {"BLOCK_N": size}) for size in (32, 64, 128))]


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("BLOCKWISE_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(module, "found_plans", {})
    return tmp_path / "kept"


class FakeTimer:
    """A clock for machines without one: it calls, and says the times it was given, in turn."""

    def __init__(self, *times):
        self.times, self.calls = times, 0

    def __call__(self, call) -> float:
        call()
        self.calls += 1
        time = self.times[(self.calls - 1) % len(self.times)]
        if isinstance(time, BaseException):
            raise time
        return time


@pytest.fixture
def timed(monkeypatch):
    """Search with four small candidates and a fake clock; returns the function that sets its times."""

    def set_times(*times) -> FakeTimer:
        timer = FakeTimer(*times)
        monkeypatch.setattr(module, "search_ms", timer)
        return timer

    monkeypatch.setattr(module, "can_time", lambda matrix: True)
    monkeypatch.setattr(module, "search_candidates", lambda a, b: SIZES)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device=None: "Some GPU")
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device=None: None)
    set_times(4.0, 3.0, 1.0, 2.0)
    return set_times


def product(device: str, m: int = 20, n: int = 30, k: int = 24, dtype=torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    return random(m, k, dtype=dtype, device=device), random(k, n, dtype=dtype, device=device, seed=1)


def forget() -> None:
    """What a new process knows."""
    module.found_plans.clear()


def kept_file(folder):
    (path,) = folder.iterdir()
    return path


def test_the_fastest_is_chosen_and_says_why(timed, device):
    plan = matmul_search(*product(device))
    assert (plan.kernel, plan.configuration, plan.copies) == ("tiled", SIZES[2][1], (False, False))
    assert plan.reason == "The fastest of 4 configurations that were tried on this GPU; 0 failed."


def test_a_second_call_tries_nothing_and_reads_nothing(timed, device, own_folder, monkeypatch):
    timer = timed(4.0, 3.0, 1.0, 2.0)
    a, b = product(device)
    plan = matmul_search(a, b)
    kept_file(own_folder).unlink()
    monkeypatch.setattr(module, "read_tried", lambda *_: pytest.fail("a hit reads no file"))
    assert matmul_search(a, b) is plan
    assert matmul_search(*product(device)) is plan
    assert timer.calls == 4


def test_another_process_reads_what_is_kept(timed, device):
    plan = matmul_search(*product(device))
    forget()
    timer = timed(9.0)
    assert matmul_search(*product(device)) == plan
    assert timer.calls == 0


def test_the_file_says_what_was_tried(timed, device, own_folder):
    a, b = product(device)
    matmul_search(a, b)
    path = kept_file(own_folder)
    assert path == search_file(search_key(a, b)) and path.name.startswith("matmul-20x30x24-float32-")
    kept = json.loads(path.read_text())
    assert kept["key"]["gpu"] == "Some GPU" and kept["key"]["triton"] == triton.__version__
    assert [(entry["kernel"], entry["configuration"]) for entry in kept["tried"]] == SIZES
    assert [entry["ms"] for entry in kept["tried"]] == [4.0, 3.0, 1.0, 2.0]


def test_an_interrupted_search_keeps_what_it_has(timed, device, own_folder):
    a, b = product(device)
    timed(4.0, 3.0, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        matmul_search(a, b)
    assert [entry["ms"] for entry in json.loads(kept_file(own_folder).read_text())["tried"]] == [4.0, 3.0]
    forget()
    timer = timed(3.5, 2.5)
    assert matmul_search(a, b).configuration == SIZES[3][1]
    assert timer.calls == 2


def test_an_interruption_while_writing_leaves_the_file_as_it_was(timed, device, own_folder, monkeypatch):
    a, b = product(device)
    replace, calls = os.replace, []

    def interrupted(source, target):
        calls.extend([target] if own_folder in Path(target).parents else [])  # Triton's cache renames files as well
        if len(calls) == 3:
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        matmul_search(a, b)
    assert [entry["ms"] for entry in json.loads(kept_file(own_folder).read_text())["tried"]] == [4.0, 3.0]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"key": {}, "tried": []}', '{"tried": 3}', "\x00\x01", '{"key": null, "tried": [1]}'],
)
def test_a_broken_file_is_written_anew(timed, device, own_folder, text):
    a, b = product(device)
    matmul_search(a, b)
    path = kept_file(own_folder)
    path.write_text(text)
    forget()
    timer = timed(1.0, 2.0, 3.0, 4.0)
    assert matmul_search(a, b).configuration == SIZES[0][1]
    assert timer.calls == 4 and len(json.loads(path.read_text())["tried"]) == 4


@pytest.mark.parametrize("tried", [[1], [{}], [{"kernel": "tiled"}], {"a": 1}, None, "text"])
def test_entries_that_say_nothing_are_left_out(timed, device, own_folder, tried):
    a, b = product(device)
    matmul_search(a, b)
    path = kept_file(own_folder)
    path.write_text(json.dumps({"key": json.loads(path.read_text())["key"], "tried": tried}))
    forget()
    timer = timed(1.0, 2.0, 3.0, 4.0)
    matmul_search(a, b)
    assert timer.calls == 4


def test_a_file_that_is_no_text_is_written_anew(timed, device, own_folder):
    a, b = product(device)
    matmul_search(a, b)
    kept_file(own_folder).write_bytes(b"\xff\xfe\xfd")
    forget()
    timer = timed(1.0, 2.0, 3.0, 4.0)
    matmul_search(a, b)
    assert timer.calls == 4


def test_a_configuration_that_is_no_candidate_any_more_is_not_chosen(timed, device, own_folder):
    a, b = product(device)
    matmul_search(a, b)
    path = kept_file(own_folder)
    kept = json.loads(path.read_text())
    kept["tried"].append({"kernel": "gone", "configuration": {"BLOCK": 1}, "ms": 0.001})
    path.write_text(json.dumps(kept))
    forget()
    timer = timed(9.0)
    assert matmul_search(a, b).configuration == SIZES[2][1]
    assert timer.calls == 0


def test_what_fails_has_a_reason_and_is_not_chosen(timed, device, own_folder):
    from triton.runtime.errors import OutOfResources

    timed(OutOfResources(300000, 232448, "shared memory"), 3.0, RuntimeError("first\nPassManager::run failed"), 5.0)
    plan = matmul_search(*product(device))
    assert plan.configuration == SIZES[1][1] and plan.reason.endswith("tried on this GPU; 2 failed.")
    failures = [entry.get("failure", "") for entry in json.loads(kept_file(own_folder).read_text())["tried"]]
    assert failures[0].startswith("OutOfResources: ") and "shared memory" in failures[0]
    assert failures[2] == "RuntimeError: PassManager::run failed" and not failures[1] and not failures[3]


def test_a_wrong_result_is_not_chosen(timed, device, own_folder, monkeypatch):
    right = module.MATMUL_KERNELS["tiled"]

    def wrong(a, b, c, finish, precision, configuration):
        launch = right(a, b, c, finish, precision, configuration)

        def launch_and_spoil(a, b, c, finish):
            launch(a, b, c, finish)
            if configuration["BLOCK_N"] == 32:  # not the shipped one, which says what is right
                c[-1, -1] += 5

        return launch_and_spoil

    monkeypatch.setitem(module.MATMUL_KERNELS, "tiled", wrong)
    timed(4.0, 3.0, 2.0)  # the second candidate is not timed
    assert matmul_search(*product(device)).configuration == SIZES[3][1]
    assert json.loads(kept_file(own_folder).read_text())["tried"][1]["failure"] == "another result"


def test_infinities_and_nan_are_no_wrong_result(timed, device):
    a, b = product(device)
    a[0, 0], a[3, 1] = torch.inf, torch.nan
    assert matmul_search(a, b).reason.endswith("; 0 failed.")


def test_where_all_fail_the_shipped_plan_stays(timed, device):
    timed(RuntimeError("no"))
    a, b = product(device)
    assert matmul_search(a, b) == matmul_plan(a, b)


def test_an_error_of_the_gpu_ends_the_search(timed, device, monkeypatch):
    def broken(device=None):
        raise RuntimeError("an illegal memory access was encountered")

    monkeypatch.setattr(torch.cuda, "synchronize", broken)
    timed(4.0, RuntimeError("launch failed"))
    with pytest.raises(RuntimeError, match="illegal memory access"):
        matmul_search(*product(device))


def test_the_key_holds_all_that_the_choice_may_depend_on(timed, device, own_folder, monkeypatch):
    a, b = product(device)
    half = product(device, dtype=torch.float16)
    cases = [(a, b), half, product(device, n=31), product(device, m=21), (a.t().contiguous().t(), b), (a, b.t().contiguous().t())]
    cases += [(torch.stack((a, a), -1)[..., 0], b)]
    for number, case in enumerate(cases, 1):
        matmul_search(*case)
        assert len(list(own_folder.iterdir())) == number
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device=None: "Another GPU")
    forget()
    matmul_search(a, b)
    monkeypatch.setattr(triton, "__version__", "99.0")
    forget()
    matmul_search(a, b)
    assert len(list(own_folder.iterdir())) == len(cases) + 2


def test_the_kind_of_products_is_in_the_key(timed, device, own_folder):
    a, b = product(device)
    before = torch.backends.cuda.matmul.fp32_precision
    try:
        for precision in ("ieee", "tf32"):
            torch.backends.cuda.matmul.fp32_precision = precision
            matmul_search(a, b)
    finally:
        torch.backends.cuda.matmul.fp32_precision = before
    assert sorted(json.loads(path.read_text())["key"]["products"] for path in own_folder.iterdir()) == ["ieee", "tf32"]


def test_unaligned_matrices_are_tried_as_they_will_be_multiplied(timed, device, monkeypatch):
    a, b = product(device)
    monkeypatch.setattr(module, "matmul_plan", lambda a, b: MatmulPlan("tiled", SMALL, "why", (True, False)))
    seen = []
    right = module.MATMUL_KERNELS["tiled"]
    monkeypatch.setitem(module.MATMUL_KERNELS, "tiled", lambda a, *rest: (seen.append(a.stride(0)), right(a, *rest))[1])
    assert matmul_search(a[:, :23], b[:23]).copies == (True, False)
    assert set(seen) == {24}


def test_a_folder_that_cannot_be_written_is_said_and_costs_no_result(timed, device, own_folder):
    own_folder.write_text("a file where the folder should be")
    with pytest.warns(UserWarning, match="not kept: .*BLOCKWISE_CACHE"):
        assert matmul_search(*product(device)).configuration == SIZES[2][1]


def test_nothing_is_searched_for_an_empty_product_or_within_a_graph(timed, device, own_folder, monkeypatch):
    timer = timed(1.0)
    matmul_search(*product(device, k=0))
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    a, b = product(device)
    assert matmul_search(a, b) == matmul_plan(a, b)
    assert timer.calls == 0 and not own_folder.exists() and not module.found_plans


def test_the_folder(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "kept"
    monkeypatch.delenv("BLOCKWISE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "blockwise"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "blockwise"


def test_without_a_gpu_nothing_can_be_timed():
    a, b = product("cpu")
    with pytest.raises(ValueError, match="a: expected a CUDA tensor, because a search compares times on a GPU, got one on cpu"):
        matmul_search(a, b)


@pytest.mark.parametrize(
    ("m", "n", "k", "dtype"), [(40, 50, 33, torch.float16), (8, 64, 2048, torch.float16), (40, 50, 24, torch.float32)]
)
def test_every_candidate_gives_the_product(m, n, k, dtype, device):
    a, b = product(device, m, n, k, dtype)
    candidates = search_candidates(a, b)
    assert candidates[0] == (matmul_plan(a, b).kernel, matmul_plan(a, b).configuration)
    assert len({json.dumps(candidate, sort_keys=True) for candidate in candidates}) == len(candidates)
    precision = "ieee" if dtype == torch.float32 else "tf32"
    for kernel, configuration in candidates if device == "cpu" else candidates[:1]:
        c = torch.full((m, n), torch.nan, dtype=dtype, device=device)
        finish = module.Epilogue()
        module.MATMUL_KERNELS[kernel](a, b, c, finish, precision, configuration)(a, b, c, finish)
        assert_matmul(c, a, b)


def test_a_narrow_product_is_offered_other_parts_and_tiles(monkeypatch):
    monkeypatch.setattr(module, "matmul_family", lambda device: ("sm_90", 132))
    a, b = torch.empty(16, 8192, dtype=torch.float16), torch.empty(8192, 8192, dtype=torch.float16)
    shipped = choose_plan(16, 8192, 8192, "half", "rows", "rows", "sm_90", 132)
    monkeypatch.setattr(module, "matmul_plan", lambda a, b: shipped)
    narrow = [configuration for kernel, configuration in search_candidates(a, b) if kernel == "narrow"]
    assert narrow[0] == shipped.configuration
    assert len({configuration["parts"] for configuration in narrow}) > 3
    assert len({configuration["NARROW"] for configuration in narrow}) > 2


def test_a_hopper_gpu_is_offered_the_hopper_kernel(monkeypatch):
    a, b = (torch.empty(4096, 4096, dtype=torch.bfloat16) for _ in range(2))
    kernels_of = [kernel for kernel, _ in search_candidates(a, b)]
    assert "hopper" not in kernels_of
    for name in ("kernels.matmul.search.matmul_family", "kernels.matmul.plan.matmul_family"):
        monkeypatch.setattr(name, lambda device: ("sm_90", 132))
    found = search_candidates(a, b)
    assert [configuration["programs"] for kernel, configuration in found if kernel == "hopper"]
    assert len(found) <= 60
    assert all(configuration["programs"] >= 1 for kernel, configuration in found if kernel == "hopper")
    odd, small = (torch.empty(100, 104, dtype=torch.bfloat16)[:, first:][:, :100] for first in (1, 0))
    assert "hopper" in [kernel for kernel, _ in search_candidates(small, small)]
    assert "hopper" not in [kernel for kernel, _ in search_candidates(odd, small)]


def search_somewhere(folder: str, start) -> None:
    os.environ["BLOCKWISE_CACHE"] = folder
    key = {"m": 1, "n": 1, "k": 1, "dtype": "float32"}
    start.wait()
    for number in range(50):
        module.write_tried(search_file(key), key, [{"kernel": "tiled", "configuration": {}, "ms": float(number)}])


def test_two_processes_leave_a_whole_file(own_folder):
    context = multiprocessing.get_context("fork")
    start = context.Event()
    writers = [context.Process(target=search_somewhere, args=(str(own_folder), start)) for _ in range(2)]
    for writer in writers:
        writer.start()
    start.set()
    key = {"m": 1, "n": 1, "k": 1, "dtype": "float32"}
    while any(writer.is_alive() for writer in writers):
        path = search_file(key)
        assert not path.exists() or json.loads(path.read_text())["key"] == key
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert len(module.read_tried(search_file(key), key)) == 1 and len(list(own_folder.iterdir())) == 1


@needs("cuda")
@pytest.mark.parametrize(("m", "n", "k"), [(1024, 1024, 1024), (16, 4096, 4096), (333, 257, 129)])
def test_a_search_on_the_gpu(m, n, k, own_folder, monkeypatch):
    monkeypatch.setattr(module, "search_candidates", lambda a, b: search_candidates(a, b)[:6])  # each compiles for a second
    a, b = product("cuda", m, n, k, torch.bfloat16)
    plan = matmul_search(a, b)
    tried = json.loads(kept_file(own_folder).read_text())["tried"]
    best = min(entry["ms"] for entry in tried if entry["ms"])
    assert plan.configuration in [entry["configuration"] for entry in tried if entry["ms"] == best]
    c, finish = torch.full((m, n), torch.nan, dtype=a.dtype, device="cuda"), module.Epilogue()
    module.prepare_launch(a, b, c, finish, plan)(a, b, c, finish)
    assert_matmul(c, a, b)
