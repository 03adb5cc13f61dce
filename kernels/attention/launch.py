"""The launches of attention, forward and backward, for tensors of shape [batch, heads, length, head].

Documents in one row are such a tensor too, of one batch, with the rows where each of them starts.
"""

import contextvars
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import triton
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels.attention.backward import LOG2_E, attention_delta_kernel, attention_keys_kernel, attention_queries_kernel
from kernels.attention.forward import attention_forward_kernel
from kernels.attention.gluon import launch_gluon_forward
from kernels.attention.gluon_backward import launch_finish, launch_gluon_keys, launch_prepare
from kernels.attention.plan import AttentionPlan, attention_plan
from kernels.attention.split import attention_join_kernel, attention_split_kernel
from kernels.common.arguments import INTERPRETED, on_device_of
from kernels.common.sizes import cdiv, next_power_of_2


class AttentionMask(NamedTuple):
    """How many keys before and after the diagonal are open to a query, -1 for all; and the corner that the diagonal ends in."""

    left: int = -1
    right: int = -1
    lower_right: bool = False


def attention_scale(q: torch.Tensor, scale: float | None) -> float:
    return q.shape[3] ** -0.5 if scale is None else scale


def side_by_side(x: torch.Tensor) -> torch.Tensor:
    """`x`, copied unless the numbers of a head lie side by side."""
    x = x.resolve_neg()
    return x if x.stride(3) == 1 else x.contiguous()


def empty_rows_like(x: torch.Tensor) -> torch.Tensor:
    """A tensor of the shape of `x`, and of its layout where the numbers of a head lie side by side in it."""
    made = torch.empty_like(x)
    return made if made.stride(3) == 1 else torch.empty_like(x, memory_format=torch.contiguous_format)


def strides_of(x: torch.Tensor) -> tuple[int, ...]:
    """Of batches, heads and rows; where there is one of them any number will do, so one that is aligned."""
    return tuple(256 if size == 1 else stride for size, stride in zip(x.shape[:3], x.stride()[:3], strict=True))


def describable(*tensors: torch.Tensor) -> bool:
    """Whether descriptors can load all of these: they begin, and go on, at multiples of 16 bytes."""
    return all(
        x.data_ptr() % 16 == 0 and all(stride > 0 and stride * x.element_size() % 16 == 0 for stride in strides_of(x))
        for x in tensors
    )


def described(x: torch.Tensor, rows: int, width: int) -> TensorDescriptor:
    return TensorDescriptor(x, list(x.shape), [*strides_of(x), 1], [1, 1, rows, width])


def scratch(size: int, alignment: int, stream: int | None) -> torch.Tensor:
    return torch.empty(size, dtype=torch.int8, device="cuda")


def with_scratch(run: Callable[[], Any]) -> None:
    """Launch what makes descriptors, for which it needs memory. Whatever allocator is set for other kernels stays set."""

    def allocating() -> None:
        triton.set_allocator(scratch)
        run()

    contextvars.copy_context().run(allocating)


def constants_of(q: torch.Tensor, mask: AttentionMask, q_length: int, k_length: int) -> tuple[tuple[int, int], dict[str, Any]]:
    """The widths of the window, no wider than the sequences are long, and what every kernel is told at compile time."""
    head = q.shape[3]
    most = q_length + k_length
    constants: dict[str, Any] = {"HAS_LEFT": mask.left >= 0, "HAS_RIGHT": mask.right >= 0, "LOWER_RIGHT": mask.lower_right}
    constants |= {"HEAD": head, "WIDTH": max(16, next_power_of_2(head)), "UPCAST": INTERPRETED, "PRECISION": "ieee"}
    return (min(mask.left, most), min(mask.right, most)), constants


def n_tiles(length: int, block: int, starts: torch.Tensor | None) -> int:
    """How many programs a head has: of documents in one row, one more than may be needed for each, and for what follows them."""
    return cdiv(length, block) if starts is None else length // block + starts.shape[0]


def run_kernel(
    kernel: Any,
    programs: int,
    tile: dict[str, Any],
    loaded: list[torch.Tensor],
    blocks: tuple[int, ...],
    packed: bool,
    others: tuple,
    constants: dict[str, Any],
) -> None:
    """Launch a kernel whose first arguments are the tensors that it loads tiles of, of as many rows as `blocks` says."""
    loads = tile["LOADS"]
    if loads != "pointers" and not describable(*loaded):
        loads = "pointers"
    elif loads == "given" and packed:  # documents end within the rows that such a descriptor knows of
        loads = "made"
    given: list[Any] = loaded
    if loads == "given":
        given = [described(x, rows, constants["WIDTH"]) for x, rows in zip(loaded, blocks, strict=True)]
    options = constants | tile | {"LOADS": loads}
    if loads == "made" and not INTERPRETED:
        with_scratch(lambda: kernel[(programs,)](*given, *others, **options))
    else:
        kernel[(programs,)](*given, *others, **options)


def attention_forward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    q_starts: torch.Tensor | None,
    k_starts: torch.Tensor | None,
    mask: AttentionMask,
    scale: float | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The output, and the logarithm of each query's sum of weights."""
    q, k, v = side_by_side(q), side_by_side(k), side_by_side(v)
    out = empty_rows_like(q)
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    if not q.numel():
        return out, lse
    if not k.numel():
        return out.zero_(), lse.fill_(-float("inf"))
    plan = attention_plan(q, k, q_starts is not None)
    with on_device_of(q):
        if plan.parts:
            launch_split(q, k, v, out, lse, mask, scale, plan)
        elif plan.gluon_forward and describable(q, k, v, out):
            window, _ = constants_of(q, mask, q.shape[2], k.shape[2])
            powers = attention_scale(q, scale) * LOG2_E.value
            launch_gluon_forward(q, k, v, out, lse, window, mask, powers, plan.gluon_forward, strides_of)
        else:
            launch_forward(q, k, v, out, lse, q_starts, k_starts, mask, scale, plan.forward)
    return out, lse


def launch_forward(q, k, v, out, lse, q_starts, k_starts, mask, scale, tile) -> None:
    (batches, heads, q_length, _), (_, k_heads, k_length, _) = q.shape, k.shape
    window, constants = constants_of(q, mask, q_length, k_length)
    documents = 0 if q_starts is None else q_starts.shape[0] - 1
    strides = [stride for x in (q, k, v, out) for stride in strides_of(x)]
    sizes = (heads, heads // k_heads, documents, q_length, k_length, *window, attention_scale(q, scale) * LOG2_E.value)
    programs = batches * heads * n_tiles(q_length, tile["BLOCK_M"], q_starts)
    blocks = (tile["BLOCK_M"], tile["BLOCK_N"], tile["BLOCK_N"])
    others = (out, lse, q_starts, k_starts, *strides, *sizes)
    run_kernel(attention_forward_kernel, programs, tile, [q, k, v], blocks, q_starts is not None, others, constants)


def launch_split(q, k, v, out, lse, mask, scale, plan: AttentionPlan) -> None:
    (batches, heads, q_length, head), (_, k_heads, k_length, _) = q.shape, k.shape
    window, constants = constants_of(q, mask, q_length, k_length)
    tiles = cdiv(k_length, plan.split["BLOCK_N"])
    part_tiles = cdiv(tiles, plan.parts)
    parts, group = cdiv(tiles, part_tiles), heads // k_heads
    part_out = torch.empty((batches, heads, q_length, parts, head), dtype=torch.float32, device=q.device)
    part_lse = torch.empty((batches, heads, q_length, parts), dtype=torch.float32, device=q.device)
    strides = [stride for x in (q, k, v) for stride in strides_of(x)]
    sizes = (heads, group, q_length, k_length, *window, parts, part_tiles, attention_scale(q, scale) * LOG2_E.value)
    grid = (parts * cdiv(group * q_length, plan.split["BLOCK_M"]) * batches * k_heads,)
    attention_split_kernel[grid](q, k, v, part_out, part_lse, *strides, *sizes, **constants, **plan.split)
    join = {"HEAD": head, "WIDTH": constants["WIDTH"], "PARTS": 16, "num_warps": 4}
    attention_join_kernel[(batches * heads * q_length,)](
        part_out, part_lse, out, lse, *strides_of(out), heads, q_length, parts, **join
    )


def attention_backward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    lse: torch.Tensor,
    dout: torch.Tensor,
    dlse: torch.Tensor | None,
    q_starts: torch.Tensor | None,
    k_starts: torch.Tensor | None,
    mask: AttentionMask,
    scale: float | None,
    deterministic: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradients of queries, keys and values, to the last bit the same every time where they are to be `deterministic`."""
    q, k, v, out, dout = (side_by_side(x) for x in (q, k, v, out, dout))
    dq, dk, dv = (empty_rows_like(x) for x in (q, k, v))
    if not q.numel() or not k.numel():
        return dq.zero_(), dk.zero_(), dv.zero_()
    plan = attention_plan(q, k, q_starts is not None)
    rest = (q_starts, k_starts, mask, scale)
    with on_device_of(q):
        if plan.gluon_backward and not deterministic and describable(q, k, v, dout):
            window, _ = constants_of(q, mask, q.shape[2], k.shape[2])
            factor, dlse = attention_scale(q, scale), None if dlse is None else dlse.contiguous()
            limit, delta, dq_sum = launch_prepare(out, lse, dout, dlse, strides_of)
            sums = (limit, delta, dq_sum, dk, dv)
            launch_gluon_keys(q, k, v, dout, *sums, window, mask, factor, plan.gluon_backward, strides_of)
            launch_finish(dq_sum, dq, factor, strides_of)
            return dq, dk, dv
        limit, delta = launch_delta(out, lse, dout, None if dlse is None else dlse.contiguous())
        launch_keys(q, k, v, dout, limit, delta, dk, dv, *rest, plan.keys)
        launch_queries(q, k, v, dout, limit, delta, dq, *rest, plan.queries)
    return dq, dk, dv


def launch_delta(out, lse, dout, dlse) -> tuple[torch.Tensor, torch.Tensor]:
    """Each query's log-sum-exp in powers of two, and what is taken off the gradients of its weights."""
    batches, heads, q_length, head = out.shape
    limit, delta = torch.empty_like(lse), torch.empty_like(lse)
    width = max(16, next_power_of_2(head))
    options = {"HEAD": head, "WIDTH": width, "BLOCK": max(16, 4096 // width), "num_warps": 4}
    attention_delta_kernel[(batches * heads * cdiv(q_length, options["BLOCK"]),)](
        out, dout, lse, dlse, delta, limit, *strides_of(out), *strides_of(dout), heads, q_length, **options
    )
    return limit, delta


def launch_keys(q, k, v, dout, limit, delta, dk, dv, q_starts, k_starts, mask, scale, tile) -> None:
    (batches, heads, q_length, _), (_, k_heads, k_length, _) = q.shape, k.shape
    window, constants = constants_of(q, mask, q_length, k_length)
    documents, factor = 0 if q_starts is None else q_starts.shape[0] - 1, attention_scale(q, scale)
    strides = [stride for x in (q, k, v, dout, dk, dv) for stride in strides_of(x)]
    sizes = (heads, heads // k_heads, documents, q_length, k_length, *window, factor * LOG2_E.value, factor)
    programs = batches * k_heads * n_tiles(k_length, tile["BLOCK_N"], k_starts)
    blocks = (tile["BLOCK_M"], tile["BLOCK_N"], tile["BLOCK_N"], tile["BLOCK_M"])
    others = (limit, delta, dk, dv, q_starts, k_starts, *strides, *sizes)
    run_kernel(attention_keys_kernel, programs, tile, [q, k, v, dout], blocks, q_starts is not None, others, constants)


def launch_queries(q, k, v, dout, limit, delta, dq, q_starts, k_starts, mask, scale, tile) -> None:
    (batches, heads, q_length, _), (_, k_heads, k_length, _) = q.shape, k.shape
    window, constants = constants_of(q, mask, q_length, k_length)
    documents, factor = 0 if q_starts is None else q_starts.shape[0] - 1, attention_scale(q, scale)
    strides = [stride for x in (q, k, v, dout, dq) for stride in strides_of(x)]
    sizes = (heads, heads // k_heads, documents, q_length, k_length, *window, factor * LOG2_E.value, factor)
    programs = batches * heads * n_tiles(q_length, tile["BLOCK_M"], q_starts)
    blocks = (tile["BLOCK_M"], tile["BLOCK_N"], tile["BLOCK_N"], tile["BLOCK_M"])
    others = (limit, delta, dq, q_starts, k_starts, *strides, *sizes)
    run_kernel(attention_queries_kernel, programs, tile, [q, k, v, dout], blocks, q_starts is not None, others, constants)
