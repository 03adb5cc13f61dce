"""Sums along rows and along columns: one kernel, and the tile decides."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]



# --8<-- [start:kernel]
@triton.jit
def reduce_tile_kernel(
    x_ptr, out_ptr, result_stride, term_stride, n_results, n_terms,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    # This program owns BLOCK_M results and walks along their terms.
    results = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, n_terms, BLOCK_N):
        terms = start + tl.arange(0, BLOCK_N).to(tl.int64)
        x_ptrs = x_ptr + results[:, None] * result_stride + terms[None, :] * term_stride
        mask = (results < n_results)[:, None] & (terms < n_terms)[None, :]
        total += tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + results, tl.sum(total, axis=1), mask=results < n_results)
# --8<-- [end:kernel]


# --8<-- [start:use]
def row_sums(x, block_m=1, block_n=1024):
    out = torch.empty(x.shape[0], device=x.device)
    grid = (triton.cdiv(x.shape[0], block_m),)
    reduce_tile_kernel[grid](
        x, out, x.stride(0), x.stride(1), x.shape[0], x.shape[1],
        BLOCK_M=block_m, BLOCK_N=block_n,
    )
    return out


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(100, 1500, device=device)
torch.testing.assert_close(row_sums(x), x.sum(1), rtol=1e-4, atol=1e-4)
columns = row_sums(x.T, block_m=64, block_n=16)  # a column is a row of the transpose
torch.testing.assert_close(columns, x.sum(0), rtol=1e-4, atol=1e-4)
print(f"{len(row_sums(x))} rows and {len(columns)} columns agree with PyTorch")
#> 100 rows and 1500 columns agree with PyTorch
# --8<-- [end:use]
