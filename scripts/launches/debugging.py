"""The kernels of snippets/debugging."""

from dataclasses import replace

from scripts.launches import X_AND_OUT, Specimen, called

IN = "snippets/debugging"
ROWS = {"x_ptr": "*fp32", "weight_ptr": "*fp32", "y_ptr": "*fp32", "n_columns": 1000, "eps": 1e-6, "BLOCK": 1024}
DOT = {"x_ptr": "*fp32", "weight_ptr": "*fp32", "out_ptr": "*fp32", "N": 4000, "scale": 0.3, "bias": 0.7}
SPECIMENS = [
    replace(called(f"{IN}/suspect.py:scale_rows_kernel", **ROWS), shared=2300),
    replace(called(f"{IN}/inside.py:scale_rows_seen_kernel", **ROWS, seen_ptr="*fp32"), shared=2300),
    called(f"{IN}/exercise.py:spread_kernel", **X_AND_OUT, n_columns=3, BLOCK=4),
    called(f"{IN}/solution.py:spread_mended_kernel", **X_AND_OUT, n_columns=3, BLOCK=4),
    # What is printed lies on the stack first.
    replace(called(f"{IN}/prints.py:print_half_kernel", x_ptr="*fp32", y_ptr="*fp32", n_elements=6, BLOCK=4), spills=88),
    *(
        replace(
            called(
                f"{IN}/print_cost.py:halve_and_print_kernel",
                x_ptr="*fp32", y_ptr="*fp32", n_elements=2**20, asked=5, PRINT=PRINT, BLOCK=1024,
            ),
            label=PRINT,
            spills=spills,
            shared=shared,
        )
        for PRINT, spills, shared in (("never", 0, 0), ("one", 192, 2048), ("all", 192, 2048))
    ),
    called(f"{IN}/assertions.py:root_kernel", x_ptr="*fp32", y_ptr="*fp32", BLOCK=4),
    *(
        replace(
            called(
                f"{IN}/stopped.py:stopped_suspect_kernel",
                x_ptr="*fp32", weight_ptr="*fp32", y_ptr="*fp32", N=1000, eps=1e-5, BLOCK=1024, STOP=stop,
            ),
            label=stop,
            shared=2300,
        )
        for stop in ("centered", "shifted", "share")
    ),
    called(
        f"{IN}/lookup.py:lookup_suspect_kernel", table_ptr="*fp32", ids_ptr="*i64", y_ptr="*fp32", n_columns=64, BLOCK=64
    ),
    called(f"{IN}/same_formula.py:plain_suspect_kernel", **DOT, BLOCK=4096),
    called(f"{IN}/same_formula.py:folded_suspect_kernel", **DOT, end=4000, BLOCK=256),
    called(f"{IN}/shorter.py:running_suspect_kernel", x_ptr="*fp32", total_ptr="*fp32", N=4096, BLOCK=64),
    Specimen(
        f"{IN}/parts_of_compiler.py:switched_suspect_kernel",
        "call",
        255,
        3 * 2 * 64 * 64 * 2 + 64,
        arguments=dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16") | {"K": 512, "BLOCK": 64},
    ),
]
