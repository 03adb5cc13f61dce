"""The kernels of snippets/profiling."""

from typing import Any

from scripts.launches import SHARED_BYTES, X_AND_OUT, X_AND_Y, Specimen, called

IN = "snippets/profiling"
Arguments = dict[str, Any]
SQUARE: Arguments = {"a_ptr": "*fp32", "b_ptr": "*fp32", "c_ptr": "*fp32", "n": 4096, "TILE": 64, "STEP": 32, "HOW": "tf32"}
IMAGES: Arguments = {"x_ptr": "*bf16", "map_ptr": "*fp32", "y_ptr": "*bf16", "n": 2**24, "IMAGES": 8, "BLOCK": 1024}
MATRIX: Arguments = {"a_ptr": "*fp32", "x_ptr": "*fp32", "y_ptr": "*fp32", "n_columns": 16384}
SUMS: Arguments = {**X_AND_OUT, "n_rows": 4096, "n_columns": 32768}
LONG: Arguments = {"x_ptr": "*fp32", "sums_ptr": "*fp32", "n_columns": 2**21, "part_columns": 2**15, "BLOCK": 4096}
SETTLED: Arguments = {**X_AND_Y, "n_steps": 400}


def of(kernel: str, label: str, asked: Arguments, registers: int = 64, shared: int = SHARED_BYTES, warps: int = 4) -> Specimen:
    options = {} if warps == 4 else {"num_warps": warps}
    return Specimen(f"{IN}/{kernel}", label, registers, shared, arguments=asked, options=options)


SPECIMENS = [
    called(f"{IN}/at_limit.py:times_plus_kernel", **X_AND_Y, a=3.0, b=1.0, n=2**26, BLOCK=1024),
    of("uncoalesced.py:turn_part_kernel", "lines", {**X_AND_Y, "n": 8192, "ROWS": 1, "COLUMNS": 2048}, shared=2300),
    of("uncoalesced.py:turn_part_kernel", "tiles", {**X_AND_Y, "n": 8192, "ROWS": 64, "COLUMNS": 32}, shared=64 * 33 * 4),
    of("order.py:weigh_images_kernel", "far", IMAGES | {"NEAR": False}),
    of("order.py:weigh_images_kernel", "near", IMAGES | {"NEAR": True}),
    of("in_flight.py:walking_copy_kernel", "small", {**X_AND_Y, "n_blocks": 2**16, "BLOCK": 1024}),
    of("in_flight.py:walking_copy_kernel", "larger", {**X_AND_Y, "n_blocks": 2**13, "BLOCK": 8192}, registers=128),
    called(f"{IN}/launch_bound.py:small_steps_kernel", **X_AND_Y, n=1024, STEPS=20, BLOCK=1024),
    called(f"{IN}/host_bound.py:decay_step_kernel", x_ptr="*fp32", n=2**20, BLOCK=1024),
    of("few_programs.py:part_sum_kernel", "call", LONG, warps=8),
    of("tail.py:settle_kernel", "whole", SETTLED | {"BLOCK": 2**15}, warps=32),
    of("tail.py:settle_kernel", "piece", SETTLED | {"BLOCK": 2**12}, registers=80),
    of("idle_cores.py:square_product_kernel", "ieee", SQUARE | {"HOW": "ieee"}, 255, 2**16),
    of("idle_cores.py:square_product_kernel", "tf32", SQUARE, 255, 2**16),
    of("idle_cores.py:square_product_kernel", "bf16", SQUARE | {"a_ptr": "*bf16", "b_ptr": "*bf16"}, 255, 2**16),
    of("columns.py:add_columns_kernel", "high", SUMS | {"ROWS": 1024, "COLUMNS": 1}),
    of("columns.py:add_columns_kernel", "wide", SUMS | {"ROWS": 64, "COLUMNS": 32}, shared=600),
    of("exercise.py:times_vector_kernel", "many_rows", MATRIX | {"ROWS": 64, "COLUMNS": 64}, registers=120, shared=600),
    of("exercise.py:times_vector_kernel", "few_rows", MATRIX | {"ROWS": 8, "COLUMNS": 512}, registers=100),
    called(f"{IN}/torch_table.py:gate_rows_kernel", x_ptr="*fp32", gate_ptr="*fp32", y_ptr="*fp32", n=2**24, BLOCK=1024),
    called(f"{IN}/proton_tree.py:told_copy_kernel", **X_AND_Y, n=2**24, BLOCK=1024),
    called(f"{IN}/first_call.py:new_step_kernel", **X_AND_Y, n=2**24, BLOCK=1024),
    called(f"{IN}/first_block.py:twice_kernel", **X_AND_Y, n=2**26, BLOCK=1024),
]
