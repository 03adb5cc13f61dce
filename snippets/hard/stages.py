"""What `num_stages` makes of two loops, read off the compiled code, without a GPU: copies, waits and buffers."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: the kernels are compiled and not run, neither on a GPU nor by the interpreter.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime import JITFunction, driver
# --8<-- [end:imports]

from kernels.tools.compile_only import compile_only


# --8<-- [start:product]
@triton.jit
def looped_product_kernel(a_ptr, b_ptr, c_ptr, N, K, BLOCK: tl.constexpr):
    # This program computes a tile of c.
    rows = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[:, None]
    columns = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[None, :]
    inner = tl.arange(0, 64)
    a_ptrs, b_ptrs = a_ptr + rows * K + inner[None, :], b_ptr + inner[:, None] * N + columns
    total = tl.full((BLOCK, BLOCK), 0.0, tl.float32)
    for _ in range(0, K, 64):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += 64
        b_ptrs += 64 * N
    tl.store(c_ptr + rows * N + columns, total)
# --8<-- [end:product]


# --8<-- [start:counted]
def counted(kernel):
    """Loads that a thread waits for, copies that nobody waits for, waits for some of those, and shared memory."""
    names = "tt.load", "ttg.async_copy_global_to_local", "ttg.async_wait"
    loads, copies, waits = (kernel.asm["ttgir"].count(f"{name} ") for name in names)
    return f"{loads} loads, {copies} copies, {waits} waits, {kernel.metadata.shared:,} B shared"


device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:counted]
# --8<-- [start:depths]
a = torch.empty(1024, 1024, dtype=torch.bfloat16, device=device)
for stages in (1, 2, 3, 4):
    options = {"num_warps": 8, "num_stages": stages}
    made = compile_only(looped_product_kernel, a, a, a, 1024, 1024, BLOCK=128, **options)
    print(f"{stages}:", counted(made))
    #> 1: 2 loads, 0 copies, 0 waits, 32,768 B shared
    #> 2: 0 loads, 4 copies, 2 waits, 65,536 B shared
    #> 3: 0 loads, 6 copies, 2 waits, 98,304 B shared
    #> 4: 0 loads, 8 copies, 2 waits, 131,072 B shared
# --8<-- [end:depths]


# --8<-- [start:sum]
@triton.jit
def looped_sum_kernel(x_ptr, out_ptr, n_columns, STAGES: tl.constexpr):
    # This program adds up one row, in 1024 sums.
    row = tl.program_id(0).to(tl.int64)
    total = tl.full((1024,), 0.0, tl.float32)
    for start in tl.range(0, n_columns, 1024, num_stages=STAGES):
        total += tl.load(x_ptr + row * n_columns + start + tl.arange(0, 1024))
    tl.store(out_ptr + row * 1024 + tl.arange(0, 1024), total)


x = torch.empty(64, 4096, device=device)
for launch, loop in ((1, None), (4, None), (1, 2), (1, 4)):
    made = compile_only(looped_sum_kernel, x, x, 4096, STAGES=loop, num_stages=launch)
    print(f"launch {launch}, loop {loop}:", counted(made))
    #> launch 1, loop None: 1 loads, 0 copies, 0 waits, 0 B shared
    #> launch 4, loop None: 1 loads, 0 copies, 0 waits, 0 B shared
    #> launch 1, loop 2: 0 loads, 2 copies, 2 waits, 4,096 B shared
    #> launch 1, loop 4: 0 loads, 4 copies, 2 waits, 12,288 B shared
# --8<-- [end:sum]


# --8<-- [start:unsaid]
@triton.jit
def conditional_sum_kernel(x_ptr, y_ptr, out_ptr, n_columns):
    # This program adds up one row of x, and of y every second piece.
    row = tl.program_id(0).to(tl.int64)
    total = tl.full((1024,), 0.0, tl.float32)
    for start in tl.range(0, n_columns, 1024, num_stages=4):
        offsets = row * n_columns + start + tl.arange(0, 1024)
        total += tl.load(x_ptr + offsets)
        if start % 2048 == 0:
            total += tl.load(y_ptr + offsets)
    tl.store(out_ptr + row * 1024 + tl.arange(0, 1024), total)


@triton.jit
def while_sum_kernel(x_ptr, out_ptr, n_columns):
    # This program adds up one row likewise, and says so with `while`.
    row = tl.program_id(0).to(tl.int64)
    total = tl.full((1024,), 0.0, tl.float32)
    start = 0
    while start < n_columns:
        total += tl.load(x_ptr + row * n_columns + start + tl.arange(0, 1024))
        start += 1024
    tl.store(out_ptr + row * 1024 + tl.arange(0, 1024), total)


print("under `if`:", counted(compile_only(conditional_sum_kernel, x, x, x, 4096)))
#> under `if`: 1 loads, 4 copies, 2 waits, 12,288 B shared
print("`while`:", counted(compile_only(while_sum_kernel, x, x, 4096, num_stages=4)))
#> `while`: 1 loads, 0 copies, 0 waits, 0 B shared
# --8<-- [end:unsaid]
