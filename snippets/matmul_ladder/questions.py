"""What the questions of the lesson ask, compiled or worked out: each line is the answer to one."""
import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


@triton.jit
def one_dot(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
    b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], tl.dot(a, b))


half, single = torch.empty(4096, dtype=torch.float16), torch.empty(4096)
sides = {"rows": (1, 16, 16), "columns": (16, 1, 16), "inner": (16, 16, 8)}
for name, (m, n, k) in sides.items():
    try:
        compile_only(one_dot, half, half, single, M=m, N=n, K=k)
    except triton.CompilationError:
        print(f"refused: {name}")

loaded = {f"{m} x {n}": m + n for m, n in ((32, 128), (64, 64), (16, 256))}
print(f"least: {min(loaded, key=loaded.get)}")

programs = triton.cdiv(150, 64) * triton.cdiv(200, 64)
print(f"dots: {programs * triton.cdiv(100, 32)}")
