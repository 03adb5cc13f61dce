"""What the descriptors of a launch cost the host: asked for anew, and made after the first."""
# needs: cuda
import statistics
import sys
import time

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from kernels.matmul.epilogue import Epilogue, descriptor_factory
from kernels.matmul.hopper import descriptor, matmul_hopper

a, b, c = (torch.randn(1024, 1024, device="cuda").bfloat16() for _ in range(3))
sides = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8, "num_warps": 8, "num_stages": 4}
finish = Epilogue()
launch = matmul_hopper(a, b, c, finish, "tf32", sides | {"DESCRIPTOR_STORE": True, "programs": 132})

# --8<-- [start:ways]
tiles = (a, 128, 64), (b, 64, 128), (c, 128, 128)
of_a, of_b, of_c = (descriptor_factory(descriptor(*tile)) for tile in tiles)
ways = {
    "three asked for anew": lambda: [descriptor(*tile) for tile in tiles],
    "three made after the first": lambda: [of_a(a), of_b(b), of_c(c)],
    "a launch with such three": lambda: launch(a, b, c, finish),
}
for way in ways.values():
    way()  # the launch compiles here
times = {name: [] for name in ways}
for _ in range(30):
    for name, way in ways.items():
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(100):
            way()
        times[name].append((time.perf_counter() - start) / 100 * 1e6)
host = {name: round(statistics.median(values), 2) for name, values in times.items()}
for name, us in host.items():
    print(f"{name:27}{us:6.1f} us")
# --8<-- [end:ways]
torch.testing.assert_close(c.float(), a.float() @ b.float(), rtol=2e-2, atol=1.0)
keep(figures=host)
