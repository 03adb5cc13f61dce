"""The tree of the lesson as a function, asked about four kernels that are made up."""

from kernels.tools.roofline.limits import Figures, limiter

# --8<-- [start:asked]
plain = Figures(
    us=100, host_us=20, idle=0.1, memory_us=40, product_us=0, programs=4000,
    multiprocessors=132, waves=8, spilled=0, dots=False, tensor_cores=False,
)  # fmt: skip
print(limiter(plain._replace(memory_us=92)))
#> at the copy's rate
print(limiter(plain._replace(host_us=150)))
#> launch-bound
print(limiter(plain._replace(programs=64, waves=0.2)))
#> too few programs
print(limiter(plain._replace(memory_again=2.5, cache_again=9)))
#> uncoalesced
# --8<-- [end:asked]
