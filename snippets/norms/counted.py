"""Forward passes of awkward rows, beside those of torch.compile, for the hardware's counters to watch."""
# needs: cuda
# counters: ours_odd compile_odd ours_128 compile_128 ours_1024 compile_1024
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch.nn.functional as F

from kernels.norm import layer_norm


def plain(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


CASES = {"odd": (8192, 5001), "128": (262144, 128), "1024": (512, 1024)}
for case, (rows, columns) in CASES.items():
    for name, way in {"ours": layer_norm, "compile": torch.compile(plain, dynamic=False)}.items():
        if sys.argv[1:] in ([], [f"{name}_{case}"]):  # the profiler watches one way a run
            x = torch.randn(rows, columns, device="cuda").bfloat16()
            weight, bias = torch.randn(2, columns, device="cuda").bfloat16().unbind()
            with torch.no_grad():
                way(x, weight, bias)  # compiles
                torch.cuda.synchronize()
                torch.cuda.profiler.start()
                way(x, weight, bias)
                torch.cuda.profiler.stop()
            print(f"{name}: {rows} rows of {columns}, {2 * x.nbytes:,} bytes at least")
