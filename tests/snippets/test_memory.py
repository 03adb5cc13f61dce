"""What *SRAM and HBM* says of its programs that need no GPU."""

import re

import pytest

from scripts.layouts import banks
from scripts.layouts.shared import Swizzled
from scripts.provenance import records


@pytest.fixture(scope="module")
def output() -> list[str]:
    """What the program printed when it was baked: that its record is of today's code is a test of its own."""
    return records.read(records.record_path("cpu", "program", "memory/places"))["output"]


@pytest.fixture(scope="module")
def table(output) -> dict[str, list[int]]:
    """Shared bytes, instructions that write and read shared memory, copies into it, and matrix instructions, by kernel."""
    rows = [re.fullmatch(r"(\S.*?)\s+([\d,]+)((?:\s+\d+){4})", line) for line in output]
    return {row[1]: [int(row[2].replace(",", "")), *map(int, row[3].split())] for row in rows if row}


def test_an_addition_has_nothing_in_shared_memory(table):
    assert table["add"] == [0, 0, 0, 0, 0]


def test_softmax_exchanges_one_word_for_each_of_four_warps(table):
    shared, written, read, copied, _ = table["softmax, one row"]
    assert shared == 4 * 4
    assert written > 0 and read > 0 and copied == 0


def test_a_transpose_passes_its_tile_through_shared_memory(table):
    shared, written, read, copied, _ = table["transpose"]
    assert shared == 64 * 64 * 4
    assert written > 0 and read > 0 and copied == 0


def test_every_stage_of_a_matrix_product_has_its_own_pair_of_tiles(table):
    pair = 2 * 128 * 64 * 2
    assert table["matmul, 1 stage"][0] == pair
    assert table["matmul, 3 stages"][0] == 3 * pair


def test_only_stages_copy_past_the_registers(table):
    assert table["matmul, 1 stage"][3] == 0
    assert table["matmul, 3 stages"][3] > 0
    assert table["matmul, 1 stage"][4] > 0 and table["matmul, 3 stages"][4] > 0


def test_the_layout_of_the_tiles_is_swizzled(output):
    text = "\n".join(output)
    assert len(re.findall(r"#ttg\.nvmma_shared<\{swizzlingByteWidth = 128", text)) == 2
    assert "memdesc<3x128x64xbf16" in text
    assert "memdesc<128x64xbf16" in text


@pytest.mark.parametrize("exchanged", [1, 2, 4, 8, 16, 32])
def test_a_column_takes_as_many_turns_as_the_layout_says(exchanged):
    """What banks.py works out for itself is what Triton's layout of the same name does, for every column."""
    from snippets.memory.banks import turns

    layout = Swizzled(1, 1, exchanged, (1, 0))
    for column in range(32):
        addresses = [4 * layout.offset((32, 32), (row, column)) for row in range(32)]
        assert turns(exchanged, column) == banks.of_addresses(addresses, 4) == 32 // exchanged
