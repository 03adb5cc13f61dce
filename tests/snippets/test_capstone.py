"""The capstone as it is downloaded: the skeleton fails part by part with a useful word, and the finished version passes."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scripts.pages import capstone
from tests import turns
from tests.docs import pages
from tests.docs.pages import ROOT
from tests.needs import needs

DATA = ROOT / "docs" / "data" / "capstone"
TESTS = sorted(path.name for path in (capstone.AROUND / "tests").glob("test_*.py"))
LIBRARY = ("softmax", "layer_norm", "rms_norm", "dropout")
# What a test of each part of the skeleton says first.
WAITS = {
    "test_1_survey.py": "hardware-survey/survey.py waits for your lines: time y.copy_(x)",
    "test_2_add.py": "cuda-kernels/add.py waits for your lines: this thread's first element",
    "test_3_reduce.py": "cuda-kernels/reduce.py waits for your lines: a grid-stride sum",
    "test_4_products.py": "cuda-kernels/matmul_naive.py waits for your lines: leave threads outside of c",
    "test_5_softmax.py": "triton-kernels/softmax.py waits for your lines: call tuned_softmax",
    "test_6_layer_norm.py": "triton-kernels/layer_norm.py waits for your lines: the mean",
    "test_7_rms_norm.py": "triton-kernels/rms_norm.py waits for your lines: 1 / the root",
    "test_8_dropout.py": "triton-kernels/dropout.py waits for your lines: keep p and seed",
    "test_9_log.py": "write a sentence after Expected and after Because",
}


@pytest.fixture(scope="module", autouse=True)
def prepared():
    pages.prepare()


def unpacked(name: str, folder: Path) -> Path:
    with zipfile.ZipFile(DATA / f"{capstone.NAME}-{name}.zip") as packed:
        packed.extractall(folder)
    return folder / (capstone.FINISHED if name == "finished" else capstone.NAME)


def python(folder: Path, *words: str, gpus: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python as a reader does who knows nothing of this project, and who has no GPU but those that are named."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TRITON_", "PYTEST"))}
    own |= {"CUDA_VISIBLE_DEVICES": gpus, "TRITON_CACHE_DIR": str(folder / ".triton"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *words], cwd=folder, env=own, capture_output=True, text=True, timeout=600)


def said_by_tests(folder: Path, *words: str) -> str:
    """What the folder's tests print, after the name of each file with its outcome."""
    return python(folder, "-m", "pytest", "-v", "-rs", "-p", "no:cacheprovider", *words).stdout


def outcomes(said: str, outcome: str) -> set[str]:
    return {file for file in TESTS if re.search(rf"^tests/{file}::.* {outcome} ", said, re.MULTILINE)}


@pytest.fixture(scope="module")
def finished_text() -> dict[str, str]:
    with zipfile.ZipFile(DATA / f"{capstone.NAME}-finished.zip") as packed:
        return {name.partition("/")[2]: packed.read(name).decode() for name in packed.namelist()}


@pytest.fixture(scope="module")
def from_skeleton(tmp_path_factory) -> str:
    return said_by_tests(unpacked("skeleton", tmp_path_factory.mktemp("skeleton")))


def test_the_finished_version_passes_on_the_cpu_and_skips_only_what_takes_times(tmp_path):
    said = said_by_tests(unpacked("finished", tmp_path))
    skipped = re.findall(r"^SKIPPED \[\d+\] (\S+):\d+: (.*)$", said, re.MULTILINE)
    assert outcomes(said, "PASSED") == set(TESTS) and " failed" not in said and " error" not in said, said[-3000:]
    assert skipped and {reason for _, reason in skipped} == {"needs: a CUDA GPU, because it takes times"}


@needs("cuda")
def test_the_finished_version_passes_on_a_gpu_and_skips_nothing(tmp_path):
    done = python(unpacked("finished", tmp_path), "-m", "pytest", "-p", "no:cacheprovider", gpus="0")
    assert done.returncode == 0 and " skipped" not in done.stdout, done.stdout[-3000:]


@pytest.mark.parametrize("name", TESTS)
def test_a_part_of_the_skeleton_fails_and_says_what_it_waits_for(from_skeleton, name):
    assert name in outcomes(from_skeleton, "FAILED") and WAITS[name] in from_skeleton
    passed = [line for line in from_skeleton.splitlines() if " PASSED " in line]
    assert len(passed) == 1 and "test_there_are_three_steps_or_more" in passed[0]


def test_every_missing_line_has_its_word():
    parts = [text for path, text in capstone.tree(False, {}).items() if path.endswith(".py") and "[write]" in text]
    assert [text.count("[write]") - text.count("waits for your lines") for text in parts] == [0] * 9


def test_parts_that_are_written_pass_while_others_wait(tmp_path, finished_text):
    folder = unpacked("skeleton", tmp_path)
    for part in ("cuda-kernels/add.py", "triton-kernels/rms_norm.py"):
        (folder / part).write_text(finished_text[part], encoding="utf-8")
    said = said_by_tests(folder, "tests/test_1_survey.py", "tests/test_2_add.py", "tests/test_7_rms_norm.py")
    assert outcomes(said, "FAILED") == {"test_1_survey.py"}
    assert outcomes(said, "PASSED") == {"test_2_add.py", "test_7_rms_norm.py"}


def test_the_finished_version_leaves_the_learner_s_work_alone(tmp_path):
    work = unpacked("skeleton", tmp_path) / "cuda-kernels" / "add.py"
    work.write_text("mine", encoding="utf-8")
    assert (unpacked("finished", tmp_path) / "cuda-kernels" / "add.py").exists() and work.read_text(encoding="utf-8") == "mine"


SURVEY = "hardware-survey/survey.py"
ADD, REDUCE, TILED = (f"cuda-kernels/{name}.py" for name in ("add", "reduce", "matmul_tiled"))
SOFTMAX, LAYER, RMS, DROPOUT = (f"triton-kernels/{name}.py" for name in LIBRARY)
# One mistake in each part, and then another: every one has to be noticed by the part's own tests.
MISTAKES = {
    "first": [
        (SURVEY, "2 * x.nbytes /", "x.nbytes /"),
        (ADD, "i += step", "i += n"),
        (REDUCE, "i += int64_t(gridDim.x) * THREADS", "i += n"),
        (TILED, "    __syncthreads();\n    // [/write]", "    // [/write]"),
        (SOFTMAX, "x - tl.max(x, axis=0)", "x"),
        (LAYER, "tl.where(mask, x - mean, 0.0)", "x - mean"),
        (RMS, "axis=0) / n_columns + eps", "axis=0) / BLOCK + eps"),
        (DROPOUT, "dropped(dy, ctx.p, ctx.seed)", "dropped(dy, ctx.p, ctx.seed + 1)"),
        ("KERNEL_LOG.md", "Because: ", "Perhaps: "),
    ],
    "second": [
        (SURVEY, "return flops_a_second / bytes_a_second", "return bytes_a_second / flops_a_second"),
        (ADD, "i < n", "i < n - 1"),
        (REDUCE, "step = 16; step", "step = 8; step"),
        (TILED, "    __syncthreads();\n#pragma", "#pragma"),
        (SOFTMAX, "(dy - tl.sum(dy * y, axis=0))", "dy"),
        (LAYER, "dbias += dy", "dbias += g"),
        (RMS, "dweight += dy * normal", "dweight += g * normal"),
        (DROPOUT, "x / (1 - p)", "x"),
        ("KERNEL_LOG.md", "Expected: ", "Hoped: "),
    ],
}
F32 = ".to(tl.float32)"
ONE_PASS = "x * x, axis=0) / n_columns - mean * mean", "test_6_layer_norm.py"
DRAW, ALIKE = "fours = tl.program_id(0)", "tl.join(tl.join(a, a), tl.join(a, a))"
POWER = "BLOCK=triton.next_power_of_2({}.shape[1])"
DY_ROW = "dy_ptr + row * n_columns + columns"
UNMASKED, UNMASKED_X = (
    (f"tl.load({name}_ptr + at, mask=mask, other=0.0)", f"tl.load({name}_ptr + at)") for name in ("dy", "x")
)
APART = "test_8_dropout.py", "share their fate, where chance gives 50%"
SHIFTED = APART[0], f"seeds 1 and 2, 4 elements apart: 100% {APART[1]}"
# Mistakes that could pass or hang: the part, what is right and what is wrong there, the part's tests, and what they say.
SUBTLE = {
    "a step of one block": (ADD, "int64_t(gridDim.x) * blockDim.x;", "blockDim.x;", "test_2_add.py", "by one thread alone"),
    "one element too many": (ADD, "i < n;", "i <= n;", "test_2_add.py", "behind the 255 elements: "),
    "one term too many": (REDUCE, "i < n;", "i <= n;", "test_3_reduce.py", "n=1, blocks=1: sum nan, PyTorch's "),
    "rms in float16": (RMS, f"{F32}\n    rstd", "\n    rstd", "test_7_rms_norm.py", "not close"),
    "mean in float16": (LAYER, f"{F32}\n    mean", "\n    mean", "test_6_layer_norm.py", "not close"),
    "a gradient": (RMS, "dweight += dy * normal", "dweight += g * normal", "test_7_rms_norm.py", "dweight: "),
    "a barrier in a branch": (
        *(REDUCE, "  __syncthreads();", "  if (threadIdx.x < 32) __syncthreads();", "test_3_reduce.py"),
        "block 0: 32 of 256 threads wait at a barrier, which the others never reach",
    ),
    "an exchange in a branch": (
        *(REDUCE, "if (threadIdx.x < 32)", "if (threadIdx.x < WARPS)", "test_3_reduce.py"),
        "block 0, warp 0: 8 of 32 threads wait at an exchange between the threads of a warp, which the others never reach",
    ),
    "a product of what lies behind a": (TILED, "m < M && of_a < K ?", "m < M ?", "test_4_products.py", "not close"),
    "a product of what lies behind b": (TILED, "of_b < K && n < N ?", "n < N ?", "test_4_products.py", "not close"),
    "a place that nobody filled": (
        *(TILED, "slice_a[i % DEEP][i / DEEP] = m < M && of_a < K ? a[m * K + of_a] : 0;"),
        *("if (m < M && of_a < K) slice_a[i % DEEP][i / DEEP] = a[m * K + of_a];", "test_4_products.py", "not close"),
    ),
    "softmax's gradient in float16": (SOFTMAX, f"other=0.0){F32}", "other=0.0)", "test_5_softmax.py", "not close"),
    "a variance in one pass": (LAYER, "centered * centered, axis=0) / n_columns", *ONE_PASS, "not close"),
    "layer norm without eps": (LAYER, "/ n_columns + eps)", "/ n_columns)", "test_6_layer_norm.py", "not close"),
    "eps outside of the root": (LAYER, "/ n_columns + eps)", "/ n_columns) + eps", "test_6_layer_norm.py", "not close"),
    "rms norm without eps": (RMS, "/ n_columns + eps)", "/ n_columns)", "test_7_rms_norm.py", "not close"),
    "programs that draw the same": (DROPOUT, DRAW, DRAW.replace("program_id(0)", "program_id(1)"), *APART),
    "neighbors that share a number": (DROPOUT, "tl.join(tl.join(a, b), tl.join(c, d))", ALIKE, *APART),
    "a softmax of a row's beginning": (SOFTMAX, POWER.format("rows"), "BLOCK=1024", "test_5_softmax.py", "-shape4] _"),
    "a gradient of a row's beginning": (SOFTMAX, POWER.format("y"), "BLOCK=1024", "test_5_softmax.py", "pytorch_s[3000] _"),
    "a softmax of x": (SOFTMAX, "](rows, y, rows", "](x, y, rows", "test_5_softmax.py", "_a_row_need_not_lie_together _"),
    "a filler that is only low": (SOFTMAX, '-float("inf")', "-1e4", "test_5_softmax.py", "an_empty_lane_is_no_maximum _"),
    "softmax's gradient of what lies behind dy": (
        *(SOFTMAX, f"dy = tl.load({DY_ROW}, mask=mask, other=0.0)", f"dy = tl.load({DY_ROW})"),
        *("test_5_softmax.py", "half_precision_is_computed_in_float32 _"),
    ),
    "layer norm's gradient of what lies behind dy": (LAYER, *UNMASKED, "test_6_layer_norm.py", "dx: "),
    "rms norm's gradient of what lies behind dy": (RMS, *UNMASKED, "test_7_rms_norm.py", "dx: "),
    "rms norm's gradient of what lies behind x": (RMS, *UNMASKED_X, "test_7_rms_norm.py", "dx: "),
    "a seed that shifts the numbers": (DROPOUT, "(seed, fours)", "(0, fours + seed)", *SHIFTED),
    "a log without its device": ("KERNEL_LOG.md", "Device: ", "Machine: ", "test_9_log.py", "write after Device"),
    "counters that are names": ("KERNEL_LOG.md", " | ", " | H", "test_9_log.py", "with a number each"),
}
# Right versions that are written in other words: the part, what stands there, the other words, and the part's tests.
OTHER_WORDS = {
    "calls that return nothing": (SURVEY, "y.copy_(x), device", "y.copy_(x) is None or None, device, 9", "test_1_survey.py"),
    "a bold word and a line of its own": ("KERNEL_LOG.md", "Expected: ", "**Expected:**\n", "test_9_log.py"),
    "a paragraph of its own": ("KERNEL_LOG.md", "Because: ", "Because:\n\n", "test_9_log.py"),
    "words in a list": ("KERNEL_LOG.md", "Expected: ", "- Expected: ", "test_9_log.py"),
    "words as headings": ("KERNEL_LOG.md", "Because: ", "### Because\n\n", "test_9_log.py"),
    "a table without spaces": ("KERNEL_LOG.md", " | ", "|", "test_9_log.py"),
    "spaces behind a table": ("KERNEL_LOG.md", " |\n", " | \n", "test_9_log.py"),
}


# What the capstone is made of: its programs, which the records hold, and what packs them.
OF_IT = [path.relative_to(ROOT).as_posix() for path in (ROOT / "snippets/capstone").rglob("*")] + ["scripts/pages/capstone.py"]


@pytest.mark.parametrize("name", turns.part(list(MISTAKES), 2, *OF_IT))
def test_a_mistake_in_a_part_is_noticed_by_its_own_tests(tmp_path, finished_text, name):
    folder = unpacked("finished", tmp_path)
    for part, right, wrong in MISTAKES[name]:
        assert right in finished_text[part], part
        (folder / part).write_text(finished_text[part].replace(right, wrong), encoding="utf-8")
    assert outcomes(said_by_tests(folder), "FAILED") == set(TESTS)


@pytest.mark.parametrize("name", turns.part(list(SUBTLE), 4, *OF_IT))
def test_a_subtle_mistake_fails_in_words_and_the_run_goes_on(tmp_path, finished_text, name):
    part, right, wrong, test, word = SUBTLE[name]
    folder = unpacked("finished", tmp_path)
    assert right in finished_text[part]
    (folder / part).write_text(finished_text[part].replace(right, wrong), encoding="utf-8")
    said = said_by_tests(folder, f"tests/{test}")
    assert test in outcomes(said, "FAILED") and word in said, said[-3000:]
    assert re.search(r"^=+ \d+ failed.* in ", said, re.MULTILINE), said[-3000:]


@pytest.mark.parametrize("name", turns.part(list(OTHER_WORDS), 2, *OF_IT))
def test_a_right_version_in_other_words_passes(tmp_path, finished_text, name):
    part, words, other, test = OTHER_WORDS[name]
    folder = unpacked("finished", tmp_path)
    assert words in finished_text[part]
    (folder / part).write_text(finished_text[part].replace(words, other), encoding="utf-8")
    said = said_by_tests(folder, f"tests/{test}")
    assert outcomes(said, "PASSED") == {test} and " failed" not in said, said[-3000:]


@pytest.mark.parametrize("name", LIBRARY)
def test_a_kernel_of_the_small_library_has_at_most_a_hundred_lines(finished_text, name):
    assert len(finished_text[f"triton-kernels/{name}.py"].splitlines()) <= 100


@pytest.mark.parametrize("file, status", [(SURVEY, 2), ("plots.py", 2), ("counted.py", 2), (ADD, 0), (LAYER, 0)])
def test_a_file_runs_alone(tmp_path, file, status):
    done = python(unpacked("finished", tmp_path), file)
    assert done.returncode == status, done.stderr[-1000:]
    assert ("True" if status == 0 else "needs: cuda") in done.stdout


@pytest.mark.parametrize("file", ["plots.py", "counted.py"])
def test_a_file_at_the_top_finds_what_it_imports(tmp_path, finished_text, file):
    """The beginning of the file, up to its last import, as it would go on with a GPU."""
    folder, text = unpacked("finished", tmp_path), finished_text[file]
    *_, last = re.finditer(r"^from \w+ import .+\n", text, re.MULTILINE)
    begins = f"import os\n\nos.environ['TRITON_INTERPRET'] = '1'\n{text[: last.end()].replace('sys.exit(2)', 'pass')}"
    (folder / file).write_text(begins, encoding="utf-8")
    done = python(folder, file)
    assert done.returncode == 0 and "softmax" in begins, done.stderr[-1000:]


def test_the_log_names_the_sizes_that_are_counted(finished_text):
    """The log and its template say in words what counted.py makes."""
    sizes = {"2048 × 2048 times 2048 × 2048 in float32": "a, b = torch.randn(2, 2048, 2048, device"}
    sizes |= {"16384 × 4096 in bfloat16": 'x = torch.randn(16384, 4096, device="cuda").bfloat16()'}
    template = capstone.tree(False, {})["KERNEL_LOG.md"]
    for words, made in sizes.items():
        assert made in finished_text["counted.py"] and f"Counted: {words}" in template
        assert f"Counted: {words}" in finished_text["KERNEL_LOG.md"]


def test_the_same_files_make_the_same_bytes(tmp_path, finished_text):
    for name in ("one", "other"):
        capstone.archive(tmp_path / f"{name}.zip", dict(reversed(finished_text.items())) if name == "other" else finished_text)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "other.zip").read_bytes()


def test_the_archives_hold_no_path_of_a_machine_and_nothing_of_this_project(finished_text):
    for path, text in finished_text.items():
        assert not re.search(rf"{re.escape(str(ROOT))}|/home/|/root/|/tmp/", text), path
        assert not re.search(r"^(?:from|import) (?:kernels|snippets|scripts)\b|--8<--", text, re.MULTILINE), path
