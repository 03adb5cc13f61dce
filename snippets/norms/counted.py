"""Forward passes that lose, beside torch.compile's, for the hardware's counters to watch."""
# needs: cuda
# counters: blockwise_5001 compile_5001 blockwise_rms_5001 compile_rms_5001 blockwise_8192 compile_8192 blockwise_128 compile_128
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch.nn.functional as F

from kernels.layer_norm import layer_norm
from kernels.rms_norm import rms_norm


def plain(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


def plain_rms(x, weight, bias):
    return F.rms_norm(x, x.shape[-1:], weight, 1e-6)


# --8<-- [start:counted]
LAYER, RMS = (layer_norm, plain), (lambda x, weight, bias: rms_norm(x, weight, 1e-6), plain_rms)
CASES = {"5001": (LAYER, 8192, 5001), "rms_5001": (RMS, 8192, 5001), "8192": (RMS, 8192, 8192), "128": (LAYER, 262144, 128)}
for case, ((ours, theirs), rows, columns) in CASES.items():
    ways = {"blockwise": ours, "compile": torch.compile(theirs, dynamic=False)}
    for name, way in ways.items():
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
# --8<-- [end:counted]
