"""Layer norm and a linear layer where torch.compile is ahead, for the hardware's counters to watch."""
# needs: cuda
# counters: ours_512 compile_512 ours_16384 compile_16384
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch.nn.functional as F

from kernels.layer_norm_linear import layer_norm_linear


def plain(x, ln_weight, ln_bias, weight, bias):
    return F.linear(F.layer_norm(x, x.shape[-1:], ln_weight, ln_bias), weight, bias)


# --8<-- [start:counted]
for rows in (512, 16384):
    ways = {"ours": layer_norm_linear, "compile": torch.compile(plain, dynamic=False)}
    for name, way in ways.items():
        if sys.argv[1:] in ([], [f"{name}_{rows}"]):  # the profiler watches one way a run
            x, ln_weight, ln_bias = (torch.randn(*shape, device="cuda").bfloat16() for shape in ((rows, 1024), (1024,), (1024,)))
            weight, bias = torch.randn(4096, 1024, device="cuda").bfloat16() / 32, torch.randn(4096, device="cuda").bfloat16()
            with torch.no_grad():
                way(x, ln_weight, ln_bias, weight, bias)  # compiles
                torch.cuda.synchronize()
                torch.cuda.profiler.start()
                way(x, ln_weight, ln_bias, weight, bias)
                torch.cuda.profiler.stop()
            print(f"{name}: {rows} rows of 1024, {2 * rows * 1024 * 4096 / 1e9:.1f} GFLOP")
# --8<-- [end:counted]
