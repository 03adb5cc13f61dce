"""What the questions of the lesson ask, asked of PyTorch: each line is the answer to one."""
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

ROWS, COLUMNS = 64, 1024


class Passes(TorchDispatchMode):
    """Count each time that an operation, not a view, reads or writes something as large as the gate."""

    made = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        if not operation.is_view:
            self.made += sum(isinstance(part, torch.Tensor) and part.numel() == ROWS * COLUMNS for part in (*args, out))
        return out


gate, up = torch.rand(ROWS, 2 * COLUMNS).chunk(2, dim=1)
with Passes() as copies:
    gate, up = gate.contiguous(), up.contiguous()
print(f"copied: {copies.made + 3}")

gate, up = torch.tensor(1.5, requires_grad=True), torch.tensor(0.0, requires_grad=True)
dgate, dup = torch.autograd.grad(F.silu(gate) * up, (gate, up))
vanish = [name for name, gradient in {"dgate": dgate, "dup": dup}.items() if gradient == 0]
print(f"vanish: {' and '.join(vanish)}")

through = (F.silu(torch.tensor(-20.0)) * 3).item()
print(f"closed: {'nothing' if abs(through) < 1e-6 else round(through)}")
