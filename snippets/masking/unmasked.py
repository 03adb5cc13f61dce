"""What a load without a mask returns: whatever lies behind the vector."""
# sanitizer: memcheck
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:triton]
import triton
import triton.language as tl
# --8<-- [end:triton]


# --8<-- [start:unmasked]
@triton.jit
def unmasked_sum_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))  # the mistake: no mask
    tl.store(out_ptr, tl.sum(x, axis=0))


device = "cuda" if torch.cuda.is_available() else "cpu"
memory = torch.ones(2048, device=device)
x, neighbor = memory[:1000], memory[1000:]
neighbor.fill_(100.0)
out = torch.empty(1, device=device)
unmasked_sum_kernel[(1,)](x, out, BLOCK=1024)
print("PyTorch:", x.sum().item(), " this kernel:", out.item())
#> PyTorch: 1000.0  this kernel: 3400.0
# --8<-- [end:unmasked]
assert out.item() == 3400, "the mistake this program shows did not happen"
