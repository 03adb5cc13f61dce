"""What a print leaves in a compiled kernel: with a switch known to the compiler, with a condition, and bare."""
# --8<-- [start:imports]
import re

import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def halve_and_print_kernel(x_ptr, y_ptr, n_elements, asked, PRINT: tl.constexpr, BLOCK: tl.constexpr):
    # This program halves one block, and prints it: never, if it is the one that was asked for, or always.
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    if PRINT == "all" or (PRINT == "one" and pid == asked):
        tl.device_print("x", x)
    tl.store(y_ptr + offsets, x / 2, mask=mask)
# --8<-- [end:kernel]


if __name__ == "__main__":
    if not torch.cuda.is_available():
        print("No CUDA device found: the kernel is compiled and not run, not even by the interpreter.")
    # --8<-- [start:compile]
    x = torch.empty(2**20, device="cuda" if torch.cuda.is_available() else "cpu")
    for PRINT in ("never", "one", "all"):
        made = compile_only(halve_and_print_kernel, x, x, 2**20, 5, PRINT=PRINT, BLOCK=1024)
        ptx = made.asm["ptx"]
        before = re.split(r"\bbra\b|vprintf,", ptx)[0]  # what every program does, up to the first branch or call
        calls, barriers = ptx.count("vprintf,"), before.count("bar.sync")
        print(f"{PRINT:5}: {calls} calls of printf, {barriers} barriers, {made.metadata.shared} bytes of shared memory")
        #> never: 0 calls of printf, 0 barriers, 0 bytes of shared memory
        #> one  : 8 calls of printf, 3 barriers, 2048 bytes of shared memory
        #> all  : 8 calls of printf, 3 barriers, 2048 bytes of shared memory
    # --8<-- [end:compile]
