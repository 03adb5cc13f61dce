"""The exercise's solution: what a smaller GPU takes for three operations, by its two rates and its multiprocessors."""

# --8<-- [start:another]
multiprocessors, copy, product = 40, 500e9, 60e12

n = 2**28
print(f"x.half(): {n * (4 + 2) / copy * 1e3:.2f} ms")
#> x.half(): 3.22 ms

rows, side = 16, 8192
memory = 2 * (2 * rows * side + side**2) / copy
cores = 2 * rows * side**2 / product
print(f"a @ b: bytes {memory * 1e6:.0f} us, operations {cores * 1e6:.0f} us")
#> a @ b: bytes 269 us, operations 36 us

programs = 24
print(f"{multiprocessors - programs} of {multiprocessors} multiprocessors idle")
#> 16 of 40 multiprocessors idle
# --8<-- [end:another]
