"""Layer norm and RMS norm, and the programs of *LayerNorm and RMSNorm*."""

from scripts.launches import DTYPES, SHARED_BYTES, Specimen, called

# A row of 5001 is not kept by the library; what that would take is told on a page.
FORWARD = {64: 104, 1024: 88, 2047: 128, 4096: 56, 5001: 224, 16384: 112}
FORWARD_SPILLS = {2047: 32}
FORWARD_LONG = {5001: 64, 8192: 72, 16385: 72, 20_008: 72, 65536: 80}
PARTS = {40_000: 40, 65536: 40, 100_001: 72, 262144: 40, 2**19: 40, 2**20: 72}
FORWARD_SPLIT = {40_000: 48, 65536: 48, 100_001: 104, 262144: 56, 2**19: 56, 2**20: 96}
BACKWARD = {64: 255, 781: 176, 1000: 255, 1024: 240, 2501: 255, 4096: 128, 5001: 128, 8192: 128, 16384: 128}
# The sums of the widest rows leave no room; lengths that 8 does not divide are loaded element by element.
BACKWARD_SPILLS = {2501: 48, 5001: 136, 16384: 288}
ROW_MEANS = {16385: 64, 65536: 64}
COLUMNS = {16385: 255, 65536: 128}
COLUMNS_SPILLS = {16385: 24, 65536: 8}  # the latter by Triton 3.8 alone


def rows(
    kernel: str,
    launcher: str,
    registers: dict[int, int],
    shared: int,
    spills: dict[int, int] | None = None,
    n_rows: int = 4096,
) -> list[Specimen]:
    """The kernel as `launcher` launches it for `n_rows` rows of each length."""
    return [
        Specimen(kernel, f"{length}-{dtype}", bound, shared, (spills or {}).get(length, 0), launcher, (n_rows, length), dtype)
        for length, bound in registers.items()
        for dtype in (DTYPES if length % 16 else ("fp32", "bf16"))
    ]


FORWARD_FILE, BACKWARD_FILE, LONG_FILE = (f"kernels/norm/{name}.py" for name in ("forward", "backward", "backward_long"))
SPLIT_FILE = "kernels/norm/forward_split.py"
LIBRARY = [
    *rows(f"{FORWARD_FILE}:norm_kernel", "norm_tile", FORWARD, 9000, FORWARD_SPILLS),
    *rows("kernels/norm/forward_long.py:norm_long_kernel", "norm_long", FORWARD_LONG, 9000),
    *rows(f"{SPLIT_FILE}:norm_parts_kernel", "norm_split", PARTS, SHARED_BYTES, n_rows=32),
    *rows(f"{SPLIT_FILE}:norm_split_kernel", "norm_split", FORWARD_SPLIT, 4500, n_rows=32),
    *rows(f"{BACKWARD_FILE}:norm_backward_kernel", "norm_tile_backward", BACKWARD, 144_000, BACKWARD_SPILLS),
    *rows(f"{LONG_FILE}:norm_row_means_kernel", "norm_long_backward", ROW_MEANS, SHARED_BYTES),
    *rows(f"{LONG_FILE}:norm_columns_kernel", "norm_long_backward", COLUMNS, 36_000, COLUMNS_SPILLS),
    *rows(f"{LONG_FILE}:norm_row_means_kernel", "norm_long_backward", {189_096: 64}, SHARED_BYTES, n_rows=2),
    *rows(f"{LONG_FILE}:norm_columns_kernel", "norm_long_backward", {189_096: 152}, 36_000, n_rows=2),
]

ROW = {"x_ptr": "*fp32", "weight_ptr": "*fp32", "bias_ptr": "*fp32", "y_ptr": "*fp32"}
BACK = {"x_ptr": "*fp32", "weight_ptr": "*fp32", "dy_ptr": "*fp32", "mean_ptr": "*fp32", "rstd_ptr": "*fp32", "dx_ptr": "*fp32"}
SUMS = {"dweight_ptr": "*fp32", "dbias_ptr": "*fp32"}
LOCKS = {**BACK, **SUMS, "locks_ptr": "*i32", "n_groups": 8}
COLUMN = {"x_ptr": "*fp32", "dy_ptr": "*fp32", "mean_ptr": "*fp32", "rstd_ptr": "*fp32", **SUMS, "n_rows": 20, "n_part": 8}
PARTIAL = {"means_ptr": "*fp32", "squares_ptr": "*fp32"}
STEPS = "snippets/norms/benchmark_steps.py"
TIMED = {name: "*bf16" if name in ("x_ptr", "weight_ptr", "dy_ptr", "dx_ptr") else kind for name, kind in LOCKS.items()}


def step(kernel: str, label: str, shared: int, **arguments) -> Specimen:
    return Specimen(kernel, label, 255, shared, arguments=arguments)


PROGRAMS = [
    step(
        "kernels/norm/partials.py:norm_partials_kernel",
        "call",
        1024,
        dweight_partials_ptr="*fp32",
        dbias_partials_ptr="*fp32",
        dweight_ptr="*bf16",
        dbias_ptr="*bf16",
        n_partials=264,
        n_columns=4096,
        ROWS=64,
        BLOCK=32,
    ),
    step("snippets/norms/forward.py:row_norm_kernel", "call", 4096, **ROW, n_columns=300, eps=1e-5, BLOCK=512),
    called("snippets/norms/far_mean.py:squares_kernel", x_ptr="*fp32", y_ptr="*fp32", n_columns=1000, eps=1e-5, BLOCK=1024),
    called("snippets/norms/mean_first.py:two_variances_kernel", x_ptr="*fp32", out_ptr="*fp32", n_columns=512, BLOCK=1024),
    called("snippets/norms/parts.py:part_moments_kernel", x_ptr="*fp32", **PARTIAL, n_columns=3000, PART=512),
    called(
        "snippets/norms/parts.py:joined_moments_kernel",
        **PARTIAL,
        variance_ptr="*fp32",
        n_columns=3000,
        n_parts=6,
        PART=512,
        PARTS=8,
    ),
    called("snippets/norms/masked_lanes.py:unmasked_variance_kernel", x_ptr="*fp32", variance_ptr="*fp32", n_columns=5, BLOCK=8),
    called(
        "snippets/norms/partial_sums.py:partial_sums_kernel",
        dy_ptr="*fp32",
        partials_ptr="*fp32",
        n_rows=1000,
        n_columns=300,
        BLOCK=512,
    ),
    called("snippets/norms/repeat.py:add_rows_kernel", dy_ptr="*fp32", dbias_ptr="*fp32", n_columns=1000, BLOCK=1024),
    step(
        "snippets/norms/residual.py:residual_norm_kernel",
        "call",
        4096,
        x_ptr="*fp32",
        residual_ptr="*fp32",
        weight_ptr="*fp32",
        h_ptr="*fp32",
        y_ptr="*fp32",
        n_columns=300,
        eps=1e-6,
        BLOCK=512,
    ),
    step("snippets/norms/atomic.py:atomic_step_kernel", "call", 4096, **BACK, **SUMS, n_columns=300, BLOCK=512),
    step("snippets/norms/locks.py:lock_step_kernel", "call", 4096, **LOCKS, n_columns=300, BLOCK=512),
    step("snippets/norms/two_kernels.py:column_step_kernel", "call", 4096, **COLUMN, n_columns=300, ROWS=4, BLOCK=64),
    step("snippets/norms/stay.py:staying_step_kernel", "call", 4096, **BACK, **SUMS, n_rows=20, n_columns=300, BLOCK=512),
    *(
        step(f"{STEPS}:timed_row_kernel", way, 2**15, **TIMED, n_columns=4096, WAY=way, BLOCK=4096)
        for way in ("atomic", "locks", "two_kernels")
    ),
    step(
        f"{STEPS}:timed_column_kernel",
        "call",
        2**15,
        **{**COLUMN, "x_ptr": "*bf16", "dy_ptr": "*bf16", "n_rows": 8192, "n_part": 128},
        n_columns=4096,
        ROWS=16,
        BLOCK=128,
    ),
]
SPECIMENS = [*LIBRARY, *PROGRAMS]
