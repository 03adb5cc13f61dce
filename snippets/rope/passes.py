"""What the plain PyTorch form reads and writes, operation by operation."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:passes]
from torch.utils._python_dispatch import TorchDispatchMode

from kernels.rotary_embedding.rotary_embedding import rotary_embedding_reference


class CountTraffic(TorchDispatchMode):
    """Add up the bytes of the tensors that every operation takes and makes."""

    def __init__(self):
        super().__init__()
        self.operations = self.read = self.written = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        if not operation.is_view:
            given = args[0] if isinstance(args[0], list) else args
            self.operations += 1
            self.read += sum(a.nbytes for a in given if isinstance(a, torch.Tensor))
            self.written += out.nbytes
        return out


def empty(*shape):
    return torch.empty(*shape, dtype=torch.bfloat16, device="meta")


q, k = empty(2, 32, 4096, 128), empty(2, 8, 4096, 128)
cos, sin = empty(4096, 128), empty(4096, 128)
with CountTraffic() as traffic:
    rotary_embedding_reference(q, k, cos, sin)
least = q.nbytes + k.nbytes
print(f"{traffic.operations} operations")
#> 10 operations
print(f"read {traffic.read / least:.1f} times, written {traffic.written / least:.1f} times")
#> read 5.5 times, written 4.5 times
# --8<-- [end:passes]
