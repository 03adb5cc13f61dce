"""The ring of buffers, said out loud in Gluon: where the buffers are, when a copy begins, and which ones are waited for."""
# --8<-- [start:imports]
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.runtime import driver
# --8<-- [end:imports]

from kernels.tools.compile_only import NoGPU


# --8<-- [start:kernel]
@gluon.jit
def plus(x, y):
    return x + y


@gluon.jit
def gluon_sum_kernel(x_ptr, out_ptr, n_columns, BLOCK: gl.constexpr, STAGES: gl.constexpr, num_warps: gl.constexpr):
    # This program adds up one long row, through a ring of STAGES pieces in shared memory.
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [num_warps], [0])  # four neighbors a thread
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])  # in order
    ring = gl.allocate_shared_memory(gl.float32, [STAGES, BLOCK], flat)
    row = x_ptr + gl.program_id(0).to(gl.int64) * n_columns + gl.arange(0, BLOCK, layout)
    steps = n_columns // BLOCK
    for step in gl.static_range(STAGES - 1):
        async_copy.async_copy_global_to_shared(ring.index(step), row + step * BLOCK, mask=step < steps)
        async_copy.commit_group()
    total = gl.full([BLOCK], 0.0, gl.float32, layout)
    for step in range(steps):
        ahead = step + STAGES - 1
        async_copy.async_copy_global_to_shared(ring.index(ahead % STAGES), row + ahead * BLOCK, mask=ahead < steps)
        async_copy.commit_group()
        async_copy.wait_group(STAGES - 1)  # all but the newest STAGES - 1 have arrived
        total += ring.index(step % STAGES).load(layout)
    gl.store(out_ptr + gl.program_id(0), gl.reduce(total, 0, plus))
# --8<-- [end:kernel]


def gluon_sum(x, stages=4):
    out = torch.empty(x.shape[0], device=x.device)
    gluon_sum_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=1024, STAGES=stages, num_warps=8)
    return out


if __name__ == "__main__":
    if not torch.cuda.is_available():
        print("No CUDA device found: the kernel is compiled and not run. Gluon has no interpreter.")
    # --8<-- [start:compile]
    if not torch.cuda.is_available():
        driver.set_active(NoGPU())
    x = torch.empty(64, 4096, device="cuda" if torch.cuda.is_available() else "cpu")
    made = gluon_sum_kernel.warmup(x, x, 4096, BLOCK=1024, STAGES=4, num_warps=8, grid=(1,))
    print("copies:", made.asm["ptx"].count("cp.async.cg"), "shared:", made.metadata.shared)
    #> copies: 4 shared: 16384
    # --8<-- [end:compile]
    if torch.cuda.is_available():
        x.normal_()
        torch.testing.assert_close(gluon_sum(x), x.sum(dim=1), rtol=1e-4, atol=1e-4)
        print("right: True")
