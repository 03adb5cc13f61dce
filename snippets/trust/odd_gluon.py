"""The kernel for matrix products in Gluon at shapes that fit nothing: for Compute Sanitizer to watch."""
# needs: sm_90
# sanitizers: memcheck racecheck initcheck synccheck
import sys

import torch

if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    print("needs: sm_90 (a Hopper GPU that PyTorch can use)")
    sys.exit(2)

from kernels.matmul.aligned import aligned_copy
from kernels.matmul.epilogue import Epilogue
from kernels.matmul.gluon import matmul_gluon
from kernels.matmul.configs import GLUON_TILE, NAMES

# As in odd_products.py: PyTorch fills every new tensor with NaN, which counts as written.
torch.use_deterministic_algorithms(True)
configuration = dict(zip(NAMES, GLUON_TILE, strict=True)) | {"programs": 3}
launches = 0
shapes = ((8, 8, 8), (200, 72, 136), (400, 520, 264), (200, 72, 133), (192, 64, 130), (64, 72, 132))
for m, k, n in shapes:
    for layouts in ((False, False), (False, True), (True, False), (True, True)):
        a, b = (torch.randn(*size, device="cuda").bfloat16() for size in ((m, k), (k, n)))
        a, b = (aligned_copy(x.t().contiguous().t() if turned else x) for x, turned in zip((a, b), layouts, strict=True))
        bias, z, c = torch.randn(n, device="cuda").bfloat16(), *torch.empty(2, m, n, device="cuda").bfloat16().unbind()
        for finish in (Epilogue(), Epilogue(z, bias, activation="gelu")):
            matmul_gluon(a, b, c, finish, "tf32", configuration)(a, b, c, finish)
            assert torch.isfinite(c).all() and (finish.z is None or torch.isfinite(z).all()), (m, k, n, layouts)
            launches += 1
torch.cuda.synchronize()
print(f"{launches} products, every result finite")
