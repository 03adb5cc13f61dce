"""One tile times another: what tl.dot makes of float16 and of float32, and a result that its format cannot hold."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:tile]
import torch
import triton
import triton.language as tl


@triton.jit
def precise_tile_kernel(a_ptr, b_ptr, c_ptr, SIDE: tl.constexpr, PRECISION: tl.constexpr):
    lines = tl.arange(0, SIDE)
    places = lines[:, None] * SIDE + lines[None, :]
    a, b = tl.load(a_ptr + places), tl.load(b_ptr + places)
    tl.store(c_ptr + places, tl.dot(a, b, input_precision=PRECISION))


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
a, b = (torch.randn(32, 32, device=device) for _ in range(2))
exact = a.double() @ b.double()
ways = [(torch.float16, None, 1e-3), (torch.float32, "tf32", 2e-3), (torch.float32, "ieee", 1e-6)]
for dtype, precision, bound in ways:
    c = torch.empty(32, 32, device=device)
    precise_tile_kernel[(1,)](a.to(dtype), b.to(dtype), c, 32, precision)
    error = ((c.double() - exact).norm() / exact.norm()).item()
    print(f"{dtype}, {precision}: within {bound} {error < bound}")
    #> torch.float16, None: within 0.001 True
    #> torch.float32, tf32: within 0.002 True
    #> torch.float32, ieee: within 1e-06 True
# --8<-- [end:tile]

# --8<-- [start:range]
large = torch.full((32, 32), 100.0, dtype=torch.float16, device=device)
c = torch.empty(32, 32, device=device)
precise_tile_kernel[(1,)](large, large, c, 32, None)
print("32 terms of 100 times 100:", c[0, 0].item(), "and in float16:", c.half()[0, 0].item())
#> 32 terms of 100 times 100: 320000.0 and in float16: inf
# --8<-- [end:range]
