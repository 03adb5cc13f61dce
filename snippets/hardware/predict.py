"""Predict how long operations take on a GPU of which two rates are known."""

# --8<-- [start:predict]
from kernels.tools.hardware import least_us, ridge

copy, matmul = 1000e9, 100e12  # bytes and operations a second; yours stand on your sheet
corner = ridge(matmul, copy)
print(f"ridge: {corner:.0f} operations a byte")
#> ridge: 100 operations a byte

n, side = 2**26, 8192
operations = {  # bytes that must move, operations to do
    "add, float32": (3 * 4 * n, n),
    "softmax, bfloat16": (2 * 2 * n, 5 * n),
    "its gradient": (3 * 2 * n, 4 * n),
    "matmul, bfloat16": (3 * 2 * side**2, 2 * side**3),
    "the same, 16 rows": (2 * (2 * 16 * side + side**2), 2 * 16 * side**2),
}
for name, (moved, flops) in operations.items():
    limit = "memory" if flops / moved < corner else "arithmetic"
    time = max(least_us(moved, copy), flops / matmul * 1e6)
    print(f"{name:18}{flops / moved:8.2f} a byte: {limit:10}{time:9.1f} us at least")
    #> add, float32          0.08 a byte: memory        805.3 us at least
    #> softmax, bfloat16     1.25 a byte: memory        268.4 us at least
    #> its gradient          0.67 a byte: memory        402.7 us at least
    #> matmul, bfloat16   2730.67 a byte: arithmetic  10995.1 us at least
    #> the same, 16 rows    15.94 a byte: memory        134.7 us at least
# --8<-- [end:predict]
