"""Attention, backward, on Hopper GPUs, in Gluon: one kernel for all three gradients, five products where two kernels need seven.

A program owns 128 keys, 64 for each of two groups of warps, and walks over the queries that see them. The gradients of its keys
and values stay in registers. Those of the queries are shared by all programs of a head, so each adds its part to memory, in
float32, by the copy engine, which takes a tile from shared memory while the groups go on. In which order the parts arrive is not
fixed, so the last bits differ from run to run; where that must not be, `kernels.attention.backward` is taken.

Source: J. Shah and others, "FlashAttention-3", arXiv:2407.08608.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language._core import builtin
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor

from kernels.attention.gluon import GROUP_ROWS, attention_piece, gluon_described, heads_together
from kernels.attention.tiles import attention_limits, attention_open, attention_range
from kernels.common.sizes import cdiv
from kernels.common.tile_copies import load_tile

KEY_GROUPS = gl.constexpr(2)  # of four warps, each of which owns as many keys as GROUP_ROWS says


@builtin
def add_tile(tensor_desc, coord, src, _semantic=None):
    """Add a tile of shared memory to one in global memory, by the copy engine. Gluon's compiler has it, its language not yet."""
    coord = _semantic._convert_to_ir_values(coord, require_i64=False)
    _semantic.builder.create_async_tma_reduce(ir.DESCRIPTOR_REDUCE_KIND.ADD, tensor_desc.handle, coord, src.handle)


@gluon.jit
def attention_keys_walk(first, sizes, HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr, BLOCK_M: gl.constexpr):
    """The tiles of queries that keys from `first` on meet; all need a mask where some of the keys are none."""
    _, _, _, q_length, k_length, low, high, _ = sizes
    last = gl.minimum(first + KEY_GROUPS * GROUP_ROWS, k_length) - 1
    # Seen from a key, queries lie from -high to -low.
    begin, plain_begin, plain_end, end = attention_range(first, last, q_length, -high, -low, HAS_RIGHT, HAS_LEFT, BLOCK_M)
    plain_begin = gl.where(first + KEY_GROUPS * GROUP_ROWS > k_length, plain_end, plain_begin)
    return begin, plain_begin, plain_end, end


@gluon.jit
def attention_keys_order(i, begin, plain_begin, plain_end, end):
    """The i-th tile of a walk: first those that need no mask, then the others."""
    n_plain = plain_end - plain_begin
    masked = begin + i - n_plain
    return gl.where(i < n_plain, plain_begin + i, gl.where(masked < plain_begin, masked, masked + n_plain))


@gluon.jit
def attention_keys_load(
    descriptors, pages, barriers, sizes, BLOCK_M: gl.constexpr, STAGES: gl.constexpr,
    HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr,
):
    q_desc, k_desc, v_desc, dout_desc, _, limit_desc, delta_desc = descriptors
    k_page, v_page, q_ring, dout_ring, limit_ring, delta_ring, _, _ = pages
    kv_full, q_full, q_empty, dout_full, dout_empty, _, _ = barriers
    n_outer, n_heads, group, q_length, k_length, _, _, together = sizes
    batch, k_head, first = attention_piece(
        gl.program_id(0), n_outer, n_heads // group, k_length, together, KEY_GROUPS * GROUP_ROWS, False
    )
    begin, plain_begin, plain_end, end = attention_keys_walk(first, sizes, HAS_LEFT, HAS_RIGHT, BLOCK_M)
    mbarrier.expect(kv_full, k_desc.block_type.nbytes + v_desc.block_type.nbytes)
    load_tile(k_desc, [batch, k_head, first, 0], kv_full, k_page)
    load_tile(v_desc, [batch, k_head, first, 0], kv_full, v_page)
    step = 0
    for member in range(group):
        head = k_head * group + member
        for i in range(end - begin):
            start = attention_keys_order(i, begin, plain_begin, plain_end, end) * BLOCK_M
            stage, parity = step % STAGES, (step // STAGES + 1) & 1
            mbarrier.wait(q_empty.index(stage), parity)
            mbarrier.expect(q_full.index(stage), q_desc.block_type.nbytes + limit_desc.block_type.nbytes)
            load_tile(limit_desc, [batch, head, start], q_full.index(stage), limit_ring.index(stage))
            load_tile(q_desc, [batch, head, start, 0], q_full.index(stage), q_ring.index(stage))
            mbarrier.wait(dout_empty.index(stage), parity)
            mbarrier.expect(dout_full.index(stage), dout_desc.block_type.nbytes + delta_desc.block_type.nbytes)
            load_tile(delta_desc, [batch, head, start], dout_full.index(stage), delta_ring.index(stage))
            load_tile(dout_desc, [batch, head, start, 0], dout_full.index(stage), dout_ring.index(stage))
            step += 1


@gluon.jit
def attention_keys_steps(
    i_begin, i_end, walk, g: gl.constexpr, place, k, v, k_half, dk, dv, step, descriptors, pages, barriers, sizes, scale, keys,
    BLOCK_M: gl.constexpr, STAGES: gl.constexpr, MASKED: gl.constexpr, HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr,
):
    _, _, _, _, dq_desc, _, _ = descriptors
    _, _, q_ring, dout_ring, limit_ring, delta_ring, ds_pages, dq_pages = pages
    _, q_full, q_empty, dout_full, dout_empty, ds_full, ds_empty = barriers
    _, _, _, q_length, k_length, low, high, _ = sizes
    begin, plain_begin, plain_end, end = walk
    batch, head = place
    WIDTH: gl.constexpr = dk.shape[1]
    HALF: gl.constexpr = WIDTH // KEY_GROUPS
    s_layout: gl.constexpr = keys.type.layout.parent
    dq_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HALF, 16])
    p_layout: gl.constexpr = gl.DotOperandLayout(0, dk.type.layout, 2)
    none, no_dq = gl.zeros([GROUP_ROWS, BLOCK_M], gl.float32, s_layout), gl.zeros([BLOCK_M, HALF], gl.float32, dq_layout)
    dq_page = dq_pages.index(g)
    for i in range(i_begin, i_end):
        start = attention_keys_order(i, begin, plain_begin, plain_end, end) * BLOCK_M
        stage, parity, ds_page = step % STAGES, step // STAGES & 1, ds_pages.index(step % 2)
        q, dout = q_ring.index(stage).reshape([BLOCK_M, WIDTH]), dout_ring.index(stage).reshape([BLOCK_M, WIDTH])
        mbarrier.wait(q_full.index(stage), parity)
        scores = warpgroup_mma(k, q.permute((1, 0)), none, use_acc=False, is_async=True)
        mbarrier.wait(dout_full.index(stage), parity)
        dp = warpgroup_mma(v, dout.permute((1, 0)), none, use_acc=False, is_async=True)
        scores = warpgroup_mma_wait(1, (scores,))
        limit = limit_ring.index(stage).reshape([BLOCK_M]).load(gl.SliceLayout(0, s_layout))
        p = gl.exp2(scores * scale - gl.expand_dims(limit, 0))
        delta = delta_ring.index(stage).reshape([BLOCK_M]).load(gl.SliceLayout(0, s_layout))
        if MASKED:
            queries = start + gl.arange(0, BLOCK_M, gl.SliceLayout(0, s_layout))
            across = gl.expand_dims(queries, 0)
            is_open = attention_open(across, gl.expand_dims(keys, 1), k_length, low, high, HAS_LEFT, HAS_RIGHT)
            p = gl.where(is_open & (across < q_length), p, 0.0)
        dp = warpgroup_mma_wait(0, (dp,))
        dv = warpgroup_mma(gl.convert_layout(p.to(q.dtype), p_layout), dout, dv, is_async=True)
        ds = (p * (dp - gl.expand_dims(delta, 0))).to(q.dtype)
        mbarrier.wait(ds_empty.index(step % 2), (step // 2 + 1) & 1)
        ds_page.slice(g * GROUP_ROWS, GROUP_ROWS, 0).store(ds)
        fence_async_shared()
        mbarrier.arrive(ds_full.index(step % 2))
        dk = warpgroup_mma(ds_page.slice(g * GROUP_ROWS, GROUP_ROWS, 0), q, dk, is_async=True)
        mbarrier.wait(ds_full.index(step % 2), step // 2 & 1)  # of both groups
        dq = warpgroup_mma(ds_page.permute((1, 0)), k_half, no_dq, use_acc=False, is_async=True)
        dv, dk = warpgroup_mma_wait(1, (dv, dk))
        mbarrier.arrive(q_empty.index(stage))
        mbarrier.arrive(dout_empty.index(stage))
        dq = warpgroup_mma_wait(0, (dq,))
        mbarrier.arrive(ds_empty.index(step % 2))
        tma.store_wait(0)  # what was in the page is added
        dq_page.reshape([BLOCK_M, HALF]).store(dq)
        fence_async_shared()
        add_tile(dq_desc, [batch, head, start, g * HALF], dq_page)
        step += 1
    return dk, dv, step


@gluon.jit
def attention_keys_compute(
    g: gl.constexpr, descriptors, pages, barriers, sizes, dk_ptr, dv_ptr, strides, scale, out_scale, BLOCK_M: gl.constexpr,
    STAGES: gl.constexpr, HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr,
):
    # This group of four warps owns 64 keys, and computes half of the numbers of each query's gradient.
    q_desc, _, _, _, _, _, _ = descriptors
    k_page, v_page, _, _, _, _, _, _ = pages
    kv_full, _, _, _, _, _, _ = barriers
    n_outer, n_heads, group, q_length, k_length, _, _, together = sizes
    dk_batch_stride, dk_head_stride, dk_row_stride, dv_batch_stride, dv_head_stride, dv_row_stride = strides
    WIDTH: gl.constexpr = q_desc.block_type.shape[3]
    HALF: gl.constexpr = WIDTH // KEY_GROUPS
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_M, 16])
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, WIDTH, 16])
    batch, k_head, first = attention_piece(
        gl.program_id(0), n_outer, n_heads // group, k_length, together, KEY_GROUPS * GROUP_ROWS, False
    )
    begin, plain_begin, plain_end, end = attention_keys_walk(first, sizes, HAS_LEFT, HAS_RIGHT, BLOCK_M)
    keys = first + g * GROUP_ROWS + gl.arange(0, GROUP_ROWS, gl.SliceLayout(1, s_layout))
    dk, dv = gl.zeros([GROUP_ROWS, WIDTH], gl.float32, layout), gl.zeros([GROUP_ROWS, WIDTH], gl.float32, layout)
    k_all, v_all = k_page.reshape([KEY_GROUPS * GROUP_ROWS, WIDTH]), v_page.reshape([KEY_GROUPS * GROUP_ROWS, WIDTH])
    k, v = k_all.slice(g * GROUP_ROWS, GROUP_ROWS, 0), v_all.slice(g * GROUP_ROWS, GROUP_ROWS, 0)
    k_half = k_all.slice(g * HALF, HALF, 1)
    mbarrier.wait(kv_full, 0)
    step = 0
    n, n_plain, walk = end - begin, plain_end - plain_begin, (begin, plain_begin, plain_end, end)
    for member in range(group):
        place = (batch, k_head * group + member)
        dk, dv, step = attention_keys_steps(
            0, n_plain, walk, g, place, k, v, k_half, dk, dv, step, descriptors, pages, barriers, sizes, scale, keys,
            BLOCK_M, STAGES, False, HAS_LEFT, HAS_RIGHT,
        )
        dk, dv, step = attention_keys_steps(
            n_plain, n, walk, g, place, k, v, k_half, dk, dv, step, descriptors, pages, barriers, sizes, scale, keys,
            BLOCK_M, STAGES, True, HAS_LEFT, HAS_RIGHT,
        )
    tma.store_wait(0)
    rows = first + g * GROUP_ROWS + gl.arange(0, GROUP_ROWS, gl.SliceLayout(1, layout))
    columns = gl.expand_dims(gl.arange(0, WIDTH, gl.SliceLayout(0, layout)), 0)
    mask = gl.expand_dims(rows < k_length, 1)
    far = gl.expand_dims(rows.to(gl.int64), 1)
    dk_ptr += batch.to(gl.int64) * dk_batch_stride + k_head.to(gl.int64) * dk_head_stride
    dv_ptr += batch.to(gl.int64) * dv_batch_stride + k_head.to(gl.int64) * dv_head_stride
    gl.store(dk_ptr + far * dk_row_stride + columns, (dk * out_scale).to(q_desc.dtype), mask=mask)
    gl.store(dv_ptr + far * dv_row_stride + columns, dv.to(q_desc.dtype), mask=mask)


@gluon.jit(do_not_specialize=["n_outer", "n_heads", "group", "q_length", "k_length", "left", "right", "together"])
def attention_gluon_backward_kernel(
    q_desc, k_desc, v_desc, dout_desc, dq_desc, limit_desc, delta_desc, dk_ptr, dv_ptr,
    dk_batch_stride, dk_head_stride, dk_row_stride, dv_batch_stride, dv_head_stride, dv_row_stride,
    n_outer, n_heads, group, q_length, k_length, left, right, together, scale, out_scale,
    BLOCK_M: gl.constexpr, STAGES: gl.constexpr, HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr,
    LOWER_RIGHT: gl.constexpr, REGISTERS: gl.constexpr,
):
    # This program owns 128 keys of one head.
    k_page = gl.allocate_shared_memory(k_desc.dtype, k_desc.block_type.shape, k_desc.layout)
    v_page = gl.allocate_shared_memory(v_desc.dtype, v_desc.block_type.shape, v_desc.layout)
    q_ring = gl.allocate_shared_memory(q_desc.dtype, [STAGES] + q_desc.block_type.shape, q_desc.layout)
    dout_ring = gl.allocate_shared_memory(dout_desc.dtype, [STAGES] + dout_desc.block_type.shape, dout_desc.layout)
    limit_ring = gl.allocate_shared_memory(gl.float32, [STAGES] + limit_desc.block_type.shape, limit_desc.layout)
    delta_ring = gl.allocate_shared_memory(gl.float32, [STAGES] + limit_desc.block_type.shape, limit_desc.layout)
    ds_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([KEY_GROUPS * GROUP_ROWS, BLOCK_M], gl.bfloat16)
    ds_pages = gl.allocate_shared_memory(q_desc.dtype, [2, KEY_GROUPS * GROUP_ROWS, BLOCK_M], ds_layout)
    dq_pages = gl.allocate_shared_memory(gl.float32, [KEY_GROUPS] + dq_desc.block_type.shape, dq_desc.layout)
    kv_full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    ds_full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    ds_empty = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    q_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    q_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    dout_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    dout_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    mbarrier.init(kv_full, count=1)
    for page in gl.static_range(2):
        mbarrier.init(ds_full.index(page), count=KEY_GROUPS)
        mbarrier.init(ds_empty.index(page), count=KEY_GROUPS)
    for stage in gl.static_range(STAGES):
        mbarrier.init(q_full.index(stage), count=1)
        mbarrier.init(dout_full.index(stage), count=1)
        mbarrier.init(q_empty.index(stage), count=KEY_GROUPS)
        mbarrier.init(dout_empty.index(stage), count=KEY_GROUPS)
    low, high = attention_limits(left, right, q_length, k_length, LOWER_RIGHT)
    descriptors = (q_desc, k_desc, v_desc, dout_desc, dq_desc, limit_desc, delta_desc)
    pages = (k_page, v_page, q_ring, dout_ring, limit_ring, delta_ring, ds_pages, dq_pages)
    barriers = (kv_full, q_full, q_empty, dout_full, dout_empty, ds_full, ds_empty)
    sizes = (n_outer, n_heads, group, q_length, k_length, low, high, together)
    strides = (dk_batch_stride, dk_head_stride, dk_row_stride, dv_batch_stride, dv_head_stride, dv_row_stride)
    gl.warp_specialize(
        [
            (
                attention_keys_compute,
                (
                    0, descriptors, pages, barriers, sizes, dk_ptr, dv_ptr, strides, scale, out_scale,
                    BLOCK_M, STAGES, HAS_LEFT, HAS_RIGHT,
                ),
            ),
            (
                attention_keys_compute,
                (
                    1, descriptors, pages, barriers, sizes, dk_ptr, dv_ptr, strides, scale, out_scale,
                    BLOCK_M, STAGES, HAS_LEFT, HAS_RIGHT,
                ),
            ),
            (attention_keys_load, (descriptors, pages, barriers, sizes, BLOCK_M, STAGES, HAS_LEFT, HAS_RIGHT)),
        ],
        [4, 1],
        [REGISTERS, 24],
    )


@triton.jit(do_not_specialize=["length", "padded"])
def attention_prepare_kernel(
    out_ptr, dout_ptr, lse_ptr, dlse_ptr, limit_ptr, delta_ptr, sum_ptr, out_batch_stride, out_head_stride, out_row_stride,
    dout_batch_stride, dout_head_stride, dout_row_stride, n_heads, length, padded, WIDTH: tl.constexpr, BLOCK: tl.constexpr,
):
    # This program has BLOCK queries of one head: what is taken off their weights' gradients, and zeros for what is added up.
    n_tiles = tl.cdiv(length, BLOCK)
    pid = tl.program_id(0).to(tl.int64)
    outer, first = pid // n_tiles, pid % n_tiles * BLOCK
    rows = first + tl.arange(0, BLOCK)  # [BLOCK]
    columns = tl.arange(0, WIDTH)[None, :]  # [1, WIDTH]
    inside = rows < length
    out_ptr += outer // n_heads * out_batch_stride + outer % n_heads * out_head_stride
    dout_ptr += outer // n_heads * dout_batch_stride + outer % n_heads * dout_head_stride
    far = rows[:, None]
    out = tl.load(out_ptr + far * out_row_stride + columns, mask=inside[:, None], other=0.0).to(tl.float32)  # [BLOCK, WIDTH]
    dout = tl.load(dout_ptr + far * dout_row_stride + columns, mask=inside[:, None], other=0.0).to(tl.float32)
    delta = tl.sum(out * dout, 1)  # [BLOCK]
    if dlse_ptr is not None:
        delta -= tl.load(dlse_ptr + outer * length + rows, mask=inside, other=0.0)
    lse = tl.load(lse_ptr + outer * length + rows, mask=inside, other=0.0)
    # A query without keys has no weights: exp2 of a score less infinity.
    limit = tl.where(lse == -float("inf"), float("inf"), lse * 1.4426950408889634)
    tl.store(limit_ptr + outer * padded + rows, limit, mask=inside)
    tl.store(delta_ptr + outer * padded + rows, delta, mask=inside)
    zero = tl.zeros([BLOCK, WIDTH], tl.float32)
    tl.store(sum_ptr + (outer * length + rows)[:, None] * WIDTH + columns, zero, mask=inside[:, None])


@triton.jit(do_not_specialize=["length"])
def attention_finish_kernel(
    sum_ptr, dq_ptr, dq_batch_stride, dq_head_stride, dq_row_stride, n_heads, length, scale, WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # This program scales and rounds BLOCK rows of one head.
    n_tiles = tl.cdiv(length, BLOCK)
    pid = tl.program_id(0).to(tl.int64)
    outer, first = pid // n_tiles, pid % n_tiles * BLOCK
    rows = first + tl.arange(0, BLOCK)  # [BLOCK]
    columns = tl.arange(0, WIDTH)[None, :]  # [1, WIDTH]
    mask = (rows < length)[:, None]
    x = tl.load(sum_ptr + (outer * length + rows)[:, None] * WIDTH + columns, mask=mask, other=0.0)  # [BLOCK, WIDTH]
    dq_ptr += outer // n_heads * dq_batch_stride + outer % n_heads * dq_head_stride
    tl.store(dq_ptr + rows[:, None] * dq_row_stride + columns, x * scale, mask=mask)


def launch_gluon_keys(q, k, v, dout, limit, delta, dq_sum, dk, dv, window, mask, scale, tile: dict[str, Any], strides_of) -> None:
    """Launch the kernel that adds to `dq_sum`, in float32, and stores `dk` and `dv`; `scale` is the factor of the scores."""
    (batches, heads, q_length, width), (_, k_heads, k_length, _) = q.shape, k.shape
    group, n_outer, rows = heads // k_heads, batches * k_heads, tile["BLOCK_M"]
    line = gl.NVMMASharedLayout(swizzle_byte_width=0, element_bitwidth=32, rank=3)
    blocks = zip((q, k, v, dout), (rows, 128, 128, rows), strict=True)
    descriptors = [gluon_described(x, strides_of(x), n, width) for x, n in blocks]
    halves = [1, 1, rows, width // 2]
    layout = gl.NVMMASharedLayout.get_default_for(halves, gl.float32)
    descriptors.append(GluonDescriptor(dq_sum, list(dq_sum.shape), list(dq_sum.stride()), halves, layout))
    for x in (limit, delta):  # whose rows begin at multiples of 16 bytes
        descriptors.append(GluonDescriptor(x, [batches, heads, q_length], list(x.stride()), [1, 1, rows], line))
    options = {"HAS_LEFT": mask.left >= 0, "HAS_RIGHT": mask.right >= 0, "LOWER_RIGHT": mask.lower_right}
    options |= {"BLOCK_M": rows, "STAGES": tile["STAGES"], "REGISTERS": 240, "maxnreg": 168}
    together = max(1, heads_together(q, 1) // group)
    sizes = (n_outer, heads, group, q_length, k_length, *window, together, scale * 1.4426950408889634, scale)
    programs = n_outer * cdiv(k_length, 128)
    attention_gluon_backward_kernel[(programs,)](
        *descriptors, dk, dv, *strides_of(dk), *strides_of(dv), *sizes, **options, num_warps=4
    )


def launch_prepare(out, lse, dout, dlse, strides_of) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The limits and deltas of all queries, in rows padded to four numbers, and zeros in float32 to add their gradients to."""
    batches, heads, length, width = out.shape
    padded, block = -(-length // 4) * 4, 4096 // width
    limit, delta = (torch.empty((batches, heads, padded), dtype=torch.float32, device=out.device) for _ in range(2))
    dq_sum = torch.empty((batches, heads, length, width), dtype=torch.float32, device=out.device)
    attention_prepare_kernel[(batches * heads * cdiv(length, block),)](
        out, dout, lse, dlse, limit, delta, dq_sum, *strides_of(out), *strides_of(dout), heads, length, padded,
        WIDTH=width, BLOCK=block, num_warps=4,
    )
    return limit, delta, dq_sum


def launch_finish(dq_sum: torch.Tensor, dq: torch.Tensor, scale: float, strides_of) -> None:
    batches, heads, length, width = dq.shape
    block = 4096 // width
    attention_finish_kernel[(batches * heads * cdiv(length, block),)](
        dq_sum, dq, *strides_of(dq), heads, length, scale, WIDTH=width, BLOCK=block, num_warps=4
    )
