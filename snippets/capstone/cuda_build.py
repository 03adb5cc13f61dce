"""What the CUDA parts of the capstone share: build CUDA C++ with nvcc for a GPU, or with g++ for the CPU, and call it."""
import ctypes
import functools
import os
import re
import shutil
import subprocess
import tempfile

import torch

ON_CPU = os.path.join(os.path.dirname(os.path.abspath(globals().get("__file__", "cell"))), "on_cpu", "cuda_threads.h")
NEEDS = "needs: a CUDA GPU with nvcc, or g++ and the folder on_cpu beside this file, which runs CUDA C++ on the CPU"
WITH_NVCC = ["-O3", "-std=c++17", "-shared", "-Xcompiler", "-fPIC"]
WITH_GCC = ["-O1", "-std=c++17", "-shared", "-fPIC", "-fno-strict-aliasing", "-w", "-include", ON_CPU]
LAUNCH = re.compile(r"(\w+)<<<(.*), stream>>>\((.*)\);")


def where():
    """The device that CUDA C++ is built for here and the compiler; no compiler where neither is at hand."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if torch.cuda.is_available() and nvcc:
        return "cuda", nvcc
    return "cpu", shutil.which("g++") if os.path.exists(ON_CPU) else None


@functools.cache
def build(text):
    """The library that a text of CUDA C++ becomes. What the compiler says of a text that it refuses is raised."""
    device, compiler = where()
    if not compiler:
        raise RuntimeError(NEEDS)
    flags = WITH_GCC
    if device == "cuda":
        flags = [*WITH_NVCC, "-arch=sm_{}{}".format(*torch.cuda.get_device_capability())]
    else:
        text = LAUNCH.sub(r"threads_launch(\2, [=] { \1(\3); });", text)
    folder = tempfile.mkdtemp()
    source, library = os.path.join(folder, "part.cu" if device == "cuda" else "part.cpp"), os.path.join(folder, "part.so")
    with open(source, "w") as file:
        file.write(text)
    done = subprocess.run([compiler, *flags, source, "-o", library], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the compiler says: {(done.stderr + done.stdout).strip()[:2000]}")
    return ctypes.CDLL(library)


def call(text, *arguments):
    """Build a text, once, and call its function `launch` with tensors and whole numbers, on PyTorch's stream."""
    library, stream = build(text), torch.cuda.current_stream().cuda_stream if where()[0] == "cuda" else None
    given = [
        ctypes.c_void_p(value.data_ptr()) if isinstance(value, torch.Tensor) else ctypes.c_int64(value) for value in arguments
    ]
    status = library.launch(*given, ctypes.c_void_p(stream))
    if status:
        said = f"CUDA's error {status}"
        if where()[0] == "cpu":  # where there are words
            library.cuda_said.restype = ctypes.c_char_p
            said = library.cuda_said().decode()
        raise RuntimeError(f"the launch ends with {said}")


if __name__ == "__main__":
    print("This file builds what add.py, reduce.py, matmul_naive.py and matmul_tiled.py hold: run one of those.")
