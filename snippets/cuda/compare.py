"""What the programs beside CUDA share: count lines, build CUDA C++ with nvcc, time Triton's compiler, drop what is wrong.

    python compare.py product.cu          build a file as the programs do, and say what the compiler said of it
"""
# --8<-- [start:imports]
import ctypes
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import torch
# --8<-- [end:imports]

from kernels.tools.benchmark import TOLERANCE


# --8<-- [start:lines]
def code_lines(*parts):
    """Lines of code: of functions, kernels or texts, without blank lines, comments and docstrings."""
    count = 0
    for part in parts:
        text = part if isinstance(part, str) else inspect.getsource(getattr(part, "fn", part))
        text = re.sub(r'^\s*""".*?"""\n', "", text, flags=re.MULTILINE | re.DOTALL)
        lines = [line.strip() for line in text.splitlines()]
        count += sum(bool(line) and not line.startswith(("# ", "#>", "//")) for line in lines)
    return count
# --8<-- [end:lines]


NO_NVCC = "no nvcc on the PATH or in /usr/local/cuda/bin"


# --8<-- [start:build]
def build(source, times=3):
    """Build CUDA C++ and load it: the library and what the compiler said. Without nvcc, None and the reason.

    The library has a function `launch`, whose last argument is the stream. The time is the middle one of several builds.
    """
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        return None, {"skipped": NO_NVCC}
    target = "sm_{}{}".format(*torch.cuda.get_device_capability()) if torch.cuda.is_available() else "sm_90"
    folder = tempfile.mkdtemp()
    text, library = os.path.join(folder, "program.cu"), os.path.join(folder, "program.so")
    with open(text, "w") as file:
        file.write(source)
    flags = ["-O3", "-std=c++17", f"-arch={target}", "-Xptxas", "-v", "-shared", "-Xcompiler", "-fPIC"]
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        done = subprocess.run([nvcc, *flags, text, "-o", library], capture_output=True, text=True)
        seconds.append(time.perf_counter() - began)
        if done.returncode:
            raise RuntimeError(f"nvcc: {(done.stderr + done.stdout).strip()[-2000:]}")
    said = done.stdout + done.stderr
    found = {
        "build_seconds": round(sorted(seconds)[times // 2], 3),
        "registers": max(int(number) for number in re.findall(r"Used (\d+) registers", said)),
        "spill_bytes": sum(int(number) for number in re.findall(r"(\d+) bytes spill", said)),
    }
    return ctypes.CDLL(library) if torch.cuda.is_available() else None, found


def call(function, *arguments):
    """Call a library's launching function with tensors and numbers, on PyTorch's stream."""
    given = []
    for value in arguments:
        if isinstance(value, torch.Tensor):
            given.append(ctypes.c_void_p(value.data_ptr()))
        else:
            given.append(ctypes.c_float(value) if isinstance(value, float) else ctypes.c_int64(value))
    status = function(*given, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
    if status:
        raise RuntimeError(f"the launch ends with CUDA's error {status}")
# --8<-- [end:build]


def triton_build(kernel, *arguments, times=3, **options):
    """What Triton's compiler takes for these arguments, with nothing in its caches: the middle time of several, and registers."""
    from triton.runtime import JITFunction

    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    seconds = []
    for _ in range(times + 1):  # the first one also wakes the compiler
        fresh = JITFunction(kernel.fn)
        began = time.perf_counter()
        made = fresh.warmup(*arguments, grid=(1,), **options)
        seconds.append(time.perf_counter() - began)
    del os.environ["TRITON_ALWAYS_COMPILE"]
    if torch.cuda.is_available():
        made._init_handles()
    found = {"registers": getattr(made, "n_regs", None), "spill_bytes": 4 * (getattr(made, "n_spills", None) or 0)}
    return {"build_seconds": round(sorted(seconds[1:])[times // 2], 3), **found, "shared_bytes": made.metadata.shared}


def sound(ways, expected, dtype):
    """The ways whose result is right, and of the others why there is none."""
    good, failed = {}, {}
    for name, way in ways.items():
        try:
            found = way().double()
            torch.cuda.synchronize()
            error = ((found - expected.double()).norm() / expected.double().norm()).item()
            if error < TOLERANCE[dtype]:
                good[name] = way
            else:
                failed[name] = f"relative error {error:.1e}"
        except Exception as problem:
            failed[name] = f"{type(problem).__name__}: {problem}"[:300]
    print("failed:", failed or "none")
    return good, failed


if __name__ == "__main__":
    if sys.argv[1:]:
        with open(sys.argv[1]) as file:
            print(build(file.read())[1])
    else:
        print("usage: python compare.py FILE.cu (it only builds: no kernel runs here, nor does the interpreter)")
