"""The picture of four block masks, against the masks as matrices of their own."""

import copy
from typing import Any

import numpy as np
import pytest

from scripts import charts
from scripts.drawing.pictures import PICTURES
from scripts.provenance import records

(SOURCE,) = PICTURES["block_masks"][1]
TOKENS, BLOCK = 1024, 64


def drawn(record: dict[str, Any]) -> dict[str, Any]:
    return charts.draw_picture("block_masks", {SOURCE: record})


def recorded() -> dict[str, Any]:
    return records.read(records.BAKED / "cpu" / f"{SOURCE}.json")


def matrices() -> dict[str, np.ndarray]:
    """Which scores count, without a function of positions: triangles, bands, blocks and columns."""
    ones = np.ones((TOKENS, TOKENS), dtype=bool)
    before, documents, prefix = np.tril(ones), np.zeros_like(ones), np.tril(ones)
    for start, end in ((0, 200), (200, 328), (328, 640), (640, 896), (896, 1024)):
        documents[start:end, start:end] = True
    prefix[:, :256] = True
    return {
        "Causal": before, "Sliding window": before & np.triu(ones, -199), "Documents": before & documents, "Prefix": prefix,
    }  # fmt: skip


def expected() -> list[list[Any]]:
    found = []
    for name, matrix in matrices().items():
        sums = matrix.reshape(TOKENS // BLOCK, BLOCK, -1, BLOCK).sum(axis=(1, 3))
        for place, row in enumerate(sums):
            line = "".join("f" if n == BLOCK**2 else "p" if n else "." for n in row)
            found.append([name, place, line.count("f"), line.count("p"), line.count("."), line])
    return found


def test_the_block_masks_are_those_of_the_matrices():
    assert drawn(recorded())["sidecar"]["rows"] == expected()


def test_the_share_that_is_skipped_is_counted():
    for mask, matrix in zip(recorded()["figures"].values(), matrices().values(), strict=True):
        blocks = matrix.reshape(TOKENS // BLOCK, BLOCK, -1, BLOCK).any(axis=(1, 3))
        assert mask["sparsity"] == pytest.approx(100 * (1 - blocks.mean())) and mask["scores"] == matrix.sum()


@pytest.mark.parametrize("change", ["f", "."])
def test_another_block_is_another_picture(change):
    record = copy.deepcopy(recorded())
    row = record["figures"]["window"]["rows"][3]
    record["figures"]["window"]["rows"][3] = row.replace("p", change, 1)
    after, before = drawn(record), drawn(recorded())
    assert after["sidecar"]["rows"] != expected()
    assert all(before[size].partition("</desc>")[2] != after[size].partition("</desc>")[2] for size in ("wide", "narrow"))
