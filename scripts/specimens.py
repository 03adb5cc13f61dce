"""What is compiled without a GPU, and what it may cost: launches of every kernel of the library and of the programs.

Most entries name the function that launches the kernel and the shape it is given; what it passes on (block, warps,
strides) is read off that launch, so an entry cannot fall behind the code. A program launches its kernel itself:
its entry repeats the arguments, with `*fp32` for a tensor.

The bounds hold for every GPU that the tests compile for and every version of Triton that the library runs on. They
leave about a tenth above what was found. A register that does not fit is spilled to memory, which is what these
kernels are short of, so almost none may.
"""

import ast
from dataclasses import dataclass, field
from typing import Any

from scripts.records import ROOT

DTYPES = ("fp32", "fp16", "bf16")


@dataclass(frozen=True)
class Specimen:
    """One launch of one kernel, and the most it may take: registers and spilled bytes a thread, shared bytes a program."""

    kernel: str
    label: str
    registers: int
    shared: int
    spills: int = 0
    launcher: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return self.kernel.split(":")[0]

    @property
    def function(self) -> str:
        return self.kernel.split(":")[1]

    @property
    def name(self) -> str:
        return f"{self.function}/{self.label}"

    @property
    def launch(self) -> dict[str, Any]:
        """What a record says of the launch; the bounds are no part of it."""
        if self.launcher:
            return {"launcher": self.launcher, "shape": list(self.shape), "dtype": self.dtype}
        return {"arguments": self.arguments}


def launched(
    kernel: str, launcher: str, rows: int, registers: dict[int, int], spills: dict[int, int] | None = None, prefix: str = ""
) -> list[Specimen]:
    """The kernel as `launcher`, a function of the same file, launches it for rows of each length in `registers`.

    Lengths that 16 does not divide are compiled for all dtypes, because wide loads are lost there; the others for two.
    """
    found = []
    for length, bound in registers.items():
        for dtype in DTYPES if length % 16 else ("fp32", "bf16"):
            label, allowed = f"{prefix}{length}-{dtype}", (spills or {}).get(length, 0)
            found.append(Specimen(kernel, label, bound, SHARED_BYTES, allowed, launcher, (rows, length), dtype))
    return found


def called(kernel: str, **arguments: Any) -> Specimen:
    """The kernel as a program calls it."""
    return Specimen(kernel, "call", 64, SHARED_BYTES, arguments=arguments)


# A sum or maximum over a row passes one word a warp through shared memory, and a program has 32 warps at most.
SHARED_BYTES = 128

ADD = [
    Specimen("kernels/add.py:add_kernel", f"{length}-{dtype}", 40, 0, 0, "add_flat", (length,), dtype)
    for length in (2**28, 98_433)
    for dtype in DTYPES
]
SHORT = {1: 184, 2: 184, 4: 184, 8: 184, 16: 80, 32: 80, 64: 80, 128: 72, 256: 64, 500: 88, 512: 64}
SHORT_BACKWARD = {1: 88, 2: 88, 4: 104, 8: 112, 16: 48, 32: 48, 64: 48, 128: 56, 250: 72, 256: 64, 512: 64}
FULL = {1: 32, 8: 48, 64: 32, 256: 64, 512: 64, 1024: 40, 2048: 56, 4096: 104}
FULL_BACKWARD = {1: 32, 8: 48, 64: 40, 256: 40, 512: 40, 1024: 40, 2048: 56, 4096: 40}
ROW = {1024: 40, 2048: 40, 4001: 96, 4096: 64, 8192: 48, 16384: 40, 32768: 64}
ROW_BACKWARD = {512: 32, 1024: 32, 2048: 32, 4001: 48, 4096: 40, 8192: 48, 16384: 40, 32768: 64}
LONG = {32768: 32, 65536: 32, 65537: 64, 262144: 48}
LONG_BACKWARD = {65536: 48, 65537: 40, 100_000: 56, 131072: 48}
# Rows of two to eight elements keep an address for every element, more than fits.
SHORT_SPILLS, SHORT_BACKWARD_SPILLS = {2: 8, 4: 48}, {2: 32, 4: 16, 8: 8}

SHORT_FILE, ROW_FILE, LONG_FILE = "kernels/softmax_short.py", "kernels/softmax.py", "kernels/softmax_long.py"
SOFTMAX = [
    *launched(f"{SHORT_FILE}:softmax_short_kernel", "softmax_short", 100_001, SHORT, SHORT_SPILLS),
    *launched(f"{SHORT_FILE}:softmax_short_kernel", "softmax_short", 2**17, FULL, prefix="full-"),
    *launched(
        f"{SHORT_FILE}:softmax_short_backward_kernel", "softmax_short_backward", 100_001, SHORT_BACKWARD, SHORT_BACKWARD_SPILLS
    ),
    *launched(f"{SHORT_FILE}:softmax_short_backward_kernel", "softmax_short_backward", 2**17, FULL_BACKWARD, prefix="full-"),
    *launched(f"{ROW_FILE}:softmax_kernel", "softmax_row", 4096, ROW),
    *launched(f"{ROW_FILE}:softmax_backward_kernel", "softmax_row_backward", 4096, ROW_BACKWARD),
    *launched(f"{LONG_FILE}:softmax_long_kernel", "softmax_long", 512, LONG),
    *launched(f"{LONG_FILE}:softmax_long_backward_kernel", "softmax_long_backward", 512, LONG_BACKWARD),
]

ROW_OF = {"x_ptr": "*fp32", "y_ptr": "*fp32"}
FIRST_KERNEL = [
    called("snippets/first_kernel/owners.py:owner_kernel", out_ptr="*i64", n_elements=1000, BLOCK=256),
    called("snippets/first_kernel/axpy.py:axpy_kernel", a=3.0, **ROW_OF, out_ptr="*fp32", n_elements=5000, BLOCK=1024),
    called("snippets/first_kernel/no_mask.py:maskless_kernel", x_ptr="*fp32", out_ptr="*fp32", BLOCK=256),
]

FUSED_SOFTMAX = [
    called("snippets/fused_softmax/overflow.py:unshifted_kernel", **ROW_OF, row_stride=3, n_columns=3, BLOCK=4),
    called("snippets/fused_softmax/zero_fill.py:zero_filled_kernel", **ROW_OF, row_stride=5, n_columns=5, BLOCK=8),
    called(
        "snippets/fused_softmax/log_softmax.py:log_softmax_kernel",
        **ROW_OF,
        x_row_stride=300,
        y_row_stride=300,
        n_columns=300,
        BLOCK=512,
    ),
]

WHY_KERNELS: list[Specimen] = []

BLOCK_MODEL: list[Specimen] = []

GRID_MATH: list[Specimen] = []

MASKING: list[Specimen] = []

MEMORY: list[Specimen] = [
    Specimen(
        "snippets/memory/tiled_matmul.py:tiled_matmul_kernel",
        "call",
        255,
        2**16,
        arguments={name: "*fp16" for name in ("a_ptr", "b_ptr", "c_ptr")}
        | {"M": 100, "N": 90, "K": 80, "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64},
    ),
]

PATTERNS: list[Specimen] = []

MISTAKES: list[Specimen] = []

HARDWARE: list[Specimen] = [
    Specimen(
        "snippets/hardware/resident.py:staged_product_kernel",
        "call",
        255,
        104 * 1024,
        arguments={"a_ptr": "*bf16", "b_ptr": "*bf16", "c_ptr": "*fp32", "K": 512, "SIDE": 128, "STEP": 64},
    ),
]

PROGRAMS = [
    *FIRST_KERNEL,
    *FUSED_SOFTMAX,
    *WHY_KERNELS,
    *BLOCK_MODEL,
    *GRID_MATH,
    *MASKING,
    *MEMORY,
    *PATTERNS,
    *MISTAKES,
    *HARDWARE,
]

SPECIMENS = [*ADD, *SOFTMAX, *PROGRAMS]


def jitted_functions() -> list[str]:
    """Every function under @triton.jit in kernels and snippets, as path:name."""
    found = []
    for path in sorted([*(ROOT / "kernels").glob("*.py"), *(ROOT / "snippets").rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(is_jit(decorator) for decorator in node.decorator_list):
                found.append(f"{path.relative_to(ROOT).as_posix()}:{node.name}")
    return found


def is_jit(decorator: ast.expr) -> bool:
    """Whether a decorator is `triton.jit`, bare or called."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(target) in ("triton.jit", "jit")
