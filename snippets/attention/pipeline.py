"""The kernel in powers of two with more stages: the next keys and values are on their way while these are multiplied."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch.nn.functional as F
import triton
import triton.language as tl
# --8<-- [end:imports]

from snippets.attention.exp2 import exp2_attention_kernel


# --8<-- [start:launch]
def staged_attention(q, k, v, num_stages, block_m=128, block_n=64, num_warps=8):
    heads, length, width = q.shape
    out = torch.empty_like(q)
    grid, factor = (triton.cdiv(length, block_m), heads), width**-0.5 * 1.4426950408889634
    sides = {"HEAD": width, "BLOCK_M": block_m, "BLOCK_N": block_n}
    options = {"num_warps": num_warps, "num_stages": num_stages}
    exp2_attention_kernel[grid](q, k, v, out, length, factor, **sides, **options)
    return out
# --8<-- [end:launch]


if __name__ == "__main__":
    # --8<-- [start:check]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 300, 64, device=device).half()
    exact = (q.double(), k.double(), v.double())
    expected = F.scaled_dot_product_attention(*exact, is_causal=True)
    for num_stages in (1, 2, 3, 4):
        out = staged_attention(q, k, v, num_stages)
        torch.testing.assert_close(out.double(), expected, rtol=1e-2, atol=1e-3)
    print("any number of stages gives the same result, to float16's digits")
    #> any number of stages gives the same result, to float16's digits
    # --8<-- [end:check]
