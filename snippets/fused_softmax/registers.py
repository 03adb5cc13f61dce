"""How many registers a row takes, as rows grow, and where they no longer suffice."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)


from kernels.softmax import softmax_kernel

# --8<-- [start:registers]
print(" columns  registers a thread  bytes spilled a thread  bytes of shared memory")
for k in range(10, 18):
    columns = 2**k
    x = torch.randn(4, columns, device="cuda")
    y = torch.empty_like(x)
    compiled = softmax_kernel[(4,)](x, y, columns, columns, columns, BLOCK=columns, num_warps=32)
    print(f"{columns:8,}  {compiled.n_regs:18}  {4 * compiled.n_spills:22}  {compiled.metadata.shared:22}")
# --8<-- [end:registers]
    torch.testing.assert_close(y, torch.softmax(x, dim=-1))
