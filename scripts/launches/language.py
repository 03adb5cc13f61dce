"""The kernels of snippets/language."""

from scripts.launches import X_AND_OUT, Specimen, called

INTEGERS = {"x_ptr": "*i32", "out_ptr": "*i32"}
HERE = "snippets/language"
SPECIMENS = [
    called(f"{HERE}/access.py:access_kernel", x_ptr="*i64", out_ptr="*i64", n=5),
    called(f"{HERE}/access.py:atomics_kernel", cells_ptr="*i32", before_ptr="*i32"),
    called(f"{HERE}/blocks.py:making_kernel", out_ptr="*i32"),
    called(f"{HERE}/blocks.py:shaping_kernel", out_ptr="*i32"),
    called(f"{HERE}/descriptors.py:tile_plus_one_kernel", x_desc="tensordesc<fp32[4, 4]>", out_desc="tensordesc<fp32[4, 4]>"),
    called(f"{HERE}/elements.py:elements_kernel", **X_AND_OUT),
    # What `sin` and `cos` of large arguments take is no spill; the compiler counts it as one.
    Specimen(f"{HERE}/elements.py:functions_kernel", "call", 32, 128, spills=32, arguments={**X_AND_OUT}),
    called(f"{HERE}/lanes.py:lanes_kernel", **INTEGERS),
    Specimen(f"{HERE}/lanes.py:scan_kernel", "call", 32, 140, arguments={**INTEGERS}),
    Specimen(
        f"{HERE}/products.py:dot_kernel", "call", 32, 1_100, arguments={"a_ptr": "*fp16", "b_ptr": "*fp16", "out_ptr": "*fp32"}
    ),
    Specimen(
        f"{HERE}/rand.py:random_kernel", "call", 184, 9_000, spills=32, arguments={"out_ptr": "*fp32", "seed": 7, "n": 4096}
    ),
    called(f"{HERE}/programs.py:programs_kernel", out_ptr="*i32", n=5, SIDE=2),
]
