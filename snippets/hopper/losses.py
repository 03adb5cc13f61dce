"""Products that lose to cuBLAS, or barely win, and cuBLAS's own, for the hardware's counters to watch."""
# needs: sm_90
# counters: ours_3072 cublas_3072 ours_512 cublas_512 ours_128 cublas_128 ours_8192 cublas_8192 ours_fp8 cublas_fp8
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    print("needs: sm_90 (a GPU of compute capability 9.0)")
    sys.exit(2)

from kernels.matmul import matmul
from kernels.matmul import scaled_matmul


def fast(a, b, scale_a, scale_b):
    return torch._scaled_mm(a, b, scale_a, scale_b, out_dtype=torch.bfloat16, use_fast_accum=True)


# --8<-- [start:counted]
SHAPES = {"3072": (3072,) * 3, "512": (512, 512, 65536), "128": (128, 8192, 8192), "8192": (8192, 8192, 512), "fp8": (8192,) * 3}
for case, (m, n, k) in SHAPES.items():
    ways = {"ours": scaled_matmul, "cublas": fast} if case == "fp8" else {"ours": matmul, "cublas": torch.matmul}
    for name, way in ways.items():
        if sys.argv[1:] in ([], [f"{name}_{case}"]):  # the profiler watches one way a run
            a, b = torch.randn(m, k, device="cuda"), torch.randn(n, k, device="cuda").t()
            given = a.bfloat16(), b.bfloat16().contiguous()
            if case == "fp8":  # a scale for each row of a and each column of b
                given = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn), torch.rand_like(a[:, :1]), torch.rand_like(b[:1])
            way(*given)  # compiles
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
            way(*given)
            torch.cuda.profiler.stop()
            print(f"{name}: {m} x {n} x {k}, {given[0].dtype}")
# --8<-- [end:counted]
