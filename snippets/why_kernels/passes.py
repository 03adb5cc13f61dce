"""What each operation of an MLP's first half reads and writes, counted from its tensors; nothing is computed."""

import torch

# --8<-- [start:half]
import torch
import torch.nn.functional as F


def first_half(x, norm_weight, norm_bias, weight, bias):
    x = F.layer_norm(x, x.shape[-1:], norm_weight, norm_bias)
    x = F.linear(x, weight, bias)
    x = F.gelu(x)
    return torch.native_dropout(x, 0.1, train=True)[0]
# --8<-- [end:half]


# --8<-- [start:passes]
from torch.utils._python_dispatch import TorchDispatchMode


class CountTraffic(TorchDispatchMode):
    """Note the bytes of the tensors that each operation takes and returns."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        if not operation.is_view:
            tensors = {id(a): a for a in args if isinstance(a, torch.Tensor)}
            read = sum(a.nbytes for a in tensors.values())
            written = sum(
                t.nbytes for t in (out if isinstance(out, tuple) else (out,))
            )
            self.seen.append((operation.overloadpacket.__name__, read, written))
        return out


shapes = [(8192, 4096), (4096,), (4096,), (16384, 4096), (16384,)]
inputs = [torch.empty(s, dtype=torch.bfloat16, device="meta") for s in shapes]
with CountTraffic() as traffic:
    first_half(*inputs)
for name, read, written in traffic.seen:
    print(f"{name:17} reads {read / 1e6:3.0f} MB, writes {written / 1e6:3.0f} MB")
    #> native_layer_norm reads  67 MB, writes  67 MB
    #> addmm             reads 201 MB, writes 268 MB
    #> gelu              reads 268 MB, writes 268 MB
    #> native_dropout    reads 268 MB, writes 403 MB
# --8<-- [end:passes]
