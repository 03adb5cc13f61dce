"""The most memory that a loss and its gradients hold at once, counted tensor by tensor on a CPU."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
# --8<-- [end:imports]
from snippets.training.ways import eager, in_chunks, in_float32


# --8<-- [start:live]
class Live(TorchDispatchMode):
    """Counts the bytes that operations have made and that are not yet free again, and the most of them."""

    def __init__(self, *given):
        super().__init__()
        self.bytes = self.most = 0
        self.known = {t.untyped_storage()._cdata for t in given}  # what was there before

    def free(self, name, size):
        self.known.remove(name)
        self.bytes -= size

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        for tensor in (t for t in tree_leaves(out) if isinstance(t, torch.Tensor)):
            storage = tensor.untyped_storage()
            name, size = storage._cdata, storage.nbytes()
            if name not in self.known:
                self.known.add(name)
                self.bytes += size
                weakref.finalize(storage, self.free, name, size)
        self.most = max(self.most, self.bytes)
        return out
# --8<-- [end:live]


# --8<-- [start:count]
def most(way, dtype, tokens=256, hidden=32, classes=4000):
    """What is held at the worst moment of a step, in matrices of logits."""
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.randn(tokens, hidden, device=device, dtype=dtype, requires_grad=True)
    weight = torch.randn(classes, hidden, device=device, dtype=dtype, requires_grad=True)
    target = torch.randint(0, classes, (tokens,), device=device)
    with Live(x, weight, target) as live:
        torch.autograd.grad(way(x, weight, target), (x, weight))
    return live.most / (tokens * classes * x.element_size())


print(f"eager, float32:       {most(eager, torch.float32):.2f}")
#> eager, float32:       3.00
print(f"eager, bfloat16:      {most(eager, torch.bfloat16):.2f}")
#> eager, bfloat16:      3.00
print(f"in_float32, bfloat16: {most(in_float32, torch.bfloat16):.2f}")
#> in_float32, bfloat16: 6.00
print(f"in_chunks, bfloat16:  {most(in_chunks, torch.bfloat16):.2f}")
#> in_chunks, bfloat16:  0.26
# --8<-- [end:count]
