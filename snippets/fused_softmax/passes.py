"""Count what an unfused softmax reads and writes, operation by operation."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernels.softmax import softmax_reference


# --8<-- [start:passes]
class CountTraffic(TorchDispatchMode):
    """Print the elements that every PyTorch operation reads and writes."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        read = sum(a.numel() for a in args if isinstance(a, torch.Tensor))
        print(f"{operation.overloadpacket.__name__:5} reads {read:7,} writes {out.numel():7,}")
        return out


x = torch.randn(100, 1000)
with CountTraffic():
    softmax_reference(x)
#> amax  reads 100,000 writes     100
#> sub   reads 100,100 writes 100,000
#> exp   reads 100,000 writes 100,000
#> sum   reads 100,000 writes     100
#> div   reads 100,100 writes 100,000
# --8<-- [end:passes]
