"""The exercise's solution: what keeps a second program off the multiprocessor, and what would let it in."""

# --8<-- [start:exercise]
from kernels.tools.hardware import programs_that_fit

limits = {
    "registers": 65536, "shared": 233472, "reserved": 1024, "threads": 2048, "programs": 32,
}
for shared in (131072, 98304):
    for registers in (168, 128):
        fit = programs_that_fit(registers, num_warps=8, shared=shared, limits=limits)
        print(f"{registers} registers, {shared:6} bytes: {fit['registers']} and {fit['shared memory']}")
        #> 168 registers, 131072 bytes: 1 and 1
        #> 128 registers, 131072 bytes: 2 and 1
        #> 168 registers,  98304 bytes: 1 and 2
        #> 128 registers,  98304 bytes: 2 and 2
# --8<-- [end:exercise]
