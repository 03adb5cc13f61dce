"""Where a launch spends the host's time: the parts of the way through Triton's Python, each called by itself."""
# needs: cuda
import statistics
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
from triton.runtime.jit import compute_cache_key

from kernels.norm.forward import norm_kernel
from kernels.tools.benchmark import keep
from snippets.inductor.captured import queued_us

# --8<-- [start:parts]
x, y = torch.randn(2, 64, 256, device="cuda").bfloat16().unbind()
weight, bias = torch.randn(2, 256, device="cuda").bfloat16().unbind()
arguments = (x, weight, bias, y, None, None, 32, 32, 64, 32, 1e-5)
options = {"CENTERED": True, "ROWS": 4, "BLOCK": 256, "EVEN": True, "VECTOR": 8, "num_warps": 1}
compiled = norm_kernel[(16,)](*arguments, **options)
knobs, active = triton.knobs, triton.runtime.driver.active
device = active.get_current_device()
stream = active.get_current_stream(device)
*_, binder = norm_kernel.device_caches[device]
keys = norm_kernel.device_caches[device][1]
options |= {"debug": False, "instrumentation_mode": knobs.compilation.instrumentation_mode}
bound, specialization, left = binder(*arguments, **options)
everything = tuple(bound.values())
handles = (16, 1, 1, stream, compiled.function, compiled.packed_metadata)
metadata = compiled.launch_metadata((16,), stream, *everything)
hooks = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
PARTS = {
    "the whole launch": lambda: norm_kernel[(16,)](*arguments, **options),
    "two settings": lambda: (knobs.runtime.debug, knobs.compilation.instrumentation_mode),
    "device and stream": lambda: active.get_current_stream(active.get_current_device()),
    "binder": lambda: binder(*arguments, **options),
    "key": lambda: compute_cache_key(keys, specialization, left),
    "what hooks are told": lambda: compiled.launch_metadata((16,), stream, *everything),
    "launch with hooks": lambda: compiled.run(*handles, metadata, *hooks, *everything),
    "launch without hooks": lambda: compiled.run(*handles, None, None, None, *everything),
    "allocation": lambda: torch.empty_like(x),
}
# --8<-- [end:parts]
expected = y.clone()
y.zero_()
PARTS["launch without hooks"]()
assert torch.equal(y, expected)
visits = zip(*(queued_us(*PARTS.values()) for _ in range(3)), strict=True)
kept = {name: statistics.median(times) for name, times in zip(PARTS, visits, strict=True)}
print("microseconds of the host's")
for name, us in kept.items():
    print(f"{name:22}{us:>6.2f}")
keep(figures=kept)
