"""What the first button of a block copies runs where the library is installed, and prints what the block says."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import turns
from tests.docs import pages
from tests.docs.pages import ROOT
from tests.snippets import program_runs

BLOCKS: dict[str, list[pages.Block]] = {}
for block in pages.blocks():
    BLOCKS.setdefault(pages.address_of(block.page), []).append(block)
# Plain programs, kernels of the library that are shown, functions alone, texts of CUDA beside them, outputs that build on others.
SAMPLE = {
    *("patterns/square", "patterns/row_sum", "autograd/pair", "softmax_ladder/online", "rope/launch", "cross_entropy/launch"),
    *("autotune/first_call", "tools/chain", "cuda/add"),
}


@pytest.fixture(scope="session")
def library(tmp_path_factory) -> Path:
    """A folder that the site's wheels are installed into."""
    pages.prepare()
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(folder)]
    subprocess.run([*pip, *map(str, (ROOT / "docs" / "dist").glob("*.whl"))], check=True)
    return folder


def problems(address: str, only: set[str], library: Path, folder: Path) -> list[str]:
    """What a reader of the page would complain about who copies its blocks, those that run on a CPU."""
    file = ROOT / "docs" / "data" / "blocks" / f"{address.strip('/') or 'index'}.json"
    found = []
    for number, (block, published) in enumerate(zip(BLOCKS[address], json.loads(file.read_text("utf-8")), strict=True)):
        if block.gpu or (only and block.program not in only):
            continue
        program, place = folder / f"block{number}.py", folder / str(number)
        program.write_text(published["text"], encoding="utf-8")
        place.mkdir()
        done = program_runs.run(program, place, library=library)
        shown = "\n".join(done.output[-15:])
        if done.status == 2 and program_runs.needs_of((ROOT / "snippets" / f"{block.program}.py").read_text("utf-8")):
            continue  # only definitions of a program for a GPU
        if done.status:
            found.append(f"{block.where}: the copied block exited with status {done.status}:\n{shown}")
        elif missing := unsaid(pages.source_of(block), done.output):
            found.append(f"{block.where}: the copied block does not print {missing!r}:\n{shown}")
    return found


def unsaid(text: str, output: list[str]) -> str:
    """The first of a block's printed lines that is not printed, in order."""
    printed = iter([line.strip() for line in output])
    for line in text.splitlines():
        said = line.strip().removeprefix("#>").strip()
        if line.strip().startswith("#>") and said and said not in printed:
            return said
    return ""


@pytest.mark.parametrize("address", [address for address, shown in BLOCKS.items() if {one.program for one in shown} & SAMPLE])
def test_blocks_of_a_few_programs_run_alone(address, library, tmp_path):
    assert problems(address, SAMPLE, library, tmp_path) == []


def files_of(address: str) -> list[str]:
    return [pages.file_of(address), *(f"snippets/{one.program}.py" for one in BLOCKS[address])]


@pytest.mark.parametrize("address", turns.few(24, list(BLOCKS), files_of))
def test_every_block_of_a_page_runs_alone(address, library, tmp_path):
    assert problems(address, set(), library, tmp_path) == []


def test_the_sample_is_of_programs_that_pages_show():
    assert {block.program for blocks in BLOCKS.values() for block in blocks} >= SAMPLE


def test_what_is_not_printed_is_found():
    assert unsaid("print(1)\n#> 1\nprint(2)\n#> 2\n", ["no GPU", "1", " 2"]) == ""
    assert unsaid("print(1)\n#> 1\nprint(2)\n#> 2\n", ["2", "1"]) == "2"
