"""What the questions of the lesson ask, compiled or worked out: each line is the answer to one."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


@triton.jit
def sum_in_loop(x_ptr, out_ptr, n):
    total = tl.full([1024], 0.0, tl.float32)
    for start in range(0, n, 1024):
        total += tl.load(x_ptr + start + tl.arange(0, 1024))
    tl.store(out_ptr + tl.arange(0, 1024), total)


@triton.jit
def four_rounds(x_ptr, out_ptr, ROUNDS: tl.constexpr):
    total = tl.full([1024], 0.0, tl.float32)
    for number in range(ROUNDS):
        total += tl.load(x_ptr + number * 1024 + tl.arange(0, 1024))
    tl.store(out_ptr + tl.arange(0, 1024), total)


x = torch.empty(4096)
ahead = compile_only(sum_in_loop, x, x, 4096, num_stages=4).asm["ttgir"]
print(f"ahead: {ahead.count('async_copy_global_to_local')}")
print(f"loads: {compile_only(four_rounds, x, x, ROUNDS=4).asm['ttgir'].count('tt.load')}")


def barrier_ends(programs, room):
    """Whether all arrive, where a program keeps its place until all have arrived."""
    waiting = list(range(programs))
    running = [waiting.pop(0) for _ in range(min(room, programs))]
    arrived = len(running)
    return arrived == programs  # nobody leaves before, so nobody else begins


ends = [programs for programs in (264, 265) if barrier_ends(programs, room=2 * 132)]
print(f"barrier: {'never' if ends == [264] else 'later'}")
