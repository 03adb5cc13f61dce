"""Forward passes that lose, beside those that win, for the hardware's counters to watch."""
# needs: cuda
# counters: ours_odd compile_odd flash_odd ours_rms compile_rms ours_8192 compile_8192 ours_128 compile_128 ours_1024 liger_1024
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch.nn.functional as F

from kernels.layer_norm import layer_norm
from kernels.rms_norm import rms_norm

try:
    from flash_attn.ops.triton.layer_norm import layer_norm_fn as flash_layer_norm
except ImportError:
    flash_layer_norm = None
    print("flash-attn's Triton kernels are not installed: they are left out")
try:
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction
except ImportError:
    LigerLayerNormFunction = None
    print("liger-kernel is not installed: it is left out")


def plain(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


def plain_rms(x, weight, bias):
    return F.rms_norm(x, x.shape[-1:], weight, 1e-6)


# --8<-- [start:counted]
LAYER, RMS = (layer_norm, plain), (lambda x, weight, bias: rms_norm(x, weight, 1e-6), plain_rms)
CASES = {"odd": (LAYER, 8192, 5001), "rms": (RMS, 8192, 5001), "8192": (RMS, 8192, 8192), "128": (LAYER, 262144, 128)}
CASES["1024"] = (LAYER, 512, 1024)
for case, ((ours, theirs), rows, columns) in CASES.items():
    ways = {"ours": ours, "compile": torch.compile(theirs, dynamic=False)}
    if case == "odd" and flash_layer_norm:
        ways["flash"] = lambda x, weight, bias: flash_layer_norm(x, weight, bias, eps=1e-5)
    if case == "1024":
        ways = {"ours": ours}
        if LigerLayerNormFunction:
            ways["liger"] = lambda x, weight, bias: LigerLayerNormFunction.apply(x, weight, bias, 1e-5)
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
