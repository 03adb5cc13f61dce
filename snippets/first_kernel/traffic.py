"""One large addition, for the hardware's counters to watch: how many bytes really leave the memory?"""
# needs: cuda
# counters: blockwise
import sys

# --8<-- [start:imports]
import torch
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

# --8<-- [start:traffic]
from kernels.add import add

x = torch.randn(2**28, device="cuda")
y = torch.randn(2**28, device="cuda")
add(x, y)  # compiles the kernel; only the next call is watched
torch.cuda.synchronize()
torch.cuda.profiler.start()
out = add(x, y)
torch.cuda.profiler.stop()
# --8<-- [end:traffic]
assert torch.equal(out, x + y)
print(f"counted by hand: {2 * x.nbytes:,} bytes read, {out.nbytes:,} bytes written")
