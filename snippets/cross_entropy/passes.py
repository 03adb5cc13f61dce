"""What PyTorch's cross-entropy reads and writes for a language model's logits, operation by operation."""

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

# --8<-- [start:passes]
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode


class CountLarge(TorchDispatchMode):
    """Note the operations, and the tensors as large as the logits around them."""

    def __init__(self, size):
        super().__init__()
        self.size, self.seen = size, []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        given = [a for a in args if isinstance(a, torch.Tensor)]
        made = out if isinstance(out, tuple) else (out,)
        large = [sum(t.numel() == self.size for t in side) for side in (given, made)]
        if sum(large) and not operation.is_view:
            self.seen.append((operation.overloadpacket.__name__, *large))
        return out


tokens = {"dtype": torch.bfloat16, "device": "meta", "requires_grad": True}
logits = torch.empty(8192, 128256, **tokens)
target = torch.empty(8192, dtype=torch.int64, device="meta")
with CountLarge(logits.numel()) as traffic:
    F.cross_entropy(logits, target).backward()
print(f"the logits: {logits.nbytes / 1e9:.1f} GB")
#> the logits: 2.1 GB
for name, taken, made in traffic.seen:
    print(f"{name:26} takes {taken} and makes {made} of that size")
    #> _log_softmax               takes 1 and makes 1 of that size
    #> nll_loss_forward           takes 1 and makes 0 of that size
    #> nll_loss_backward          takes 1 and makes 1 of that size
    #> _log_softmax_backward_data takes 2 and makes 1 of that size
# --8<-- [end:passes]
