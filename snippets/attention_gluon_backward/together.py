"""The same once more, with nothing waited for too early, two pages of dS, masks in a loop of their own, and heads together."""
# needs: sm_90
import sys

import torch

if __name__ == "__main__" and (not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0)):
    print("needs: sm_90 (a GPU of compute capability 9.0)")
    sys.exit(2)

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
# --8<-- [start:imports]
from triton.experimental.gluon.language.nvidia.hopper import warpgroup_mma_wait
# --8<-- [end:imports]
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma

from kernels.attention.gluon_backward import launch_finish, launch_prepare
from kernels.attention.launch import strides_of
from snippets.attention_backward.exact import exact, relative_error
from snippets.attention_gluon_backward.added import add_share
from snippets.attention_gluon_backward.groups import HEAD, KEYS, OWN, backward_descriptors, in_tiles, keys_load, store_own


# --8<-- [start:steps]
@gluon.jit
def together_steps(
    i_begin, i_end, g: gl.constexpr, tiles, ds_pages, dq_page, loaded, ds_full, ds_empty, dq_desc, keys, dk, dv, place,
    length, scale, PAGES: gl.constexpr, MASKED: gl.constexpr,
):
    k_page, v_page, q_ring, dout_ring, limit_ring, delta_ring = tiles
    _, full, empty = loaded
    head, first, begin = place
    square: gl.constexpr = keys.type.layout.parent
    across: gl.constexpr = gl.SliceLayout(0, square)
    left: gl.constexpr = gl.DotOperandLayout(0, dk.type.layout, 2)
    none = gl.zeros([OWN, OWN], gl.float32, square)
    k, v = k_page.slice(g * OWN, OWN, 0), v_page.slice(g * OWN, OWN, 0)
    k_columns = k_page.slice(g * OWN, OWN, 1)
    for i in range(i_begin, i_end):
        step = i - begin
        stage, page = step % 2, step % PAGES
        q, dout, ds_page = q_ring.index(stage), dout_ring.index(stage), ds_pages.index(page)
        ds_own = ds_page.slice(g * OWN, OWN, 0)
        mbarrier.wait(full.index(stage), step // 2 & 1)
        scores = warpgroup_mma(k, q.permute((1, 0)), none, use_acc=False, is_async=True)
        dp = warpgroup_mma(v, dout.permute((1, 0)), none, use_acc=False, is_async=True)
        scores = warpgroup_mma_wait(1, (scores,))  # dp is still being computed
        limit = limit_ring.index(stage).reshape([OWN]).load(across)
        p = gl.exp2(scores * scale - gl.expand_dims(limit, 0))
        delta = delta_ring.index(stage).reshape([OWN]).load(across)
        if MASKED:
            queries = i * OWN + gl.arange(0, OWN, across)
            p = gl.where(gl.expand_dims(queries, 0) >= gl.expand_dims(keys, 1), p, 0.0)
        dp = warpgroup_mma_wait(0, (dp,))
        dv = warpgroup_mma(gl.convert_layout(p.to(gl.bfloat16), left), dout, dv, is_async=True)
        ds = p * (dp - gl.expand_dims(delta, 0))
        mbarrier.wait(ds_empty.index(page), (step // PAGES + 1) & 1)
        ds_own.store(ds.to(gl.bfloat16))
        fence_async_shared()
        mbarrier.arrive(ds_full.index(page))
        dk = warpgroup_mma(ds_own, q, dk, is_async=True)
        mbarrier.wait(ds_full.index(page), step // PAGES & 1)
        dq = warpgroup_mma(ds_page.permute((1, 0)), k_columns, none, use_acc=False, is_async=True)
        dv, dk = warpgroup_mma_wait(1, (dv, dk))  # dq is still being computed
        mbarrier.arrive(empty.index(stage))
        dq = warpgroup_mma_wait(0, (dq,))
        mbarrier.arrive(ds_empty.index(page))
        add_share(dq_desc, dq_page, dq, head * length + i * OWN, g * OWN)
    return dk, dv
# --8<-- [end:steps]


# --8<-- [start:compute]
@gluon.jit
def together_compute(
    g: gl.constexpr, tiles, ds_pages, dq_pages, loaded, ds_full, ds_empty, dq_desc, dk_ptr, dv_ptr, place, length,
    scale, out_scale, CAUSAL: gl.constexpr, PAGES: gl.constexpr,
):
    # This group of four warps owns 64 keys, and 64 columns of every tile of dQ.
    head, first, begin = place
    square: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, OWN, 16])
    wide: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD, 16])
    dk, dv = gl.zeros([OWN, HEAD], gl.float32, wide), gl.zeros([OWN, HEAD], gl.float32, wide)
    keys = first + g * OWN + gl.arange(0, OWN, gl.SliceLayout(1, square))
    dq_page = dq_pages.index(g)
    mbarrier.wait(loaded[0], 0)
    if CAUSAL:  # the diagonal crosses two tiles of queries
        dk, dv = together_steps(
            begin, begin + 2, g, tiles, ds_pages, dq_page, loaded, ds_full, ds_empty, dq_desc, keys, dk, dv, place, length,
            scale, PAGES, True,
        )
    dk, dv = together_steps(
        begin + 2 if CAUSAL else begin, length // OWN, g, tiles, ds_pages, dq_page, loaded, ds_full, ds_empty, dq_desc, keys,
        dk, dv, place, length, scale, PAGES, False,
    )
    tma.store_wait(0)
    store_own(dk_ptr, dk * out_scale, head * length + first + g * OWN)
    store_own(dv_ptr, dv, head * length + first + g * OWN)
# --8<-- [end:compute]


# --8<-- [start:place]
@gluon.jit
def together_place(n_heads, length, together, CAUSAL: gl.constexpr):
    """Whose keys this program owns: of `together` heads the first tile each, then the second tile each, and so on."""
    n_tiles = length // KEYS
    section = gl.program_id(0) // (together * n_tiles)
    within = gl.program_id(0) % (together * n_tiles)
    here = gl.minimum(together, n_heads - section * together)
    first = within // here * KEYS
    return section * together + within % here, first, first // OWN if CAUSAL else 0
# --8<-- [end:place]


# --8<-- [start:kernel]
@gluon.jit
def together_kernel(
    q_desc, k_desc, v_desc, dout_desc, limit_desc, delta_desc, dq_desc, dk_ptr, dv_ptr, n_heads, length, together,
    scale, out_scale, CAUSAL: gl.constexpr, PAGES: gl.constexpr,
):
    # This program owns 128 keys of one head.
    k_page = gl.allocate_shared_memory(gl.bfloat16, [KEYS, HEAD], k_desc.layout)
    v_page = gl.allocate_shared_memory(gl.bfloat16, [KEYS, HEAD], v_desc.layout)
    q_ring = gl.allocate_shared_memory(gl.bfloat16, [2, OWN, HEAD], q_desc.layout)
    dout_ring = gl.allocate_shared_memory(gl.bfloat16, [2, OWN, HEAD], dout_desc.layout)
    limit_ring = gl.allocate_shared_memory(gl.float32, [2, 1, OWN], limit_desc.layout)
    delta_ring = gl.allocate_shared_memory(gl.float32, [2, 1, OWN], delta_desc.layout)
    ds_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([KEYS, OWN], gl.bfloat16)
    ds_pages = gl.allocate_shared_memory(gl.bfloat16, [PAGES, KEYS, OWN], ds_layout)
    dq_pages = gl.allocate_shared_memory(gl.float32, [2, OWN, OWN], dq_desc.layout)
    kv_full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    ds_full = gl.allocate_shared_memory(gl.int64, [PAGES, 1], mbarrier.MBarrierLayout())
    ds_empty = gl.allocate_shared_memory(gl.int64, [PAGES, 1], mbarrier.MBarrierLayout())
    full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    mbarrier.init(kv_full, count=1)
    for page in gl.static_range(PAGES):
        mbarrier.init(ds_full.index(page), count=2)  # of both groups
        mbarrier.init(ds_empty.index(page), count=2)
    for stage in gl.static_range(2):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(empty.index(stage), count=2)
    place = together_place(n_heads, length, together, CAUSAL)
    descriptors = (q_desc, k_desc, v_desc, dout_desc, limit_desc, delta_desc)
    tiles, loaded = (k_page, v_page, q_ring, dout_ring, limit_ring, delta_ring), (kv_full, full, empty)
    gl.warp_specialize(
        [
            (
                together_compute,
                (
                    0, tiles, ds_pages, dq_pages, loaded, ds_full, ds_empty, dq_desc, dk_ptr, dv_ptr, place, length,
                    scale, out_scale, CAUSAL, PAGES,
                ),
            ),
            (
                together_compute,
                (
                    1, tiles, ds_pages, dq_pages, loaded, ds_full, ds_empty, dq_desc, dk_ptr, dv_ptr, place, length,
                    scale, out_scale, CAUSAL, PAGES,
                ),
            ),
            (keys_load, (descriptors, tiles, loaded, place, length)),
        ],
        [4, 1],
        [240, 24],
    )
# --8<-- [end:kernel]


# --8<-- [start:launch]
def together_backward(q, k, v, out, lse, dout, is_causal=False, pages=2, together=None):
    batches, heads, length, _ = q.shape
    if together is None:  # as many heads as have 16 MiB of queries and of dO
        together = max(1, 2**24 // (2 * length * 128 * 2))
    dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
    limit, delta, dq_sum = launch_prepare(out, lse, dout, None, strides_of)
    descriptors, scale = backward_descriptors(q, k, v, dout, limit, delta), 128**-0.5
    descriptors.append(in_tiles(dq_sum.view(-1, 128), 64, 64))
    together_kernel[(q.numel() // 128 // 128,)](
        *descriptors, dk, dv, batches * heads, length, together, scale * 1.4426950408889634, scale,
        CAUSAL=is_causal, PAGES=pages, num_warps=4, maxnreg=168,
    )
    launch_finish(dq_sum, dq, scale, strides_of)
    return dq, dk, dv
# --8<-- [end:launch]


if __name__ == "__main__":
    # --8<-- [start:check]
    for is_causal in (False, True):
        q, k, v, dout = torch.randn(4, 2, 3, 640, 128, device="cuda").bfloat16()
        out, lse, *right = exact(q, k, v, dout, is_causal)
        for pages, together in ((2, None), (2, 4), (1, 1)):  # six heads in sections of four, the last of two
            found = together_backward(q, k, v, out.bfloat16(), lse.float(), dout, is_causal, pages, together)
            assert max(map(relative_error, found, right)) < 1.6e-2
    print("all three gradients agree with float64, causal and not")
    #> all three gradients agree with float64, causal and not
    # --8<-- [end:check]
