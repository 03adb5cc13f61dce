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

HALF = {"x_ptr": "*bf16", "bias_ptr": "*bf16", "y_ptr": "*bf16", "n_columns": 16384, "p": 0.1, "seed": 42}
WHY_KERNELS = [
    called("snippets/why_kernels/fused.py:bias_gelu_dropout_kernel", **HALF, BLOCK=1024),
    called("snippets/why_kernels/fused.py:four_at_once_kernel", **HALF, threshold=214748364, BLOCK=2048),
    Specimen(
        "snippets/why_kernels/novel.py:clipped_norm_kernel",
        "call",
        96,
        SHARED_BYTES,
        arguments={"x_ptr": "*bf16", "y_ptr": "*bf16", "n_columns": 4096, "BLOCK": 4096},
    ),
    called("snippets/why_kernels/exercise.py:wave_kernel", x_ptr="*bf16", y_ptr="*bf16", n_elements=2**27, BLOCK=1024),
]

MATRIX_OF = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n_columns": 16}
BLOCK_MODEL = [
    called("snippets/block_model/tile.py:double_matrix_kernel", **MATRIX_OF, BLOCK_M=4, BLOCK_N=8),
    called("snippets/block_model/shapes.py:coordinates_kernel", line_ptr="*i64", tile_ptr="*i64", cube_ptr="*i64"),
    called("snippets/block_model/cuda_threads.py:double_many_kernel", x_ptr="*fp32", out_ptr="*fp32", n=1000, BLOCK=256),
    called("snippets/block_model/threads.py:double_block_kernel", x_ptr="*fp32", out_ptr="*fp32", BLOCK=64),
    called("snippets/block_model/warps.py:double_all_kernel", x_ptr="*fp32", out_ptr="*fp32", n_elements=2**26, BLOCK=64),
    called("snippets/block_model/compile_time.py:iterate_kernel", x_ptr="*fp32", STEPS=8, BLOCK=128),
    called("snippets/block_model/compile_time.py:iterate_unrolled_kernel", x_ptr="*fp32", STEPS=8, BLOCK=128),
    called(
        "snippets/block_model/variants.py:scale_by_kernel",
        x_ptr="*fp32",
        out_ptr="*fp32",
        factor=2.0,
        n_elements=1000,
        BLOCK=256,
    ),
    called("snippets/block_model/order.py:take_ticket_kernel", counter_ptr="*i32", ticket_ptr="*i32", place_ptr="*i32"),
    called("snippets/block_model/counter.py:plain_count_kernel", counter_ptr="*i32"),
    called("snippets/block_model/counter.py:atomic_count_kernel", counter_ptr="*i32"),
    Specimen(
        "snippets/block_model/race.py:turn_tile_kernel",
        "call",
        40,
        18_000,
        arguments={"x_ptr": "*fp32", "out_ptr": "*fp32", "SIDE": 64},
    ),
    called(
        "snippets/block_model/race.py:pass_on_kernel",
        x_ptr="*fp32",
        out_ptr="*fp32",
        ROUNDS=100,
        BLOCK=128,
        SAFE=False,
    ),
    called("snippets/block_model/exercise.py:set_zero_kernel", out_ptr="*fp32", n_elements=1000, BLOCK=256),
]

TILE_OF = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n_rows": 512, "n_columns": 256}
GRID = "snippets/grid_math"
GRID_MATH = [
    called(
        f"{GRID}/tiles.py:double_tile_kernel",
        **TILE_OF,
        x_row_stride=256,
        x_column_stride=1,
        out_row_stride=256,
        out_column_stride=1,
        BLOCK_M=64,
        BLOCK_N=64,
    ),
    called(f"{GRID}/owners.py:tile_owner_kernel", out_ptr="*i64", n_rows=5, n_columns=10, BLOCK_M=2, BLOCK_N=4),
    called(f"{GRID}/broadcast.py:show_offsets_kernel", shapes_ptr="*i32", tile_ptr="*i32", stride=100),
    called(f"{GRID}/diagonal.py:diagonal_kernel", out_ptr="*fp32", stride=16, BLOCK=16),
    called(f"{GRID}/column_major.py:gather_kernel", x_ptr="*fp32", out_ptr="*fp32", N=4, SWAPPED=True),
    Specimen(
        f"{GRID}/views.py:negate_view_kernel",
        "call",
        64,
        1024,  # Triton 3.6 rearranges the tile there, later versions do not
        arguments={**TILE_OF, "row_stride": 60, "column_stride": 2, "BLOCK": 16},
    ),
    called(f"{GRID}/ignored_strides.py:flat_copy_kernel", x_ptr="*fp32", out_ptr="*fp32", n_elements=6, BLOCK=8),
    called(
        f"{GRID}/batch.py:add_one_kernel",
        **TILE_OF,
        batch_stride=7000,
        row_stride=70,
        column_stride=1,
        BLOCK_M=32,
        BLOCK_N=64,
    ),
    called(f"{GRID}/forms.py:fill_kernel", out_ptr="*fp32", n_elements=1000, BLOCK=128),
    called(f"{GRID}/wrap.py:far_offsets_kernel", first_ptr="*i64", pid=2**21, BLOCK=1024, WIDE=False),
    called(f"{GRID}/many.py:folded_kernel", **TILE_OF, tiles_down=2, tiles_across=2, BLOCK_M=8, BLOCK_N=32),
    called(f"{GRID}/limits.py:count_programs_kernel", count_ptr="*i32"),
    called(f"{GRID}/large.py:fill_ones_kernel", out_ptr="*i8", n_elements=2**31 + 5000, BLOCK=1024, WIDE=True),
    called(f"{GRID}/launch_order.py:ticket_kernel", counter_ptr="*i32", tickets_ptr="*i32", n_y=400),
    called(f"{GRID}/benchmark.py:copy_tile_kernel", **TILE_OF, row_stride=256, BLOCK_M=32, BLOCK_N=128, WIDE=True),
]

IN_MASKING, X_AND_OUT = "snippets/masking", {"x_ptr": "*fp32", "out_ptr": "*fp32"}
SIZED = {**X_AND_OUT, "n_elements": 10_001, "BLOCK": 1024}
MASKING = [
    called(f"{IN_MASKING}/edge.py:edge_kernel", out_ptr="*i1", n_elements=10, BLOCK=4),
    called(f"{IN_MASKING}/fillers.py:fold_kernel", **X_AND_OUT, n_elements=5, OTHER=0.0, BLOCK=8),
    called(f"{IN_MASKING}/no_other.py:undefined_kernel", **X_AND_OUT, n_elements=5, BLOCK=8),
    called(f"{IN_MASKING}/lanes.py:shifted_kernel", **X_AND_OUT, n_elements=100, OTHER=0.0, BLOCK=128),
    called(f"{IN_MASKING}/unmasked.py:unmasked_sum_kernel", **X_AND_OUT, BLOCK=1024),
    called(f"{IN_MASKING}/neighbor.py:unmasked_double_kernel", x_ptr="*fp32", BLOCK=1024),
    called(f"{IN_MASKING}/fault.py:far_load_kernel", **X_AND_OUT, distance=2**35),
    called(f"{IN_MASKING}/tiles.py:scale_tile_kernel", **X_AND_OUT, scale=3.0, M=6, N=10, BLOCK_M=4, BLOCK_N=4),
    called(f"{IN_MASKING}/half_mask.py:tile_sum_kernel", **X_AND_OUT, M=20, N=20, ROWS=True, COLS=True, BLOCK=16),
    called(f"{IN_MASKING}/widths.py:negate_kernel", **SIZED, MASK=True),
    called(f"{IN_MASKING}/promises.py:hinted_negate_kernel", **X_AND_OUT, n=10_001, HINT="none", BLOCK=1024),
    called(f"{IN_MASKING}/split.py:split_negate_kernel", **SIZED),
    called(f"{IN_MASKING}/benchmark.py:masked_negate_kernel", **SIZED, MASK=True, SPLIT=False),
    called(f"{IN_MASKING}/even.py:even_negate_kernel", **X_AND_OUT, BLOCK=256),
    called(f"{IN_MASKING}/false_promise.py:promised_kernel", out_ptr="*i32", n_elements=1001, BLOCK=1024),
    called(f"{IN_MASKING}/row_means.py:row_means_kernel", **X_AND_OUT, M=10, N=100, BLOCK_M=4, BLOCK_N=128),
]

SQUARE_OF = {"x_ptr": "*fp32", "out_ptr": "*fp32", "N": 8192, "TILE": 64}
WIDENED = {"x_ptr": "*bf16", "out_ptr": "*fp32", "BLOCK": 1024}
LARGE_OF = {"x_ptr": "*fp32", "out_ptr": "*fp32", "TILE": 64}
PRODUCT_OF = {"a_ptr": "*bf16", "b_ptr": "*bf16", "out_ptr": "*bf16", "N": 8192, "TILE": 64, "STEP": 64}
# Three stages of two 64 by 64 tiles in bf16, and their barriers.
TILE_BYTES = 3 * 2 * 64 * 64 * 2 + 64
MEMORY = [
    called("snippets/memory/working_set.py:reread_kernel", x_ptr="*fp32", sums_ptr="*fp32", n_blocks=61, n_steps=497, BLOCK=2048),
    called("snippets/memory/working_set.py:recopy_kernel", x_ptr="*fp32", y_ptr="*fp32", n_blocks=61, n_steps=497, BLOCK=2048),
    Specimen("snippets/memory/predict.py:widen_kernel", "call", 40, 2048, arguments=WIDENED),
    called("snippets/memory/strides.py:strided_kernel", x_ptr="*fp32", out_ptr="*fp32", stride=2, BLOCK=1024),
    Specimen("snippets/memory/roofline.py:product_kernel", "call", 144, TILE_BYTES, arguments=PRODUCT_OF),
    Specimen("snippets/memory/places.py:staged_kernel", "call", 144, TILE_BYTES, arguments=PRODUCT_OF),
    Specimen("snippets/memory/places.py:turning_kernel", "call", 48, 64 * 64 * 4, arguments=SQUARE_OF),
    Specimen("snippets/memory/too_large.py:large_tile_kernel", "call", 48, 64 * 64 * 4, arguments=LARGE_OF),
    Specimen(
        "snippets/memory/tiled_matmul.py:tiled_matmul_kernel",
        "call",
        255,
        2**16,
        arguments={name: "*fp16" for name in ("a_ptr", "b_ptr", "c_ptr")}
        | {"M": 100, "N": 90, "K": 80, "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64},
    ),
]

ROW_OUT = {"x_ptr": "*fp32", "out_ptr": "*fp32"}
# A tile is turned in shared memory, 64 x 64 elements with some padding. Bins are counted and a row is spread there.
TURNED_BYTES, COUNTED_BYTES, ROW_BYTES = 20_000, 4096, 2048
FLAT = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n_elements": 2**28}
ADD_ROW = {"row_ptr": "*fp32", "x_row_stride": 16384, "x_column_stride": 1, "out_row_stride": 16384, "out_column_stride": 1}
TEMPLATES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "square": ("square_kernel", SHARED_BYTES, {**FLAT, "BLOCK": 1024}),
    "tile": ("add_row_kernel", ROW_BYTES, {**TILE_OF, **ADD_ROW, "BLOCK_M": 16, "BLOCK_N": 256}),
    "row_sum": ("row_sum_kernel", SHARED_BYTES, {**ROW_OUT, "row_stride": 16384, "n_columns": 16384, "BLOCK": 2048}),
    "total": ("partial_sum_kernel", SHARED_BYTES, {**FLAT, "BLOCK": 2048, "ATOMIC": True}),
    "transpose": (
        "transpose_kernel",
        TURNED_BYTES,
        {**TILE_OF, "x_row_stride": 256, "out_row_stride": 512, "BLOCK_M": 64, "BLOCK_N": 64},
    ),
    "largest": ("largest_kernel", SHARED_BYTES, {**FLAT, "BLOCK": 2048}),
    "histogram": (
        "histogram_kernel",
        COUNTED_BYTES,
        {"x_ptr": "*fp32", "counts_ptr": "*i32", "n_elements": 2**28, "BINS": 256, "BLOCK": 4096, "LOCAL": True},
    ),
}
MAPS = ("square", "tile", "transpose")
# Each template stands in its program and again, under another name, in the program that times it.
PATTERNS = [
    Specimen(f"snippets/patterns/{program}.py:{prefix}{kernel}", "call", 96, shared, arguments=arguments)
    for name, (kernel, shared, arguments) in TEMPLATES.items()
    for program, prefix in ((name, ""), ("benchmark_maps" if name in MAPS else "benchmark_reductions", "timed_"))
] + [
    Specimen(
        "snippets/patterns/column_sum.py:column_sum_kernel",
        "call",
        64,
        ROW_BYTES,
        arguments={**ROW_OUT, "row_stride": 300, "n_rows": 500, "n_columns": 300, "BLOCK_M": 32, "BLOCK_N": 64},
    ),
    called("snippets/patterns/half_sum.py:half_sum_kernel", x_ptr="*fp16", out_ptr="*fp32", BLOCK=4096, WIDE=True),
    called("snippets/patterns/roll.py:roll_kernel", **ROW_OUT, source_ptr="*i32", n=5, BLOCK=8, FIXED=True),
    called("snippets/patterns/loop_variable.py:last_start_kernel", out_ptr="*i32", n=1000, BLOCK=128),
    called("snippets/patterns/lost_updates.py:count_once_kernel", count_ptr="*i32", ATOMIC=True),
    called("snippets/patterns/sum_order.py:block_sum_kernel", **ROW_OUT, BLOCK=1024, ATOMIC=True),
    Specimen(
        "snippets/patterns/shared.py:move_tile_kernel",
        "call",
        96,
        TURNED_BYTES,
        arguments={**ROW_OUT, "stride": 64, "BLOCK": 64, "WAY": "tl.trans"},
    ),
]

IN_MISTAKES = "snippets/mistakes"
MISTAKES = [
    called(f"{IN_MISTAKES}/missing_mask.py:sum_wrong_kernel", **X_AND_OUT, n_columns=1000, BLOCK=1024),
    called(f"{IN_MISTAKES}/missing_mask.py:sum_right_kernel", **X_AND_OUT, n_columns=1000, BLOCK=1024),
    called(
        f"{IN_MISTAKES}/missing_other.py:softmax_wrong_kernel",
        **ROW_OF,
        x_row_stride=100,
        y_row_stride=100,
        n_columns=100,
        BLOCK=128,
    ),
    called(f"{IN_MISTAKES}/short_grid.py:increment_kernel", **X_AND_OUT, M=100, N=100, BLOCK=32),
    called(f"{IN_MISTAKES}/dimensions.py:number_kernel", out_ptr="*fp32", stride=16, FORM="swapped", N=16),
    called(f"{IN_MISTAKES}/strides.py:negate_flat_kernel", **X_AND_OUT, n_elements=48, BLOCK=16),
    called(f"{IN_MISTAKES}/overflow.py:offset_kernel", out_ptr="*i64", row=50_000, stride=50_000, WIDE=False),
    called(f"{IN_MISTAKES}/overflow_read.py:first_column_kernel", x_ptr="*i8", out_ptr="*i8", stride=50_000, WIDE=False),
    called(f"{IN_MISTAKES}/and_masks.py:join_kernel", out_ptr="*i32", WORD=True, BLOCK=16),
    called(f"{IN_MISTAKES}/half_sums.py:sum_kept_kernel", x_ptr="*fp16", out_ptr="*fp32", WIDE=False, BLOCK=4096),
    called(f"{IN_MISTAKES}/exercise.py:row_max_broken_kernel", **X_AND_OUT, N=100, BLOCK_M=4, BLOCK_N=128),
    called(f"{IN_MISTAKES}/solution.py:row_max_mended_kernel", **X_AND_OUT, stride=200, M=10, N=100, BLOCK_M=4, BLOCK_N=128),
]

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
