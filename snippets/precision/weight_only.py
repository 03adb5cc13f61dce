"""A linear layer whose weights are int8 with a scale for each 128 of them, and whose activations keep 16 bits."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import torch.nn.functional as F
import triton
import triton.language as tl


# --8<-- [start:kernel]
@triton.jit
def weight_only_silu_kernel(
    x_ptr, w_ptr, scale_ptr, bias_ptr, y_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr,
):
    # This program owns one tile of y. A step of the loop is a group: the weights that share a scale.
    rows = tl.program_id(1).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]  # [BLOCK_M, 1]
    columns = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # [1, BLOCK_N]
    n_groups = tl.cdiv(K, GROUP)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for group in range(n_groups):
        inner = group * GROUP + tl.arange(0, GROUP)  # [GROUP]
        x_ptrs = x_ptr + rows * K + inner[None, :]  # [BLOCK_M, GROUP]
        w_ptrs = w_ptr + columns * K + inner[:, None]  # [GROUP, BLOCK_N]
        x = tl.load(x_ptrs, mask=(rows < M) & (inner < K)[None, :], other=0.0)
        w = tl.load(w_ptrs, mask=(columns < N) & (inner < K)[:, None], other=0)  # int8
        scale = tl.load(scale_ptr + columns * n_groups + group, mask=columns < N, other=0.0)  # [1, BLOCK_N]
        total += tl.dot(x, w.to(x.dtype)) * scale  # what the group adds, by its scale
    # The epilogue: the sums are complete, and still on the chip.
    z = total + tl.load(bias_ptr + columns, mask=columns < N, other=0.0)
    tl.store(y_ptr + rows * N + columns, z * tl.sigmoid(z), mask=(rows < M) & (columns < N))
# --8<-- [end:kernel]


# --8<-- [start:quantize]
GROUP = 128


def in_groups(weight, largest=127):
    """Weights [N, K] as int8 with a scale for each group of each row, [N, groups]; K may end inside a group."""
    N, K = weight.shape
    groups = F.pad(weight.float(), (0, -K % GROUP)).view(N, -1, GROUP)
    scale = groups.abs().amax(2).clamp_min(1e-12) / largest
    q = (groups / scale[:, :, None]).round().clamp(-largest, largest).to(torch.int8)
    return q.view(N, -1)[:, :K].contiguous(), scale


def multiplied(q, scale):
    """What the weights stand for: each times its group's scale, in float64."""
    return q.double() * scale.double().repeat_interleave(GROUP, 1)[:, : q.shape[1]]
# --8<-- [end:quantize]


# --8<-- [start:use]
def linear_silu_int8(x, q, scale, bias, out_dtype=None):
    (M, K), N = x.shape, q.shape[0]
    y = torch.empty((M, N), dtype=out_dtype or x.dtype, device=x.device)
    grid = (triton.cdiv(N, 32), triton.cdiv(M, 16))
    weight_only_silu_kernel[grid](x, q, scale, bias, y, M, N, K, BLOCK_M=16, BLOCK_N=32, GROUP=GROUP)
    return y


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
weight, bias = torch.randn(80, 300, device=device), torch.randn(80, device=device)
q, scale = in_groups(weight)
for rows in (1, 20):
    x = torch.randn(rows, 300, device=device).half()
    y = linear_silu_int8(x, q, scale, bias)
    expected = F.silu(x.double() @ multiplied(q, scale).T + bias)
    print(rows, "rows:", torch.allclose(y.double(), expected, rtol=2e-3, atol=2e-3))
    #> 1 rows: True
    #> 20 rows: True
# --8<-- [end:use]


# --8<-- [start:where]
def off(found):
    return ((found.double() - exact).norm() / exact.norm()).item()


whole = torch.arange(-127, 128)
print("every int8 is a number of bfloat16:", torch.equal(whole.bfloat16().int(), whole.int()))
#> every int8 is a number of bfloat16: True
weights = multiplied(q, scale)
exact = F.silu(x.double() @ weights.T + bias)
after = off(linear_silu_int8(x, q, scale, bias, out_dtype=torch.float32))
before = off(F.silu(x.double() @ weights.half().double().T + bias))  # scaled, rounded to 16 bits, and then multiplied
print("scaled after the group's product, within 1e-5:", after < 1e-5)
#> scaled after the group's product, within 1e-5: True
print("scaled before it, within 1e-4:", before < 1e-4)
#> scaled before it, within 1e-4: False
# --8<-- [end:where]


# --8<-- [start:int4]
@triton.jit
def int4_linear_kernel(
    x_ptr, packed_ptr, scale_ptr, y_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr,
):
    HALF: tl.constexpr = GROUP // 2
    rows = tl.program_id(1).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]  # [BLOCK_M, 1]
    columns = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # [1, BLOCK_N]
    half = tl.arange(0, HALF)  # [HALF]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for group in range(K // GROUP):  # the last group has to be whole here
        x_ptrs = x_ptr + rows * K + group * GROUP + half[None, :]  # [BLOCK_M, HALF]
        x_first = tl.load(x_ptrs, mask=rows < M, other=0.0)
        x_second = tl.load(x_ptrs + HALF, mask=rows < M, other=0.0)
        packed_ptrs = packed_ptr + columns * (K // 2) + group * HALF + half[:, None]  # [HALF, BLOCK_N]
        packed = tl.load(packed_ptrs, mask=columns < N, other=0)  # int8: two numbers of four bits
        first = (packed << 4) >> 4  # up, and down again with copies of the sign
        second = packed >> 4
        part = tl.dot(x_first, first.to(x_first.dtype))
        part = tl.dot(x_second, second.to(x_first.dtype), part)
        total += part * tl.load(scale_ptr + columns * (K // GROUP) + group, mask=columns < N, other=0.0)
    tl.store(y_ptr + rows * N + columns, total, mask=(rows < M) & (columns < N))


def packed_in_halves(q):
    """A byte holds a weight of its group's first half, and in the upper four bits one of the second half."""
    first, second = q.view(q.shape[0], -1, 2, GROUP // 2).unbind(2)
    return ((second << 4) | (first & 15)).reshape(q.shape[0], -1)


weight, x = torch.randn(80, 256, device=device), torch.randn(5, 256, device=device).half()
q, scale = in_groups(weight, largest=7)
packed = packed_in_halves(q)
y = torch.empty(5, 80, device=device)
int4_linear_kernel[(3, 1)](x, packed, scale, y, 5, 80, 256, BLOCK_M=16, BLOCK_N=32, GROUP=GROUP)
expected = x.double() @ multiplied(q, scale).T
print(q.numel(), "weights in", packed.numel(), "bytes:", torch.allclose(y.double(), expected, rtol=1e-4, atol=1e-4))
#> 20480 weights in 10240 bytes: True
# --8<-- [end:int4]
