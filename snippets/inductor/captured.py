"""Catch the program that torch.compile writes, find the kernels in it, and see what a call really launches."""
# needs: cuda
# --8<-- [start:captured]
import re
import statistics
import sys
import time

import torch
from torch._inductor import config
from torch._inductor.utils import run_and_get_code


def captured(function, *arguments, **options):
    """Compile a function anew; return it compiled, what it returns, and the program that was written for it."""
    compiled = torch.compile(function, dynamic=False, **options)
    # A program that lies in the cache would not be written again.
    with config.patch(force_disable_caches=True):
        result, programs = run_and_get_code(compiled, *arguments)
    return compiled, result, "\n".join(programs)


def kernels_of(program):
    """The Triton kernels of such a program: what each is made as, and its text."""
    found = re.findall(r"@triton_heuristics\.(\w+)\((.*?)\n@triton\.jit\n(def .*?)\n'''", program, re.DOTALL)
    return [(made, text.strip()) for made, _, text in found]


def calls_of(program):
    """What the program calls, one after another: its own kernels, those of libraries, and operators of PyTorch."""
    call = r"^ +(?:\w+ = )?(triton_\w+(?=\.run\()|extern_kernels\.\w+|torch\.ops\.(?!inductor)[\w.]+)\b"
    return re.findall(call, program, re.MULTILINE)


def launched(call):
    """The names of the kernels that one call launches, as the GPU's own record has them."""
    call()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        call()
        torch.cuda.synchronize()
    on_gpu = [event for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    names = [event.name for event in on_gpu if not getattr(event, "is_user_annotation", False)]
    kernels = [name for name in names if not name.startswith(("Mem", "##", "Torch-"))]
    if not kernels:
        raise RuntimeError("the profiler saw no kernel")
    return kernels


def show(program):
    """Print what the program calls, and its kernels."""
    print("calls:", ", ".join(calls_of(program)))
    for made, text in kernels_of(program):
        print(f"\n# made as {made}\n@triton.jit\n{text}")
# --8<-- [end:captured]


# --8<-- [start:host]
def queued_us(*calls):
    """The host's time for each call in turn, while the GPU follows behind; the median of 30 rounds of 100."""
    times = [[] for _ in calls]
    for _ in range(30):
        for which, call in enumerate(calls):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(100):
                call()
            times[which].append((time.perf_counter() - start) / 100 * 1e6)
    torch.cuda.synchronize()
    return [round(statistics.median(values), 2) for values in times]
# --8<-- [end:host]


if __name__ == "__main__":
    if not torch.cuda.is_available():
        print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
        sys.exit(2)
    x = torch.randn(1000, device="cuda")
    compiled, result, program = captured(lambda x: x * 2 + 1, x)
    assert torch.equal(result, x * 2 + 1)
    show(program)
    print("\nlaunched:", ", ".join(launched(lambda: compiled(x))))
