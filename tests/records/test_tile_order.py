"""The picture of the order of tiles: the recorded map is the kernel's, and what is counted from it is right."""

import re

import numpy
import pytest
import torch
import triton
import triton.language as tl

from kernels.matmul.epilogue import matmul_tile
from scripts.pages import tile_order
from tests.records.made_up import made_up

ROWS, COLUMNS, GROUPS = 12, 8, (1, 2, 4, 8)


@triton.jit
def turn_kernel(turn_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """Each program writes its number where its tile comes in the order of tiles, row by row."""
    turn = tl.program_id(0)
    pid_m, pid_n = matmul_tile(turn, M, N, BLOCK_M, BLOCK_N, GROUP_M)
    tl.store(turn_ptr + pid_m * tl.cdiv(N, BLOCK_N) + pid_n, turn)


def order_of(group: int) -> list[int]:
    """The grouped order, walked instead of worked out: groups downward, in each column by column."""
    found = []
    for first in range(0, ROWS, group):
        for column in range(COLUMNS):
            found += [row * COLUMNS + column for row in range(first, min(first + group, ROWS))]
    return found


@pytest.fixture
def data() -> dict:
    orders = {str(group): " ".join(map(str, order_of(group))) for group in GROUPS}
    sizes = {"rows": ROWS, "columns": COLUMNS, "K": 64, "BLOCK_M": 16, "BLOCK_N": 32}
    return tile_order.picture({"figures": sizes | {"orders": orders}}, None) | {"at_once": 10, "wave": 1}


def test_the_kernel_s_own_function_says_this_order():
    for group in (1, 2, 4, 8, 16, 5):
        turn = torch.full((ROWS * COLUMNS,), -1, dtype=torch.int32)
        turn_kernel[(ROWS * COLUMNS,)](turn, 16 * ROWS - 3, 32 * COLUMNS - 1, BLOCK_M=16, BLOCK_N=32, GROUP_M=group)
        assert turn.numpy().argsort().tolist() == order_of(group), group


@pytest.mark.parametrize("group", GROUPS)
def test_what_a_wave_needs_is_counted_tile_by_tile(data, group):
    programs, whole = order_of(group), 0
    for wave in range(tile_order.waves(data)):
        in_flight = numpy.zeros((ROWS, COLUMNS), bool)
        in_flight.flat[programs[10 * wave : 10 * wave + 10]] = True
        _, rows, columns = tile_order.touched(data, str(group), wave)
        assert rows == numpy.flatnonzero(in_flight.any(1)).tolist()
        assert columns == numpy.flatnonzero(in_flight.any(0)).tolist()
        bytes_needed = in_flight.any(1).sum() * 16 * 64 * 2 + in_flight.any(0).sum() * 32 * 64 * 2
        assert tile_order.needed(data, str(group), wave) == bytes_needed
        whole += bytes_needed
    assert tile_order.needed_by_all(data, str(group)) == whole


def test_what_was_measured_is_that_of_the_picture_s_shape():
    groups = made_up("tile_order/groups")
    found = tile_order.measured(groups, "4", "8192x8192x8192")
    row = next(r for r in groups["measurements"] if r["shape"] == "8192x8192x8192" and r["implementation"] == "group_4")
    assert found["ms"] == row["ms"][1] and found["tflops"] == pytest.approx(2 * 8192**3 / (row["ms"][1] * 1e-3) / 1e12)
    counted = next(row for row in groups["counters"] if row["implementation"] == "group_4")
    assert found["read_bytes"] == counted["dram_read_bytes"]
    assert found["l2_hits"] == pytest.approx(counted["l2_hit_percent"] / 100)


def test_the_still_picture_shows_every_tile_in_flight(data):
    html = tile_order.element_html(data, None, "x.json")
    shown = {look: path.count("M") for look, path in re.findall(r'<path class="(\w+)" d="([^"]*)"', html)}
    _, rows, columns = tile_order.touched(data | {"opens": 8}, "8", 1)
    assert shown == {"sheet": 3, "done": 10, "now": 10, "block": len(rows) + len(columns)}
    assert "\n" not in html.strip()
