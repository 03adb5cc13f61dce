"""Softmax of every row in one pass over memory, with its gradient. One program has one row."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]

from snippets.capstone.tuning import tuned


# --8<-- [start:kernels]
@triton.jit
def capstone_softmax_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    # [write] load the row in float32, take its largest off, and store the exponentials divided by their sum
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n_columns + columns, e / tl.sum(e, axis=0), mask=mask)
    # [/write]


@triton.jit
def capstone_softmax_backward_kernel(dy_ptr, y_ptr, dx_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    # [write] load dy and y in float32, and store y * (dy - the row's sum of dy * y)
    dy = tl.load(dy_ptr + row * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + row * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    tl.store(dx_ptr + row * n_columns + columns, y * (dy - tl.sum(dy * y, axis=0)), mask=mask)
    # [/write]
# --8<-- [end:kernels]


# --8<-- [start:function]
tuned_softmax = tuned(capstone_softmax_kernel, ["n_columns"])
tuned_softmax_backward = tuned(capstone_softmax_backward_kernel, ["n_columns"])


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        rows = x.contiguous().view(-1, x.shape[-1])
        y = torch.empty_like(rows)
        # [write] call tuned_softmax with rows and y, one program a row, BLOCK the next power of two; then keep y for the way back
        tuned_softmax[(len(rows),)](rows, y, rows.shape[1], BLOCK=triton.next_power_of_2(rows.shape[1]))
        ctx.save_for_backward(y)
        # [/write]
        return y.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        dx = torch.empty_like(y)
        # [write] call tuned_softmax_backward in the same way; dy may have any strides, so make it contiguous
        given = dy.contiguous(), y, dx, y.shape[1]
        tuned_softmax_backward[(len(y),)](*given, BLOCK=triton.next_power_of_2(y.shape[1]))
        # [/write]
        return dx.view_as(dy)


def softmax(x):
    """Softmax over the last dimension."""
    return Softmax.apply(x)
# --8<-- [end:function]


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.randn(64, 781, device=device)
    print("off by rounding only:", torch.allclose(softmax(x), torch.softmax(x, dim=-1), atol=1e-6))
