"""Is a program one thread block? The compiled kernel says how many it asks the GPU for."""
# --8<-- [start:imports]
import re

import torch

from kernels.add import add_kernel
from kernels.tools.compile_only import compile_only
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")

# --8<-- [start:clusters]
for num_ctas in (1, 2, 4):
    pointers = torch.float32, torch.float32, torch.float32
    compiled = compile_only(add_kernel, *pointers, 4096, BLOCK=1024, num_ctas=num_ctas)
    cluster = re.search(r"\.reqnctapercluster (\d+)", compiled.asm["ptx"])
    blocks = int(cluster[1]) if cluster else 1
    number = "clusterid" if "%clusterid.x" in compiled.asm["ptx"] else "ctaid"
    plural = "" if blocks == 1 else "s"
    print(f"num_ctas={num_ctas}: {blocks} thread block{plural} a program, numbered by {number}")
    #> num_ctas=1: 1 thread block a program, numbered by ctaid
    #> num_ctas=2: 2 thread blocks a program, numbered by clusterid
    #> num_ctas=4: 4 thread blocks a program, numbered by clusterid
# --8<-- [end:clusters]
