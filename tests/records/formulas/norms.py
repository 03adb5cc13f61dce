"""The recorded runs of *LayerNorm and RMSNorm*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def partial_sums(program: int) -> Iterator[Step]:
    columns = np.arange(8)
    mask = columns < 6
    yield "program", program
    yield "columns", columns
    yield "mask", mask
    yield "total", np.zeros(8)
    for row in range(program, 5, 2):
        yield "loop row", row
        yield "load dy", 6 * row + columns, mask
        yield ("total",)
    yield "store partials", 6 * program + columns, mask


def row_of_dx(row: int) -> Iterator[Step]:
    """What a program does with a row of a backward pass, whatever becomes of the sums."""
    columns = np.arange(8)
    mask = columns < 6
    yield "load x", 6 * row + columns, mask
    yield "load dy", 6 * row + columns, mask


def gradients(row: int) -> Iterator[Step]:
    yield "load rstd", np.array(row), np.array(True)
    yield "load mean", np.array(row), np.array(True)
    yield from [("normal",), ("g",), ("sum",), ("dot",), ("sum",), ("dx",)]
    yield "store dx", 6 * row + np.arange(8), np.arange(8) < 6


def atomic(row: int) -> Iterator[Step]:
    columns = np.arange(8)
    mask = columns < 6
    yield "row", row
    yield "columns", columns
    yield "mask", mask
    yield from row_of_dx(row)
    yield "load weight", columns, mask
    yield from gradients(row)
    yield "atomic_add dweight", columns, mask
    yield "atomic_add dbias", columns, mask


def staying(program: int) -> Iterator[Step]:
    columns = np.arange(8)
    mask = columns < 6
    yield "program", program
    yield "columns", columns
    yield "mask", mask
    yield "load weight", columns, mask
    yield "dweight", np.zeros(8)
    yield "dbias", np.zeros(8)
    for row in range(program, 5, 2):
        yield "loop row", row
        yield "offsets", 6 * row + columns
        yield from row_of_dx(row)
        yield from gradients(row)
        yield ("dweight",)
        yield ("dbias",)
    yield "partials", 6 * program + columns
    yield "store dweight", 6 * program + columns, mask
    yield "store dbias", 6 * program + columns, mask


def elements(sums: int) -> dict[str, int]:
    return {"x": 30, "weight": 6, "dy": 30, "mean": 5, "rstd": 5, "dx": 30, "dweight": 6 * sums, "dbias": 6 * sums}


FORMULAS = {
    "partial_sums": Formula(partial_sums, (2,), {"dy": 30, "partials": 12}),
    "atomic": Formula(atomic, (5,), elements(1)),
    "staying": Formula(staying, (2,), elements(2)),
}
