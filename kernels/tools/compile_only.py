"""Compile a kernel where there need not be a GPU, for pages that read what the compiler wrote.

Not part of the public interface. Triton asks its driver which GPU to compile for, so a stand-in that names one is enough.
"""

import torch
from triton.backends.compiler import GPUTarget
from triton.runtime import JITFunction, driver


# --8<-- [start:compile_only]
class NoGPU:
    """Stands in for a GPU's driver: names the GPU to compile for, an H200."""

    get_current_target = staticmethod(lambda: GPUTarget("cuda", 90, 32))
    get_current_device = get_current_stream = staticmethod(lambda *_: 0)


def compile_only(kernel, *arguments, **options):
    """Compile a kernel as a launch with these arguments would, and stop there."""
    if not torch.cuda.is_available():
        driver.set_active(NoGPU())
    return JITFunction(kernel.fn).warmup(*arguments, grid=(1,), **options)
# --8<-- [end:compile_only]
