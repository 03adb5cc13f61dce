"""LayerNorm of every row, with the gradients of the row, the weight and the bias."""
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
def capstone_layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, mean_ptr, rstd_ptr, n_columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    # [write] the mean; the mean square of what differs from it, masked lanes empty; 1 / its root; store both; scale, shift, store
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n_columns
    centered = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centered * centered, axis=0) / n_columns + eps)
    weight = tl.load(weight_ptr + columns, mask=mask).to(tl.float32)
    bias = tl.load(bias_ptr + columns, mask=mask).to(tl.float32)
    tl.store(y_ptr + row * n_columns + columns, centered * rstd * weight + bias, mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    # [/write]


@triton.jit
def capstone_layer_norm_backward_kernel(
    dy_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, dx_ptr, parts_ptr, n_rows, n_columns, BLOCK: tl.constexpr
):
    # This program has every num_programs-th row. It adds up its parts of the weight's and the bias's gradients.
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    dweight, dbias = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(0).to(tl.int64), n_rows, tl.num_programs(0)):
        # [write] normal, g = dy * weight; store (g - its mean - normal * the mean of g * normal) * rstd; add to dweight and dbias
        at = row * n_columns + columns
        dy = tl.load(dy_ptr + at, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        normal = tl.where(mask, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
        g = dy * weight
        along = tl.sum(g * normal, axis=0) / n_columns
        tl.store(dx_ptr + at, (g - tl.sum(g, axis=0) / n_columns - normal * along) * rstd, mask=mask)
        dweight += dy * normal
        dbias += dy
        # [/write]
    part = parts_ptr + tl.program_id(0).to(tl.int64) * 2 * n_columns + columns
    tl.store(part, dweight, mask=mask)
    tl.store(part + n_columns, dbias, mask=mask)
# --8<-- [end:kernels]


tuned_layer_norm = tuned(capstone_layer_norm_kernel, ["n_columns"])
tuned_layer_norm_backward = tuned(capstone_layer_norm_backward_kernel, ["n_columns"])


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        rows = x.contiguous().view(-1, x.shape[-1])
        y, kept = torch.empty_like(rows), torch.empty(2, len(rows), device=x.device)
        block = triton.next_power_of_2(rows.shape[1])
        tuned_layer_norm[(len(rows),)](rows, weight, bias, y, kept[0], kept[1], rows.shape[1], eps, BLOCK=block)
        ctx.save_for_backward(rows, weight, kept)
        return y.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        rows, weight, kept = ctx.saved_tensors
        programs = min(len(rows), programs_of(dy.device))
        dx, parts = torch.empty_like(rows), torch.empty(programs, 2, rows.shape[1], device=dy.device)
        given = dy.contiguous(), rows, weight, kept[0], kept[1], dx, parts, *rows.shape
        tuned_layer_norm_backward[(programs,)](*given, BLOCK=triton.next_power_of_2(rows.shape[1]))
        dweight, dbias = parts.sum(dim=0).to(weight.dtype)
        return dx.view_as(dy), dweight, dbias, None


def layer_norm(x, weight, bias, eps=1e-5):
    """LayerNorm over the last dimension."""
    return LayerNorm.apply(x, weight, bias, eps)


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, weight, bias = (torch.randn(*shape, device=device) for shape in ((64, 781), (781,), (781,)))
    expected = torch.nn.functional.layer_norm(x, (781,), weight, bias)
    print("off by rounding only:", torch.allclose(layer_norm(x, weight, bias), expected, atol=1e-5))
