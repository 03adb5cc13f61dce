"""An addition with few resident warps and one with many: as long as enough is under way, nobody waits."""
# needs: cuda
# counters: few many
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from kernels.tools.roofline.limits import occupancy
from kernels.tools.roofline.measured import limits_of, resident_of
from snippets.profiling.beside import beside

# --8<-- [start:ways]
from kernels.add import add_kernel

x, z = torch.randn(2, 2**26, device="cuda").unbind()
y = torch.empty_like(x)


def added(block, num_warps):
    return add_kernel[(x.numel() // block,)](x, z, y, x.numel(), BLOCK=block, num_warps=num_warps)


WAYS = {"few": (8192, 4), "many": (1024, 4)}  # sixty-four numbers a thread, or eight
# --8<-- [end:ways]
ways = {name: lambda way=way: (added(*way), y)[1] for name, way in WAYS.items()}
found = beside(ways, x + z, 3 * x.nbytes)
limits = limits_of(torch.cuda.current_device())
for name, (block, num_warps) in WAYS.items():
    compiled = added(block, num_warps)
    programs, _ = resident_of(compiled, limits)
    found[name] |= {"registers": compiled.n_regs, "occupancy": occupancy(programs, num_warps, limits["threads"])}
    print(f"{name:12}{compiled.n_regs:4} registers, {programs:3} programs, occupancy {found[name]['occupancy']:.0%}")
keep(figures=found)
