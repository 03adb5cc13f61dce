"""What is compiled without a GPU, and what it may cost: launches of every kernel of the library and of the programs.

Most entries name the function that launches the kernel and the shape it is given; what it passes on (block, warps,
strides) is read off that launch, so an entry cannot fall behind the code. A program launches its kernel itself:
its entry repeats the arguments, with `*fp32` for a tensor.

Each module of this package lists the kernels of one chapter's programs, or of one family of the library, as its
`SPECIMENS`. A new module is found by itself.

The bounds hold for every GPU that the tests compile for and every version of Triton that the library runs on. They
leave about a tenth above what was found. A register that does not fit is spilled to memory, which is what these
kernels are short of, so almost none may.
"""

import ast
import importlib
import pkgutil
from dataclasses import dataclass, field
from typing import Any

from scripts import ROOT

DTYPES = ("fp32", "fp16", "bf16")
# A sum or maximum over a row passes one word a warp through shared memory, and a program has 32 warps at most.
SHARED_BYTES = 128

# Arguments that many programs' kernels take.
X_AND_OUT = {"x_ptr": "*fp32", "out_ptr": "*fp32"}
X_AND_Y = {"x_ptr": "*fp32", "y_ptr": "*fp32"}
# The launches whose compiled text is kept as a record, so that pictures and pages can read it, and for which GPU.
VIEWED = {
    "lane_thread_kernel/call": "sm_90",
    "strided_kernel/call": "sm_90",
    **{f"staged_matmul_kernel/stages_{n}": "sm_90" for n in (1, 2, 3, 4)},
}
TILE_OF = {**X_AND_OUT, "n_rows": 512, "n_columns": 256}


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
    options: dict[str, Any] = field(default_factory=dict)

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
        return {"arguments": self.arguments} | ({"options": self.options} if self.options else {})


def launched(
    kernel: str,
    launcher: str,
    rows: int,
    registers: dict[int, int],
    spills: dict[int, int] | None = None,
    prefix: str = "",
    shared: int = SHARED_BYTES,
) -> list[Specimen]:
    """The kernel as `launcher`, a function of the same file, launches it for rows of each length in `registers`.

    Lengths that 16 does not divide are compiled for all dtypes, because wide loads are lost there; the others for two.
    """
    found = []
    for length, bound in registers.items():
        for dtype in DTYPES if length % 16 else ("fp32", "bf16"):
            label, allowed = f"{prefix}{length}-{dtype}", (spills or {}).get(length, 0)
            found.append(Specimen(kernel, label, bound, shared, allowed, launcher, (rows, length), dtype))
    return found


def called(kernel: str, **arguments: Any) -> Specimen:
    """The kernel as a program calls it."""
    return Specimen(kernel, "call", 64, SHARED_BYTES, arguments=arguments)


def collected() -> list[Specimen]:
    """The specimens of every module here, in the order of the modules' names."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__, f"{__name__}."))
    return [specimen for name in names for specimen in importlib.import_module(name).SPECIMENS]


def jitted_functions() -> list[str]:
    """Every kernel in kernels and snippets, as path:name; a jitted function that other kernels call has no such name.

    Those of the error index, of the gallery and of the pages on versions are not among them: commands of their own ask the
    compiler for each.
    """
    found = []
    for path in sorted([*(ROOT / "kernels").rglob("*.py"), *(ROOT / "snippets").rglob("*.py")]):
        if path.parent in (ROOT / "snippets" / "errors", ROOT / "snippets" / "gallery", ROOT / "snippets" / "versions"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or not any(is_jit(decorator) for decorator in node.decorator_list):
                continue
            if node.name.endswith("_kernel"):
                found.append(f"{path.relative_to(ROOT).as_posix()}:{node.name}")
    return found


def is_jit(decorator: ast.expr) -> bool:
    """Whether a decorator is `triton.jit`, bare or called."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(target) in ("triton.jit", "jit")


# Last, because the modules take their tools from above.
SPECIMENS = collected()
