"""What the questions of the lesson ask, counted: each line is the answer to one."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode

ROWS, COLUMNS = 64, 4096


class Passes(TorchDispatchMode):
    """Count each time that an operation reads or writes something as large as the matrix."""

    made = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        self.made += sum(isinstance(part, torch.Tensor) and part.numel() == ROWS * COLUMNS for part in (*args, out))
        return out


def passes(function, *inputs):
    with Passes() as counted:
        function(*inputs)
    return counted.made


x, y = torch.rand(2, ROWS, COLUMNS)
print(f"saved: {passes(lambda: x.abs().sqrt().neg().exp()) - 2}")
print(f"center: {passes(lambda: x - x.mean(dim=1, keepdim=True))}")
print(f"gated: {passes(lambda: torch.nn.functional.silu(x) * y) / 3:.2f}")
