"""The dropout of *Why write a kernel* drops what the random numbers say, by a generator written here in NumPy."""

import runpy

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.docs.pages import ROOT

P, SEED = 0.25, 2**40 + 7
LOW = np.uint64(0xFFFFFFFF)


def philox(seed: int, counter: np.ndarray) -> np.ndarray:
    """Philox-4x32-10 as its paper has it (Salmon and others, 2011): four words of 32 bits a counter, [4, counters]."""
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    words = [counter & LOW, counter >> np.uint64(32), np.zeros_like(counter), np.zeros_like(counter)]
    for _ in range(10):
        left, right = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        high, low = np.uint64(32), LOW
        words = [(right >> high) ^ words[1] ^ key[0], right & low, (left >> high) ^ words[3] ^ key[1], left & low]
        key = [(key[0] + np.uint64(0x9E3779B9)) & LOW, (key[1] + np.uint64(0xBB67AE85)) & LOW]
    return np.stack(words).astype(np.uint32)


@pytest.fixture(scope="module")
def program() -> dict:
    return runpy.run_path(str(ROOT / "snippets/why_kernels/fused.py"))


def one_a_draw(rows: int, columns: int) -> np.ndarray:
    word = philox(SEED, np.arange(rows * columns, dtype=np.uint64))[0].view(np.int32)
    uniform = np.where(word < 0, -word - 1, word).astype(np.float32) * np.float32(4.6566127342e-10)
    return (uniform >= np.float32(P)).reshape(rows, columns)


def four_a_draw(rows: int, columns: int) -> np.ndarray:
    parts = -(-columns // 2048)
    words = philox(SEED, np.arange(rows * parts * 512, dtype=np.uint64)).T  # [draws, 4]
    return ((words & 0x7FFFFFFF) >= int(P * 2**31)).reshape(rows, parts * 2048)[:, :columns]


@pytest.mark.parametrize("columns", [1, 1000, 1024, 2500])
@pytest.mark.parametrize(("function", "mask"), [("bias_gelu_dropout", one_a_draw), ("four_at_once", four_a_draw)])
def test_the_kernel_drops_what_the_generator_says(program, function, mask, columns):
    torch.manual_seed(columns)
    x, bias = torch.randn(5, columns), torch.randn(columns)
    kept = torch.from_numpy(mask(5, columns))
    expected = torch.where(kept, F.gelu(x + bias) / (1 - P), 0.0)
    torch.testing.assert_close(program[function](x, bias, P, seed=SEED), expected)


def test_the_generator_is_philox():
    """The first words for a key and a counter of zeros, from the paper's own test vectors."""
    assert [f"{word:08x}" for word in philox(0, np.zeros(1, dtype=np.uint64))[:, 0]] == [
        "6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8",
    ]  # fmt: skip
