"""Smaller tiles for the last wave: whole tiles while all programs have one, then the rest in pieces of fewer columns."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

# --8<-- [start:library]
from kernels.matmul.epilogue import matmul_tile
# --8<-- [end:library]


# --8<-- [start:pieces]
@triton.jit
def tail_pieces_kernel(
    a_desc, b_desc, c_desc, b_piece_desc, c_piece_desc, c_ptr, M, N, K, n_whole,
    UPCAST: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, PIECE: tl.constexpr,
    BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns every num_programs-th whole tile, and then every num_programs-th piece, of PIECE columns.
    pid, n_programs, n_pieces = tl.program_id(0), tl.num_programs(0), BLOCK_N // PIECE
    n_split = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N) - n_whole
    for tile in tl.range(pid, n_whole, n_programs, flatten=True):
        pid_m, pid_n = matmul_tile(tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([pid_m * BLOCK_M, k])  # [BLOCK_M, BLOCK_K]
            b = b_desc.load([k, pid_n * BLOCK_N])  # [BLOCK_K, BLOCK_N]
            if UPCAST:
                a, b = a.to(tl.float32), b.to(tl.float32)
            total = tl.dot(a, b, total)
        c_desc.store([pid_m * BLOCK_M, pid_n * BLOCK_N], total.to(c_ptr.dtype.element_ty))
    for piece in tl.range(pid, n_split * n_pieces, n_programs, flatten=True):
        pid_m, pid_n = matmul_tile(n_whole + piece // n_pieces, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        row, column = pid_m * BLOCK_M, pid_n * BLOCK_N + piece % n_pieces * PIECE
        part = tl.zeros((BLOCK_M, PIECE), tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([row, k])  # [BLOCK_M, BLOCK_K]
            b = b_piece_desc.load([k, column])  # [BLOCK_K, PIECE]
            if UPCAST:
                a, b = a.to(tl.float32), b.to(tl.float32)
            part = tl.dot(a, b, part)
        c_piece_desc.store([row, column], part.to(c_ptr.dtype.element_ty))
# --8<-- [end:pieces]


# --8<-- [start:launch]
def tile_descriptor(matrix, *block):
    """A descriptor of a matrix, made by the host, for tiles of this shape."""
    return TensorDescriptor(matrix, list(matrix.shape), list(matrix.stride()), list(block))


def pieces_product(a, b, programs, n_pieces, block_n=256, stages=3):
    """The product in tiles of 128 by block_n, and those of the last wave in n_pieces pieces each."""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    n_tiles, piece = triton.cdiv(M, 128) * triton.cdiv(N, block_n), block_n // n_pieces
    descriptors = tile_descriptor(a, 128, 64), tile_descriptor(b, 64, block_n), tile_descriptor(c, 128, block_n)
    small = tile_descriptor(b, 64, piece), tile_descriptor(c, 128, piece)
    sides = {"BLOCK_M": 128, "BLOCK_N": block_n, "PIECE": piece, "BLOCK_K": 64, "GROUP_M": 8}
    options = {"UPCAST": not a.is_cuda, "num_warps": 8, "num_stages": stages}
    whole = n_tiles - n_tiles % programs
    pieces_product.kernel = tail_pieces_kernel[(programs,)](*descriptors, *small, c, M, N, K, whole, **sides, **options)
    return c
# --8<-- [end:launch]


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for M, N, K in ((200, 600, 136), (128, 1024, 64)):
        a = torch.randint(-4, 5, (M, K), device=device).half()
        b = torch.randint(-4, 5, (K, N), device=device).half()
        print(torch.equal(pieces_product(a, b, 4, 4).double(), a.double() @ b.double()))
        #> True
        #> True
