"""One product in Triton and in CUDA C++, in sixteen configurations on three shapes: times, what each takes, what fails."""
import ctypes
import inspect
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, wait

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.benchmark import alternate, keep, quantiles
from kernels.tools.hardware import programs_that_fit
from snippets.landscape.cuda_source import CONFIGURATIONS, cuda_source

BEGAN, BUDGET, TO_COMPILE = time.monotonic(), 85, 50  # seconds: for all, and for the compilers' part of it
SHAPES = [(4096, 4096, 4096), (8192, 8192, 512), (1024, 1024, 1024)]


@triton.jit
def picker_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, GROUP_M: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    # This program owns one tile of c; BLOCK_K divides K.
    tile = tl.program_id(0)
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first = tile // (GROUP_M * n_columns) * GROUP_M
    height = tl.minimum(n_rows - first, GROUP_M)
    inside = tile % (GROUP_M * n_columns)
    pid_m, pid_n = (first + inside % height).to(tl.int64), (inside // height).to(tl.int64)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]  # [BLOCK_M, 1]
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # [1, BLOCK_N]
    inner = tl.arange(0, BLOCK_K)  # [BLOCK_K]
    a_ptrs = a_ptr + rows * K + inner[None, :]  # [BLOCK_M, BLOCK_K]
    b_ptrs = b_ptr + inner[:, None] * N + columns  # [BLOCK_K, BLOCK_N]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=rows < M, other=0.0)
        b = tl.load(b_ptrs, mask=columns < N, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    tl.store(c_ptr + rows * N + columns, total, mask=(rows < M) & (columns < N))


LAUNCH = """
tiles = triton.cdiv(M, {0}) * triton.cdiv(N, {1})
picker_kernel[(tiles,)](
    a, b, c, M, N, K, GROUP_M=8,
    BLOCK_M={0}, BLOCK_N={1}, BLOCK_K={2},
    num_warps={3}, num_stages={4},
)
"""
# What the CUDA C++ is asked besides: registers, bytes spilled, shared memory, blocks on a multiprocessor, an error's meaning.
PROBE = r"""
extern "C" int resources(int* found) {
  cudaFuncAttributes of = {};
  if (cudaFuncGetAttributes(&of, matmul)) return cudaGetLastError();
  found[0] = of.numRegs, found[1] = int(of.localSizeBytes), found[2] = SHARED_BYTES, found[3] = 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(found + 3, matmul, THREADS, SHARED_BYTES)) return cudaGetLastError();
  return cudaSuccess;
}
extern "C" const char* meaning(int status) { return cudaGetErrorString(cudaError_t(status)); }
"""


def left():
    return BUDGET - (time.monotonic() - BEGAN)


def options(m, n, k, warps, stages):
    return {"GROUP_M": 8, "BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "num_warps": warps, "num_stages": stages}


def triton_source(*configuration):
    return inspect.getsource(picker_kernel.fn) + LAUNCH.format(*configuration)


def triton_product(configuration, a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tiles = triton.cdiv(m, configuration[0]) * triton.cdiv(n, configuration[1])
    return picker_kernel[(tiles,)](a, b, c, m, n, k, **options(*configuration))


def varying(texts):
    """Texts of equally many lines as the lines of the first and, for each text, those that are others."""
    lines = [text.splitlines() for text in texts]
    changes = [{at: line for at, (line, was) in enumerate(zip(each, lines[0], strict=True)) if line != was} for each in lines]
    return {"lines": lines[0], "changes": changes}


def reason(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    return f"{type(error).__name__}: {lines[0 if 'resource' in lines[0] else -1][:200]}"


def build(configuration, nvcc, target, folder):
    """Compile the CUDA C++ of one configuration into a library and load it; or the reason why there is none."""
    name = os.path.join(folder, "x".join(map(str, configuration)))
    command = [nvcc, "-O3", "-std=c++17", f"-arch={target}", "-shared", "-Xcompiler", "-fPIC"]
    try:
        with open(f"{name}.cu", "w") as file:
            file.write(cuda_source(*configuration) + PROBE)
        done = subprocess.run([*command, f"{name}.cu", "-o", f"{name}.so"], capture_output=True, text=True, timeout=TO_COMPILE)
        if done.returncode:
            said = (done.stderr + done.stdout).splitlines()
            return f"not compiled: {next((line for line in said if 'error' in line), 'nvcc failed')[-160:]}"
        library = ctypes.CDLL(f"{name}.so")
    except Exception as error:
        return f"not compiled: {reason(error)}"
    library.launch.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 3 + [ctypes.c_void_p]
    library.meaning.restype = ctypes.c_char_p
    return library


def compile_triton(configuration, a):
    try:
        return picker_kernel.warmup(a, a, a, 4096, 4096, 4096, grid=(1,), **options(*configuration))
    except Exception as error:
        return error


def compile_all(folder):
    """Both sides of every configuration, beside each other. What is not done in time is no outcome but None."""
    a = torch.empty(16, 16, device="cuda", dtype=torch.bfloat16)
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    target = "sm_{}{}".format(*torch.cuda.get_device_capability())
    pools = ThreadPoolExecutor(12), ThreadPoolExecutor(8)
    cuda = [pools[0].submit(build, each, nvcc, target, folder) if nvcc else None for each in CONFIGURATIONS]
    first = compile_triton(CONFIGURATIONS[0], a)  # alone, because the first call sets up what all share
    kernels = [pools[1].submit(compile_triton, each, a) for each in CONFIGURATIONS[1:]]
    wait([*kernels, *filter(None, cuda)], timeout=TO_COMPILE)
    for pool in pools:
        pool.shutdown(wait=False, cancel_futures=True)
    outcomes = [each.result() if each.done() and not each.cancelled() else None for each in kernels]
    libraries = [each.result() if each and each.done() and not each.cancelled() else None for each in cuda]
    if not nvcc:
        libraries = ["not compiled: no nvcc on the PATH"] * len(CONFIGURATIONS)
    return [first, *outcomes], libraries


ATTRIBUTES = {"registers": 82, "shared": 81, "reserved": 111, "threads": 39, "programs": 106, "block": 97}


def asked(function, *arguments):
    answer = ctypes.c_int()
    status = function(ctypes.byref(answer), *arguments)
    assert status == 0, f"the driver answers with error {status}"
    return answer.value


def taken(registers, spills, shared, programs, warps, limits):
    found = {"registers": registers, "spills": spills, "shared": shared, "programs": programs}
    fit = programs_that_fit(registers, warps, shared, limits)
    return found | {"occupancy": 32 * warps * programs / limits["threads"], "limit": min(fit, key=fit.get)}


def try_triton(configuration, outcome, driver, limits, a, b, c):
    """What the Triton kernel of a configuration takes, and why it fails, where it does."""
    if outcome is None:
        return {"failure": "not reached in the time"}
    if isinstance(outcome, Exception):
        return {"failure": reason(outcome)}
    try:
        kernel = triton_product(configuration, a, b, c)
        torch.cuda.synchronize()
        shared, threads = kernel.metadata.shared, 32 * configuration[3]
        function, size = ctypes.c_void_p(kernel.function), ctypes.c_size_t(shared)
        programs = asked(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor, function, threads, size)
        return taken(kernel.n_regs, 4 * kernel.n_spills, shared, programs, configuration[3], limits)
    except Exception as error:
        return {"shared": getattr(outcome.metadata, "shared", None), "failure": reason(error)}


INSTRUCTIONS = ("wgmma.mma_async", "mma.sync", "ldmatrix", "cp.async.cg", "cp.async.wait_group", "bar.sync")


def instructions(outcome):
    """How often some instructions stand in the PTX that Triton made of a configuration; it unrolls what it repeats."""
    text = getattr(outcome, "asm", {}).get("ptx", "")
    return {name.replace(".", "_"): text.count(name) for name in INSTRUCTIONS} if text else None


def cuda_product(library, a, b, c):
    stream = torch.cuda.current_stream().cuda_stream
    return library.launch(a.data_ptr(), b.data_ptr(), c.data_ptr(), a.shape[0], b.shape[1], a.shape[1], stream)


def try_cuda(configuration, library, limits, a, b, c):
    """The same for the CUDA C++."""
    if not isinstance(library, ctypes.CDLL):
        return {"failure": library or "not reached in the time"}
    found = (ctypes.c_int * 4)()
    try:
        status = cuda_product(library, a, b, c)
        torch.cuda.synchronize()
        status = status or library.resources(found)
        registers, spills, shared, programs = found
        if not status:
            return taken(registers, spills, shared, programs, configuration[3], limits)
        library.resources(found)
        told = library.meaning(status).decode()
        if found[2] > limits["block"]:
            told = f"{told}: {found[2]} bytes of shared memory asked for, and a block may have {limits['block']}"
        return {"shared": found[2] or None, "failure": told}
    except Exception as error:
        return {"failure": reason(error)}


EMPTY = dict.fromkeys(("registers", "spills", "shared", "programs", "occupancy", "limit", "us", "us_p20", "us_p80", "tflops"))


def tried(shape, outcomes, libraries, driver, limits):
    """A row for each side of each configuration on one shape, the library's time, and what the autotuner takes."""
    m, n, k = shape
    a, b = torch.randn(m, k, device="cuda").bfloat16(), torch.randn(k, n, device="cuda").bfloat16()
    c, expected = torch.empty(m, n, device="cuda", dtype=torch.bfloat16), a.float() @ b.float()
    sides = {"triton": [], "cuda": []}
    calls, alive = [lambda: torch.mm(a, b, out=c)], []
    for configuration, outcome, library in zip(CONFIGURATIONS, outcomes, libraries, strict=True):
        for side in sides:
            c.fill_(torch.nan)
            if left() < 12:
                found = {"failure": "not reached in the time"}
            elif side == "triton":
                found = try_triton(configuration, outcome, driver, limits, a, b, c)
            else:
                found = try_cuda(configuration, library, limits, a, b, c)
            row = EMPTY | {"failure": None} | found
            # An element is off by its rounding, and by the order of k terms of about one.
            if not row["failure"] and not torch.allclose(c.float(), expected, rtol=0.01, atol=0.01 * k**0.5):
                row["failure"] = "wrong results"
            sides[side].append(row)
            if row["failure"]:
                continue
            alive.append(row)
            if side == "triton":
                calls.append(lambda configuration=configuration: triton_product(configuration, a, b, c))
            else:
                calls.append(lambda library=library: cuda_product(library, a, b, c))
    eager, *times = [[round(ms * 1e3, 2) for ms in quantiles(measured)] for measured in alternate(calls, seconds=0.1)]
    for row, (low, middle, high) in zip(alive, times, strict=True):
        row |= {"us_p20": low, "us": middle, "us_p80": high, "tflops": round(2 * m * n * k / middle / 1e6, 1)}
    found = {"eager_us": eager[1], "eager_tflops": round(2 * m * n * k / eager[1] / 1e6, 1)}
    return found | {"chosen": autotuned(a, b, c) if left() > 10 else None} | sides


def autotuned(a, b, c):
    """The number of the configuration that Triton's autotuner takes for a shape."""
    configs = []
    for configuration in CONFIGURATIONS:
        sizes = options(*configuration)
        warps, stages = sizes.pop("num_warps"), sizes.pop("num_stages")
        configs.append(triton.Config(sizes, num_warps=warps, num_stages=stages))
    try:
        tuner = triton.autotune(configs=configs, key=["M", "N", "K"])(picker_kernel)
        (m, k), n = a.shape, b.shape[1]
        tuner[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)](a, b, c, m, n, k)
        best = tuner.best_config
        sizes = (best.kwargs["BLOCK_M"], best.kwargs["BLOCK_N"], best.kwargs["BLOCK_K"], best.num_warps, best.num_stages)
        return CONFIGURATIONS.index(sizes)
    except Exception as error:
        print("the autotuner:", reason(error))
        return None


def check():
    """Ragged in both directions: the kernel against PyTorch. The interpreter multiplies no bf16, so there it is float16."""
    device, dtype = ("cuda", torch.bfloat16) if torch.cuda.is_available() else ("cpu", torch.float16)
    torch.manual_seed(0)
    a, b = (torch.randn(*size, device=device).to(dtype) for size in ((100, 96), (96, 72)))
    c = torch.full((100, 72), torch.nan, device=device, dtype=dtype)
    triton_product((64, 64, 32, 4, 3), a, b, c)
    torch.testing.assert_close(c.float(), a.float() @ b.float(), rtol=0.01, atol=0.1)
    print("the kernel's product is PyTorch's")


def measure():
    driver = ctypes.CDLL("libcuda.so.1")
    limits = {name: asked(driver.cuDeviceGetAttribute, number, 0) for name, number in ATTRIBUTES.items()}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        outcomes, libraries = compile_all(folder)
        built = sum(isinstance(library, ctypes.CDLL) for library in libraries)
        print(f"{len(CONFIGURATIONS)} configurations, {built} of them compiled as CUDA C++, in {85 - left():.0f} s")
        shapes = {}
        for shape in SHAPES:
            name = "x".join(map(str, shape))
            if left() < 20:
                print(f"no time left for {name} and what comes after it")
                break
            try:
                shapes[name] = tried(shape, outcomes, libraries, driver, limits)
            except Exception as error:  # an error of the GPU itself; what is done stays
                print(f"{name} and what comes after it: {reason(error)}")
                break
            show(name, shapes[name])
    texts = {"triton": varying([triton_source(*each) for each in CONFIGURATIONS])}
    texts["cuda"] = varying([cuda_source(*each) for each in CONFIGURATIONS])
    figures = {"configurations": CONFIGURATIONS, "texts": texts, "shapes": shapes, "limits": limits}
    figures["instructions"] = [instructions(outcome) for outcome in outcomes]
    keep(figures=figures | {"seconds": round(time.monotonic() - BEGAN, 1)})
    sys.stdout.flush()
    if None in outcomes or None in libraries:
        os._exit(0)  # a compilation is still under way, and Python would wait for it


def show(name, found):
    print(f"\n{name}: PyTorch takes {found['eager_us']:.1f} us")
    for number, configuration in enumerate(CONFIGURATIONS):
        told = []
        for side in ("triton", "cuda"):
            row = found[side][number]
            spilled = f", {row['spills']} bytes spilled" if row["spills"] else ""
            took = row["us"] and f"{row['us']:.1f} us, {row['tflops']:.0f} TFLOP/s, {row['registers']} registers{spilled}"
            told.append(f"{side} {took or row['failure']}")
        mark = "*" if number == found["chosen"] else " "
        print(f" {mark} {'x'.join(map(str, configuration)):16} {'; '.join(told)}")


check()
if torch.cuda.is_available():
    measure()
