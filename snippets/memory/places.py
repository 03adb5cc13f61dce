"""Where do blocks stay? Compile four kernels for an H100 or H200, which need not be here, and look at their memory."""
import os
import re

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported
print("No GPU is needed, and no interpreter: the kernels are compiled and not run.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from kernels.add import add_kernel
from kernels.softmax.softmax import softmax_kernel


# --8<-- [start:turning]
@triton.jit
def turning_kernel(x_ptr, out_ptr, N, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    tl.store(out_ptr + columns[:, None] * N + rows[None, :], x.T)
# --8<-- [end:turning]


@triton.jit
def staged_kernel(a_ptr, b_ptr, out_ptr, N, TILE: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(1) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(0) * TILE + tl.arange(0, TILE)
    steps = tl.arange(0, STEP)
    total = tl.zeros((TILE, TILE), tl.float32)
    for k in range(0, N, STEP):
        a = tl.load(a_ptr + rows[:, None] * N + (k + steps)[None, :])
        b = tl.load(b_ptr + (k + steps)[:, None] * N + columns[None, :])
        total = tl.dot(a, b, total)
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], total)


def compiled(kernel, constants, types, **options):
    """Compile for compute capability 9.0; pointers and sizes are taken to be multiples of 16."""
    names = kernel.arg_names
    signature = {name: "constexpr" if name in constants else types if name.endswith("ptr") else "i32" for name in names}
    constexprs = {(names.index(name),): value for name, value in constants.items()}
    attributes = {(place,): [["tt.divisibility", 16]] for place, name in enumerate(names) if name not in constants}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constexprs, attrs=attributes)
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)


square = {"TILE": 128, "STEP": 64}
table = {
    "add": compiled(add_kernel, {"BLOCK": 1024}, "*fp32"),
    "softmax, one row": compiled(softmax_kernel, {"BLOCK": 4096}, "*fp32"),
    "transpose": compiled(turning_kernel, {"TILE": 64}, "*fp32"),
    "matmul, 1 stage": compiled(staged_kernel, square, "*bf16", num_warps=8, num_stages=1),
    "matmul, 3 stages": compiled(staged_kernel, square, "*bf16", num_warps=8, num_stages=3),
}
shared = {
    "st.shared": r"(?:st\.shared|stmatrix)",
    "ld.shared": r"(?:ld\.shared|ldmatrix)",
    "cp.async": r"cp\.async\.c[ag]",
    "wgmma": r"wgmma\.mma",
}
print(f"{'kernel':17}{'shared bytes':>13}" + "".join(f"{name:>11}" for name in shared))
for name, kernel in table.items():
    counts = [len(re.findall(rf"^\s*(?:@!?%p\d+ )?{form}", kernel.asm["ptx"], re.MULTILINE)) for form in shared.values()]
    print(f"{name:17}{kernel.metadata.shared:13,}" + "".join(f"{count:11}" for count in counts))
for name in ("matmul, 1 stage", "matmul, 3 stages"):
    print(f"\n{name}, in the compiler's own words:")
    ir = table[name].asm["ttgir"]
    print("\n".join(f"{line[:72]} ..." for line in re.findall(r"^#shared\d* = .*", ir, re.MULTILINE)))
    print("\n".join(re.findall(r"ttg\.local_alloc.*?!ttg\.memdesc<[\dx]+x\w+", ir)))
