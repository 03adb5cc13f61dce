"""Two rates, and the least time that four operations can take on a GPU that has them."""

# --8<-- [start:least]
copy = 1000e9  # bytes that a copy moves in a second
product = 100e12  # operations that the tensor cores do in a second


def least_us(moved, multiplied=0):
    return max(moved / copy, multiplied / product) * 1e6


n, side = 2**26, 8192
operations = {  # bytes that have to move, operations of a matrix product
    "x + y in float32": (3 * 4 * n, 0),
    "x + y in bfloat16": (3 * 2 * n, 0),
    "65,536 numbers": (3 * 4 * 65536, 0),
    "a @ b in bfloat16": (3 * 2 * side**2, 2 * side**3),
}
for name, counted in operations.items():
    print(f"{name:18}{least_us(*counted):9.1f} us at least")
    #> x + y in float32      805.3 us at least
    #> x + y in bfloat16     402.7 us at least
    #> 65,536 numbers          0.8 us at least
    #> a @ b in bfloat16   10995.1 us at least
# --8<-- [end:least]
