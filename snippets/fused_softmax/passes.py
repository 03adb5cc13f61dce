"""Count what an unfused softmax reads and writes, operation by operation."""

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

# --8<-- [start:passes]
from torch.utils._python_dispatch import TorchDispatchMode

from kernels.softmax.softmax import softmax_reference


class CountTraffic(TorchDispatchMode):
    """Note the elements that every PyTorch operation reads and writes."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        read = sum(a.numel() for a in args if isinstance(a, torch.Tensor))
        self.seen.append((operation.overloadpacket.__name__, read, out.numel()))
        return out


x = torch.randn(100, 1000)
with CountTraffic() as traffic:
    softmax_reference(x)
for name, read, written in traffic.seen:
    print(f"{name:4} reads {read:7,} writes {written:7,}")
    #> amax reads 100,000 writes     100
    #> sub  reads 100,100 writes 100,000
    #> exp  reads 100,000 writes 100,000
    #> sum  reads 100,000 writes     100
    #> div  reads 100,100 writes 100,000
# --8<-- [end:passes]
