"""How many threads serve a block? Read it off the compiled kernel."""
import re

import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:threads]
@triton.jit
def double_block_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets))


print("BLOCK  num_warps  threads  lanes held  loads of a thread  store guarded")
#> BLOCK  num_warps  threads  lanes held  loads of a thread  store guarded
for block in (64, 1024):
    for warps in (1, 2, 4, 8):
        pointers = torch.float32, torch.float32
        options = {"BLOCK": block, "num_warps": warps}
        compiled = compile_only(double_block_kernel, *pointers, **options)
        ptx = compiled.asm["ptx"]
        threads = int(re.search(r"\.reqntid (\d+)", ptx)[1])
        loads = re.findall(r"ld\.global(?:\.v(\d))?\.b32", ptx)
        wide = int(loads[0] or 1)  # .v4 is four lanes at once
        lanes = threads * len(loads) * wide
        what = f"{len(loads)} of {4 * wide} bytes"
        guard = "yes" if re.search(r"@%p\d+ st\.global", ptx) else "no"
        print(f"{block:5}{warps:11}{threads:9}{lanes:12}{what:>19}{guard:>15}")
        #>    64          1       32          64       1 of 8 bytes             no
        #>    64          2       64          64       1 of 4 bytes             no
        #>    64          4      128         128       1 of 4 bytes            yes
        #>    64          8      256         256       1 of 4 bytes            yes
        #>  1024          1       32        1024      8 of 16 bytes             no
        #>  1024          2       64        1024      4 of 16 bytes             no
        #>  1024          4      128        1024      2 of 16 bytes             no
        #>  1024          8      256        1024      1 of 16 bytes             no
print("thread blocks a program:", compiled.metadata.num_ctas)
#> thread blocks a program: 1
# --8<-- [end:threads]
