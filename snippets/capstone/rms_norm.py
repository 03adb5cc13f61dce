"""RMS norm of every row, with the gradients of the row and the weight."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

import triton
import triton.language as tl

from snippets.capstone.tuning import programs_of, tuned


# --8<-- [start:kernels]
@triton.jit
def capstone_rms_norm_kernel(x_ptr, weight_ptr, y_ptr, rstd_ptr, n_columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    # [write] 1 / the root of the row's mean square and eps; store it, and the row times it times the weight
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    rstd = 1 / tl.sqrt(tl.sum(x * x, axis=0) / n_columns + eps)
    weight = tl.load(weight_ptr + columns, mask=mask).to(tl.float32)
    tl.store(y_ptr + row * n_columns + columns, x * rstd * weight, mask=mask)
    tl.store(rstd_ptr + row, rstd)
    # [/write]


@triton.jit
def capstone_rms_norm_backward_kernel(
    dy_ptr, x_ptr, weight_ptr, rstd_ptr, dx_ptr, parts_ptr, n_rows, n_columns, BLOCK: tl.constexpr
):
    # This program has every num_programs-th row, and adds up its part of the weight's gradient.
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    dweight = tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(0).to(tl.int64), n_rows, tl.num_programs(0)):
        # [write] g = dy * weight; store (g - normal * the mean of g * normal) * rstd; add dy * normal to dweight
        at = row * n_columns + columns
        dy = tl.load(dy_ptr + at, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        normal = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32) * rstd
        g = dy * weight
        tl.store(dx_ptr + at, (g - normal * (tl.sum(g * normal, axis=0) / n_columns)) * rstd, mask=mask)
        dweight += dy * normal
        # [/write]
    tl.store(parts_ptr + tl.program_id(0).to(tl.int64) * n_columns + columns, dweight, mask=mask)
# --8<-- [end:kernels]


tuned_rms_norm = tuned(capstone_rms_norm_kernel, ["n_columns"])
tuned_rms_norm_backward = tuned(capstone_rms_norm_backward_kernel, ["n_columns"])


class RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps):
        rows = x.contiguous().view(-1, x.shape[-1])
        y, rstd = torch.empty_like(rows), torch.empty(len(rows), device=x.device)
        block = triton.next_power_of_2(rows.shape[1])
        tuned_rms_norm[(len(rows),)](rows, weight, y, rstd, rows.shape[1], eps, BLOCK=block)
        ctx.save_for_backward(rows, weight, rstd)
        return y.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        rows, weight, rstd = ctx.saved_tensors
        programs = min(len(rows), programs_of(dy.device))
        dx, parts = torch.empty_like(rows), torch.empty(programs, rows.shape[1], device=dy.device)
        given = dy.contiguous(), rows, weight, rstd, dx, parts, *rows.shape
        tuned_rms_norm_backward[(programs,)](*given, BLOCK=triton.next_power_of_2(rows.shape[1]))
        return dx.view_as(dy), parts.sum(dim=0).to(weight.dtype), None


def rms_norm(x, weight, eps=1e-6):
    """RMS norm over the last dimension."""
    return RmsNorm.apply(x, weight, eps)


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, weight = torch.randn(64, 781, device=device), torch.randn(781, device=device)
    expected = torch.nn.functional.rms_norm(x, (781,), weight, 1e-6)
    print("off by rounding only:", torch.allclose(rms_norm(x, weight), expected, atol=1e-5))
