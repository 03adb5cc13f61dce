"""What other cards make of three tiles before anything is measured: how much shared memory each takes, and whether it starts."""
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
CARDS = {  # compute capability, bytes of shared memory that a program can have
    "A100": (80, 166_912), "RTX 4090": (89, 101_376), "H100": (90, 232_448), "B200": (100, 232_448), "RTX 5090": (120, 101_376),
}
TILES = [(128, 256, 64, 8, 3), (64, 128, 128, 4, 4), (64, 128, 64, 4, 3)]  # rows, columns, steps along k, warps, stages

for card, (capability, limit) in CARDS.items():
    taken = [shared_memory(capability, *tile) for tile in TILES]
    pairs = [str(size // ((m + n) * k * 2)) for size, (m, n, k, *_) in zip(taken, TILES, strict=True)]
    starts = [", ".join("starts" if size * width // 2 <= limit else "no" for size in taken) for width in (2, 4)]
    print(f"{card}: pairs {', '.join(pairs)}; 16 bits {starts[0]}; 32 bits {starts[1]}")
    #> A100: pairs 2, 3, 2; 16 bits starts, starts, starts; 32 bits no, no, starts
    #> RTX 4090: pairs 2, 3, 2; 16 bits starts, no, starts; 32 bits no, no, starts
    #> H100: pairs 3, 4, 3; 16 bits starts, starts, starts; 32 bits no, no, starts
    #> B200: pairs 3, 4, 3; 16 bits starts, starts, starts; 32 bits no, no, starts
    #> RTX 5090: pairs 2, 3, 2; 16 bits starts, no, starts; 32 bits no, no, starts
# --8<-- [end:cards]
