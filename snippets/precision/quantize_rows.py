"""A residual sum, its norm, and the result as int8 with one scale for each row, in one kernel."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch.nn.functional as F
# --8<-- [end:imports]
import triton
import triton.language as tl


# --8<-- [start:kernel]
@triton.jit
def norm_to_int8_kernel(
    x_ptr, residual_ptr, weight_ptr, bias_ptr, h_ptr, q_ptr, scale_ptr, n_columns, eps,
    MEAN: tl.constexpr, BLOCK: tl.constexpr,
):
    # This program owns one row.
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    offsets = row * n_columns + columns
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    h = x + tl.load(residual_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    h = h.to(h_ptr.dtype.element_ty).to(tl.float32)  # rounded as it is stored: PyTorch normalizes that
    tl.store(h_ptr + offsets, h, mask=mask)
    y = h
    if MEAN:  # layer norm; without it, RMS norm
        y = tl.where(mask, h - tl.sum(h, axis=0) / n_columns, 0.0)
    y *= tl.rsqrt(tl.sum(y * y, axis=0) / n_columns + eps)
    y *= tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    if bias_ptr is not None:
        y += tl.load(bias_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    # The row is complete, and still on the chip. Masked lanes are zero, which no maximum of sizes notices.
    scale = tl.maximum(tl.max(tl.abs(y), axis=0), 1e-12) / 127
    tl.store(scale_ptr + row, scale)
    shift = 1.5 * 2**23
    q = (tl.div_rn(y, scale) + shift) - shift  # the nearest whole number, a half to the even one
    q = tl.clamp(q, -127.0, 127.0)
    tl.store(q_ptr + offsets, q.to(tl.int8), mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:use]
def norm_to_int8(x, residual, weight, bias=None, mean=True, eps=1e-5):
    n_rows, n_columns = x.shape
    h, q = torch.empty_like(x), torch.empty_like(x, dtype=torch.int8)
    scale = torch.empty(n_rows, 1, device=x.device)  # float32
    BLOCK = triton.next_power_of_2(n_columns)
    norm_to_int8_kernel[(n_rows,)](x, residual, weight, bias, h, q, scale, n_columns, eps, MEAN=mean, BLOCK=BLOCK)
    return h, q, scale


def quantized(y):
    """The same in PyTorch, for rows that are normalized already."""
    scale = y.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
    return (y / scale).round().clamp(-127, 127).to(torch.int8), scale
# --8<-- [end:use]


# --8<-- [start:check]
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
x, residual = torch.randn(2, 20, 300, device=device)
weight, bias = torch.randn(2, 300, device=device)
x[3], residual[3] = 0, 0  # a row of zeros
ways = {
    "layer norm": (bias, True, lambda h: F.layer_norm(h, (300,), weight, bias, 1e-5)),
    "RMS norm": (None, False, lambda h: F.rms_norm(h, (300,), weight, 1e-5)),
}
for name, (given, mean, norm) in ways.items():
    h, q, scale = norm_to_int8(x, residual, weight, given, mean)
    expected_q, expected_scale = quantized(norm(h))
    torch.testing.assert_close(h, x + residual)
    torch.testing.assert_close(scale, expected_scale)
    apart = (q.int() - expected_q.int()).abs()
    seldom = (apart > 0).float().mean().item() < 1e-3
    print(f"{name}: off by one at most {apart.max().item() <= 1}, and for fewer than one in a thousand {seldom}")
    #> layer norm: off by one at most True, and for fewer than one in a thousand True
    #> RMS norm: off by one at most True, and for fewer than one in a thousand True
print("the row of zeros after RMS norm:", q[3].unique().tolist(), "with a scale above zero:", scale[3].item() > 0)
#> the row of zeros after RMS norm: [0] with a scale above zero: True
back = q * scale
print("back in float32, off by half a step at most:", ((back - norm(h)).abs() <= 0.501 * scale).all().item())
#> back in float32, off by half a step at most: True
# --8<-- [end:check]
