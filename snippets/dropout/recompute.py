"""The backward pass draws the mask again: nothing is kept for it but the seed."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:recompute]
import torch.nn.functional as F

from kernels.dropout import dropout

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(1000, device=device, requires_grad=True)


def bytes_kept(function):
    """What autograd keeps for the backward pass, the input itself not counted."""
    kept = []

    def note(tensor):
        kept.append(tensor.nbytes)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        y = function(x)
    return sum(kept), y


ours, y = bytes_kept(lambda x: dropout(x, 0.5, seed=7))
theirs, _ = bytes_kept(lambda x: F.dropout(x, 0.5))
print("kept by PyTorch:", theirs > 0, " kept by ours:", ours)
#> kept by PyTorch: True  kept by ours: 0

(dx,) = torch.autograd.grad(y, x, torch.ones_like(x))
print("dropped again:", torch.equal(dx == 0, y == 0))
#> dropped again: True
# --8<-- [end:recompute]
