"""What other cards make of three tiles before anything is measured: whether they start there, and how full the rounds are."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported
print("No GPU is needed, and no interpreter: the kernel is compiled and not run.")

# --8<-- [start:imports]
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction
# --8<-- [end:imports]


# --8<-- [start:layout]
def product(a_ptr, b_ptr, c_ptr, K, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows, columns, inner = tl.arange(0, BLOCK_M)[:, None], tl.arange(0, BLOCK_N)[None, :], tl.arange(0, BLOCK_K)
    a_ptrs, b_ptrs = a_ptr + rows * K + inner[None, :], b_ptr + inner[:, None] * N + columns
    total = tl.full((BLOCK_M, BLOCK_N), 0.0, tl.float32)
    for k in range(0, K, BLOCK_K):
        total = tl.dot(tl.load(a_ptrs + k), tl.load(b_ptrs + k * N), total)
    tl.store(c_ptr + rows * N + columns, total)


def shared_memory(capability, block_m, block_n, block_k, num_warps, num_stages):
    """The bytes that a program of this tile has in shared memory, in bfloat16, as Triton lays it out for one capability."""
    types = dict(a_ptr="*bf16", b_ptr="*bf16", c_ptr="*fp32", K="i32", N="i32")
    types |= dict.fromkeys(("BLOCK_M", "BLOCK_N", "BLOCK_K"), "constexpr")
    divisible = {(place,): [["tt.divisibility", 16]] for place in range(5)}
    tile = dict(BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k)
    source = ASTSource(JITFunction(product), types, tile, divisible)
    options = dict(num_warps=num_warps, num_stages=num_stages)
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options).metadata.shared
# --8<-- [end:layout]


# --8<-- [start:cards]
CARDS = {  # compute capability, multiprocessors, bytes of shared memory that a program can have
    "A100": (80, 108, 166_912), "RTX 4090": (89, 128, 101_376), "H100": (90, 132, 232_448),
    "B200": (100, 148, 232_448), "RTX 5090": (120, 170, 101_376),
}
TILES = [(128, 256, 64, 8, 3), (64, 128, 128, 4, 4), (64, 128, 64, 4, 3)]  # rows, columns, steps along k, warps, stages


def full(multiprocessors, block_m, block_n):
    """How full the rounds are in which all tiles of a product of 4096 get their turn, one at a time on each multiprocessor."""
    tiles = (4096 // block_m) * (4096 // block_n)
    return tiles / (-(-tiles // multiprocessors) * multiprocessors)


for card, (capability, multiprocessors, limit) in CARDS.items():
    pairs, verdicts = [], {2: [], 4: []}
    for tile in TILES:
        m, n, k, *_ = tile
        bytes_16 = shared_memory(capability, *tile)
        pairs.append(f"{bytes_16 // ((m + n) * k * 2)}")
        for size, found in verdicts.items():
            found.append("none" if bytes_16 * size // 2 > limit else f"{full(multiprocessors, m, n):.0%}")
    print(f"{card}: pairs {', '.join(pairs)}; 16 bits {', '.join(verdicts[2])}; 32 bits {', '.join(verdicts[4])}")
    #> A100: pairs 2, 3, 2; 16 bits 95%, 100%, 100%; 32 bits none, none, 100%
    #> RTX 4090: pairs 2, 3, 2; 16 bits 100%, none, 100%; 32 bits none, none, 100%
    #> H100: pairs 3, 4, 3; 16 bits 97%, 97%, 97%; 32 bits none, none, 97%
    #> B200: pairs 3, 4, 3; 16 bits 86%, 99%, 99%; 32 bits none, none, 99%
    #> RTX 5090: pairs 2, 3, 2; 16 bits 75%, none, 93%; 32 bits none, none, 93%
# --8<-- [end:cards]
