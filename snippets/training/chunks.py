"""The loss of a language model's head in chunks of rows: the same numbers, and no matrix of logits."""

# --8<-- [start:imports]
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode
# --8<-- [end:imports]


# --8<-- [start:watch]
class Largest(TorchDispatchMode):
    """Notes the largest tensor that any operation makes."""

    numbers = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        made = out if isinstance(out, tuple) else (out,)
        sizes = [t.numel() for t in made if isinstance(t, torch.Tensor)]
        self.numbers = max(self.numbers, *sizes, 0)
        return out
# --8<-- [end:watch]


# --8<-- [start:chunked]
def chunked(x, weight, target, rows):
    """The mean loss, and its gradients with respect to x and weight."""
    loss, dx, dweight = 0.0, torch.empty_like(x), torch.zeros_like(weight)
    for first in range(0, len(x), rows):
        part = slice(first, first + rows)
        logits = x[part] @ weight.T  # [rows, classes]
        loss += F.cross_entropy(logits, target[part], reduction="sum")
        logits = torch.softmax(logits, 1)
        logits[torch.arange(len(logits)), target[part]] -= 1
        logits /= len(x)  # by now these are the gradient of the logits
        dx[part] = logits @ weight
        dweight += logits.T @ x[part]
    return loss / len(x), dx, dweight
# --8<-- [end:chunked]


# --8<-- [start:compare]
torch.manual_seed(0)
x = torch.randn(512, 64, requires_grad=True)
weight = torch.randn(4000, 64, requires_grad=True)
target = torch.randint(0, 4000, (512,))
with Largest() as whole:
    loss = F.cross_entropy(x @ weight.T, target)
    expected = torch.autograd.grad(loss, (x, weight))
with torch.no_grad(), Largest() as parts:
    found = chunked(x, weight, target, rows=32)
torch.testing.assert_close(found, (loss, *expected), rtol=1e-4, atol=1e-6)
print(f"all at once: at most {whole.numbers:,} numbers in a tensor")
#> all at once: at most 2,048,000 numbers in a tensor
print(f"in chunks:   at most {parts.numbers:,}")
#> in chunks:   at most 256,000
print(f"the weight:  {weight.numel():,}")
#> the weight:  256,000
# --8<-- [end:compare]
