"""What *Dropout* says of Philox and does not show: different counters, different words; one bit in, half of the bits out."""

import torch

from kernels.dropout.philox import philox_reference


def words(seed: int, start: int, counters: int) -> torch.Tensor:
    return philox_reference(seed, 4 * counters, torch.device("cpu"), 4 * start).view(counters, 4)


def test_different_counters_never_give_the_same_four_words():
    assert len(words(7, 0, 50_000).unique(dim=0)) == 50_000


def test_one_bit_of_the_counter_or_the_seed_changes_about_half_of_the_bits():
    base = words(7, 0, 4096)
    # A counter's lowest bit, one of its upper half, and the lowest bits of either half of the seed.
    places = torch.arange(4096) ^ 1
    for other in (base[places], words(7, 2**33, 4096), words(6, 0, 4096), words(7 + 2**32, 0, 4096)):
        changed = ((base ^ other) & 0xFFFFFFFF).flatten()
        flipped = sum(int((changed >> bit & 1).sum()) for bit in range(32)) / (32 * changed.numel())
        assert abs(flipped - 0.5) < 0.005


def test_the_constants_of_a_generator_matter_and_chance_alone_cannot_tell():
    """The page says that another generator may pass every test of chance: the same bits in another order do."""
    bits = words(7, 0, 2**14).flatten()
    other = bits.flip(0)
    assert not torch.equal(bits, other)
    for one in (bits, other):
        assert abs((one < 0).double().mean().item() - 0.5) < 5 * 0.5 / 2**8
