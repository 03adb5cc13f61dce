"""Which thread holds which lane? What the compiler says of it, and on a GPU what the threads say themselves."""
import re

import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:layout]
@triton.jit
def lane_thread_kernel(out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    thread = tl.inline_asm_elementwise(  # one line of PTX for each lane
        "mov.u32 $0, %tid.x;", "=r,r", [lanes],
        dtype=tl.int32, is_pure=True, pack=1,
    )
    tl.store(out_ptr + lanes, thread)


for block in (64, 1024):
    compiled = compile_only(lane_thread_kernel, torch.int32, BLOCK=block)
    layout = re.search(r"#blocked = #ttg.blocked<{(.*), order", compiled.asm["ttgir"])[1]
    print(f"{block:4} lanes: {layout}")
    #>   64 lanes: sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4]
    #> 1024 lanes: sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4]
# --8<-- [end:layout]

if torch.cuda.is_available():
    threads = torch.empty(1024, dtype=torch.int32, device="cuda")
    lane_thread_kernel[(1,)](threads, BLOCK=1024)
    assert threads.tolist() == [lane // 4 % 128 for lane in range(1024)], "the layout says something else"
    print("lane 0 is held by thread", threads[0].item(), "and lane 512 by thread", threads[512].item())
