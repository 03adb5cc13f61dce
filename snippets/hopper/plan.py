"""What the library would do with a product of bfloat16 matrices on an H200, and how its tiles fill the multiprocessors."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter would run the kernels on the CPU.")

# --8<-- [start:plan]
from kernels.matmul.plan import choose_plan


def fill(m, n, k, processors=132):
    """The kernel for rows of 16-bit floats, its tile, its tiles in c, and the share of multiprocessors at work."""
    plan = choose_plan(m, k, n, "half", "rows", "rows", "sm_90", processors)
    sides = list(plan.configuration.values())[:2]
    if plan.kernel == "narrow":
        m, n = max(m, n), min(m, n)  # the larger gives the rows
    programs = -(-m // sides[0]) * -(-n // sides[1]) * plan.configuration.get("parts", 1)
    waves = -(-programs // processors)
    return plan.kernel, sides, programs, round(programs / (waves * processors), 2)


for shape in (
    (8192, 8192, 8192), (4096, 4096, 4096), (3072, 3072, 3072), (1024, 1024, 1024),
    (512, 512, 512), (512, 512, 65536), (16, 8192, 8192),
):
    print(shape, *fill(*shape))
    #> (8192, 8192, 8192) gluon [192, 128] 2752 0.99
    #> (4096, 4096, 4096) hopper [128, 256] 512 0.97
    #> (3072, 3072, 3072) gluon [192, 128] 384 0.97
    #> (1024, 1024, 1024) narrow [64, 128] 128 0.97
    #> (512, 512, 512) narrow [64, 64] 64 0.48
    #> (512, 512, 65536) narrow [128, 128] 128 0.97
    #> (16, 8192, 8192) narrow [64, 16] 128 0.97
# --8<-- [end:plan]
