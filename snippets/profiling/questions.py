"""What the questions of the lesson ask, worked out: each line is the answer to one."""

from kernels.tools.roofline.limits import Figures, limiter, waves

# A quarter of the warps is resident, and the bytes are moved at nine tenths of the copy's rate.
few_warps = Figures(
    us=110, host_us=15, idle=0.05, memory_us=100, product_us=0, programs=5000,
    multiprocessors=132, waves=9.5, spilled=0, dots=False, tensor_cores=False,
)  # fmt: skip
print(f"warps: {limiter(few_warps)}")

# Ten launches follow each other: eight ticks of the host for each, and three of the GPU for its kernel, beside that.
host, gpu = 0, 0
for _ in range(10):
    host += 8
    gpu = max(gpu, host) + 3
print(f"clock: {gpu}")

# 270 programs, two at a time on each of 132 multiprocessors.
filled = waves(270, 132, 2)
print(f"last: {round((filled - int(filled)) * 264)} of 264")
