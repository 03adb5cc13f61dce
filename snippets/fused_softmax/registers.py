"""How many registers a row takes, as rows grow, and where they no longer suffice."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)


from kernels.softmax.softmax import softmax_kernel

# --8<-- [start:registers]
lengths = [2**k for k in range(10, 18)]
asked = [(columns, None) for columns in lengths] + [(lengths[-1], 64)]
print(" columns  registers a thread  bytes spilled a thread")
for columns, most in asked:
    x = torch.randn(4, columns, device="cuda").to(torch.bfloat16)
    y = torch.empty_like(x)
    compiled = softmax_kernel[(4,)](
        x, y, columns, columns, columns, BLOCK=columns, num_warps=32, maxnreg=most
    )
    note = f"  maxnreg={most}" if most else ""
    print(f"{columns:8,}  {compiled.n_regs:18}  {4 * compiled.n_spills:22}{note}")
    torch.testing.assert_close(y, torch.softmax(x, dim=-1))
# --8<-- [end:registers]
