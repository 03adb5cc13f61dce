"""The kernels of snippets/operators."""

from scripts.launches import SHARED_BYTES, Specimen, called

ARGUMENTS = "snippets/operators/host_arguments.py"
NUMBERS = dict(zip("abcdefgh", (32, 48, 64, 80, 96, 112, 128, 144), strict=True))
SPECIMENS = [
    called("snippets/operators/softsign.py:softsign_kernel", x_ptr="*fp32", y_ptr="*fp32", n_elements=1000, BLOCK=1024),
    Specimen(
        "snippets/operators/host_ways.py:host_few_kernel",
        *("call", 96, SHARED_BYTES),
        arguments={**dict.fromkeys(("x_ptr", "weight_ptr", "bias_ptr", "y_ptr"), "*bf16"), "COLUMNS": 256, "ROWS": 4},
        options={"num_warps": 1},
    ),
    called(f"{ARGUMENTS}:host_one_kernel", x_ptr="*fp32"),
    called(f"{ARGUMENTS}:host_tensors_kernel", x_ptr="*fp32", **dict.fromkeys("abcdefgh", "*fp32")),
    called(f"{ARGUMENTS}:host_numbers_kernel", x_ptr="*fp32", **NUMBERS),
    called(f"{ARGUMENTS}:host_unspecialized_kernel", x_ptr="*fp32", **NUMBERS),
    called(f"{ARGUMENTS}:host_constants_kernel", x_ptr="*fp32", **{name.upper(): value for name, value in NUMBERS.items()}),
]
