"""How many programs fit on a multiprocessor? Arithmetic with four limits; no GPU is needed."""

# --8<-- [start:occupancy]
from kernels.tools.hardware import programs_that_fit

# What one multiprocessor of an H200 has; put in your own GPU's numbers.
limits = {
    "registers": 65536, "shared": 233472, "reserved": 1024, "threads": 2048, "programs": 32,
}

print("registers a thread:", *(f"{registers:5}" for registers in (32, 48, 64, 96, 128, 255)))
#> registers a thread:    32    48    64    96   128   255
for num_warps in (1, 2, 4, 8, 16, 32):
    fit = [
        min(programs_that_fit(registers, num_warps, 0, limits).values())
        for registers in (32, 48, 64, 96, 128, 255)
    ]
    print(f"with {num_warps:2} warps:     ", *(f"{programs:5}" for programs in fit))
    #> with  1 warps:         32    32    32    20    16     8
    #> with  2 warps:         32    20    16    10     8     4
    #> with  4 warps:         16    10     8     5     4     2
    #> with  8 warps:          8     5     4     2     2     1
    #> with 16 warps:          4     2     2     1     1     0
    #> with 32 warps:          2     1     1     0     0     0
# --8<-- [end:occupancy]
