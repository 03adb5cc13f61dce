"""Random bits by counting: Philox turns a key and a counter into four numbers of 32 bits, and keeps no state.

Ten rounds, each of which multiplies two of the counter's four words by constants, swaps the halves of the products
about, and mixes in the key. The bits are those of `tl.randint4x(seed, counter)`. Here each product is formed once, in
64 bits, and both of its halves are used, where two multiplications would give one half each.

Source: J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

import torch
import triton
import triton.language as tl


# --8<-- [start:philox]
@triton.jit
def philox_round(c0, c1, c2, c3, k0, k1):
    first = c0.to(tl.uint64) * 0xD2511F53
    second = c2.to(tl.uint64) * 0xCD9E8D57
    c0 = (second >> 32).to(tl.uint32) ^ c1 ^ k0
    c2 = (first >> 32).to(tl.uint32) ^ c3 ^ k1
    return c0, second.to(tl.uint32), c2, first.to(tl.uint32)


@triton.jit
def philox_words(seed, counters):
    """Four words for each of a block's 64-bit counters."""
    k0, k1 = seed.to(tl.uint32), (seed >> 32).to(tl.uint32)
    c0, c1 = counters.to(tl.uint32), (counters >> 32).to(tl.uint32)
    c2, c3 = c0 * 0, c0 * 0
    for _ in tl.static_range(10):
        c0, c1, c2, c3 = philox_round(c0, c1, c2, c3, k0, k1)
        k0 += 0x9E3779B9
        k1 += 0xBB67AE85
    return c0, c1, c2, c3
# --8<-- [end:philox]


# --8<-- [start:bits]
@triton.jit
def philox_fours(seed, counters, N: tl.constexpr):
    a, b, c, d = philox_words(seed, counters)
    return tl.join(tl.join(a, c), tl.join(b, d)).reshape(N, 4)


@triton.jit
def philox_bits(seed, start, BLOCK: tl.constexpr, VECTOR: tl.constexpr):
    """32 bits for each of BLOCK elements: element i has word i % 4 of counter i // 4.

    A thread gets VECTOR neighboring elements, 4 or 8, which is what it loads at a time.
    """
    if VECTOR == 4:
        counters = start // 4 + tl.arange(0, BLOCK // 4)
        bits = philox_fours(seed, counters, BLOCK // 4)  # [BLOCK / 4, 4]
    else:
        counters = start // 4 + 2 * tl.arange(0, BLOCK // 8)
        even = philox_fours(seed, counters, BLOCK // 8)  # [BLOCK / 8, 4]
        odd = philox_fours(seed, counters + 1, BLOCK // 8)  # [BLOCK / 8, 4]
        bits = tl.join(even, odd).permute(0, 2, 1)  # [BLOCK / 8, 2, 4]
    return bits.reshape(BLOCK).to(tl.int32, bitcast=True)  # [BLOCK]
# --8<-- [end:bits]


def philox_reference(seed: int, n_elements: int, device: torch.device, start: int = 0) -> torch.Tensor:
    """The same bits in plain PyTorch, as int64 numbers from -2^31 to 2^31 - 1; 4 divides `start`."""
    low = 0xFFFFFFFF
    counters = torch.arange(start // 4, (start + n_elements + 3) // 4, device=device)
    c0, c1 = counters & low, counters >> 32
    c2, c3 = torch.zeros_like(c0), torch.zeros_like(c0)
    k0, k1 = seed & low, seed >> 32
    for _ in range(10):
        # A product of 64 bits wraps around to a negative number; its bits are right.
        first, second = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1 = (second >> 32 & low) ^ c1 ^ k0, second & low
        c2, c3 = (first >> 32 & low) ^ c3 ^ k1, first & low
        k0, k1 = (k0 + 0x9E3779B9) & low, (k1 + 0xBB67AE85) & low
    bits = torch.stack((c0, c1, c2, c3), dim=1).flatten()[:n_elements]
    return bits - (bits >> 31 << 32)
