"""The backward pass where it loses by a little, beside torch.compile's, for the hardware's counters to watch."""
# needs: cuda
# counters: blockwise compile blockwise_781 compile_781
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config

from kernels.softmax import softmax

torch._functorch.config.donated_buffer = False  # a compiled backward is called twice here


def plain(x):
    return torch.softmax(x, dim=-1)


# --8<-- [start:counted]
CASES = {"": (8192, 4096, torch.bfloat16), "_781": (1823, 781, torch.float32)}
for case, (rows, columns, dtype) in CASES.items():
    ways = {"blockwise": softmax, "compile": torch.compile(plain, dynamic=False)}
    for name, way in ways.items():
        if sys.argv[1:] in ([], [name + case]):  # the profiler watches one way a run
            x = torch.randn(rows, columns, device="cuda").to(dtype).requires_grad_()
            y, dy = way(x), torch.randn(rows, columns, device="cuda").to(dtype)
            torch.autograd.grad(y, x, dy, retain_graph=True)  # compiles
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
            torch.autograd.grad(y, x, dy)
            torch.cuda.profiler.stop()
            print(f"{name}: {rows} rows of {columns} differentiated, {3 * x.nbytes:,} bytes at least")
# --8<-- [end:counted]
