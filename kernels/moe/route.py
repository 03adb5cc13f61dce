"""Which experts a token goes to, and the order in which its work is done: top-k of a softmax, then a sort by expert.

A token and one of its k experts are a *pair*, and pair p belongs to token p // k. The grouped product wants the pairs of an
expert side by side, so they are sorted by expert, by counting: every program counts its own tokens' pairs, and then each knows,
from the counts of all, where its pairs of every expert begin. No two programs write to one place and none waits for another, so
the order, and with it every bit of the result, is the same every time. The host never learns how many rows an expert has:
whatever depends on that is a number in memory, which the next kernel reads.
"""

import torch
import triton
import triton.language as tl

from kernels.common.sizes import cdiv, next_power_of_2

# Experts that are compared at once for all tokens of a step; and how many programs count at most, for each reads all counts.
AT_ONCE, COUNTING = 2048, 128


@triton.jit
def moe_route_kernel(
    logits_ptr,
    expert_ptr,
    weight_ptr,
    counts_ptr,
    n_tokens,
    n_experts,
    row_stride,
    column_stride,
    steps,
    K: tl.constexpr,
    RENORMALIZE: tl.constexpr,
    TOKENS: tl.constexpr,
    EXPERTS: tl.constexpr,
    SLOTS: tl.constexpr,
):
    # This program owns `steps` times TOKENS tokens: their choices, and how many fall on each expert.
    experts = tl.arange(0, EXPERTS)  # [EXPERTS]
    slots = tl.arange(0, SLOTS)  # [SLOTS]
    count = tl.zeros((EXPERTS,), tl.int32)
    pid = tl.program_id(0).to(tl.int64)
    first = pid * steps * TOKENS
    for step in range(steps):
        tokens = first + step * TOKENS + tl.arange(0, TOKENS)  # [TOKENS]
        here = (tokens < n_tokens)[:, None]
        mask = here & (experts < n_experts)[None, :]
        offsets = tokens[:, None] * row_stride + experts[None, :] * column_stride  # [TOKENS, EXPERTS]
        logits = tl.load(logits_ptr + offsets, mask=mask, other=-float("inf")).to(tl.float32)
        # An integer in the order of the numbers, NaN first as in torch.topk; of equals the lower expert comes first.
        plain = tl.where(logits != logits, float("nan"), tl.where(logits == 0, 0.0, logits))
        bits = plain.to(tl.int32, bitcast=True)
        bits = tl.where(logits != logits, 0x7FFFFFFF, bits ^ ((bits >> 31) & 0x7FFFFFFF))
        keys = (bits.to(tl.int64) << 32) + (EXPERTS - experts)[None, :]  # [TOKENS, EXPERTS]
        keys = tl.where((experts < n_experts)[None, :], keys, -(2**63))
        chosen = tl.zeros((TOKENS, SLOTS), tl.float32)
        who = tl.zeros((TOKENS, SLOTS), tl.int32)
        for slot in range(K):
            best = tl.max(keys, axis=1)  # [TOKENS]
            is_best = keys == best[:, None]
            logit = tl.sum(tl.where(is_best, logits, 0.0), axis=1)
            expert = tl.sum(tl.where(is_best, experts[None, :], 0), axis=1)
            chosen = tl.where((slots == slot)[None, :], logit[:, None], chosen)
            who = tl.where((slots == slot)[None, :], expert[:, None], who)
            keys = tl.where(is_best, -(2**63), keys)
        taken = (keys == -(2**63)) & mask  # no other key is so low
        count += tl.sum(taken.to(tl.int32), axis=0)
        used = (slots < K)[None, :]
        most = tl.max(logits, axis=1)[:, None]  # [TOKENS, 1]
        share = tl.where(used, tl.exp(chosen - most), 0.0)  # [TOKENS, SLOTS]
        if RENORMALIZE:
            share /= tl.sum(share, axis=1)[:, None]
        else:
            share /= tl.sum(tl.exp(logits - most), axis=1)[:, None]
        pairs = tokens[:, None] * K + slots[None, :]  # [TOKENS, SLOTS]
        tl.store(expert_ptr + pairs, who, mask=here & used)
        tl.store(weight_ptr + pairs, share, mask=here & used)
    tl.store(counts_ptr + pid * n_experts + experts, count, mask=experts < n_experts)


@triton.jit
def moe_sort_kernel(
    expert_ptr,
    counts_ptr,
    pair_ptr,
    start_ptr,
    tile_ptr,
    n_tokens,
    n_experts,
    steps,
    n_listed,
    K: tl.constexpr,
    BLOCK_M: tl.constexpr,
    TOKENS: tl.constexpr,
    EXPERTS: tl.constexpr,
    COUNTS: tl.constexpr,
    TILES: tl.constexpr,
):
    # This program owns the same tokens: it gives each of their pairs its place. It also lists some tiles of rows.
    me, programs = tl.program_id(0).to(tl.int64), tl.num_programs(0)
    experts = tl.arange(0, EXPERTS)  # [EXPERTS]
    total = tl.zeros((EXPERTS,), tl.int32)
    place = tl.zeros((EXPERTS,), tl.int32)
    for block in range(0, programs, COUNTS):
        others = block + tl.arange(0, COUNTS)  # [COUNTS]
        mask = (others < programs)[:, None] & (experts < n_experts)[None, :]
        count = tl.load(counts_ptr + others[:, None] * n_experts + experts[None, :], mask=mask, other=0)  # [COUNTS, EXPERTS]
        total += tl.sum(count, axis=0)
        place += tl.sum(tl.where((others < me)[:, None], count, 0), axis=0)
    starts = tl.cumsum(total, axis=0) - total  # [EXPERTS]
    place += starts
    first = me * steps * TOKENS
    for step in range(steps):
        tokens = first + step * TOKENS + tl.arange(0, TOKENS)  # [TOKENS]
        for slot in range(K):
            pairs = tokens * K + slot
            expert = tl.load(expert_ptr + pairs, mask=tokens < n_tokens, other=-1)
            mine = (expert[:, None] == experts[None, :]).to(tl.int32)  # [TOKENS, EXPERTS]
            ranks = tl.cumsum(mine, axis=0) - mine
            where = tl.sum(mine * (ranks + place[None, :]), axis=1)  # [TOKENS]
            tl.store(pair_ptr + where, pairs.to(tl.int32), mask=tokens < n_tokens)
            place += tl.sum(mine, axis=0)
    tiles = (total + BLOCK_M - 1) // BLOCK_M  # [EXPERTS]
    ends = tl.cumsum(tiles, axis=0)
    n_tiles = tl.sum(tiles, axis=0)
    if me == 0:
        tl.store(start_ptr + experts, starts, mask=experts < n_experts)
        tl.store(start_ptr + n_experts, n_tokens * K)
        tl.store(start_ptr + n_experts + 1, n_tiles)
    for block in range(me * TILES, n_listed, programs * TILES):
        listed = block + tl.arange(0, TILES)  # [TILES]
        passed = (ends[None, :] <= listed[:, None]).to(tl.int32)  # [TILES, EXPERTS]
        expert = tl.sum(passed, axis=1)
        mine = expert[:, None] == experts[None, :]
        # Rows of the experts before, and of this one's tiles before.
        before = tl.sum(tl.where(mine, (starts - (ends - tiles) * BLOCK_M)[None, :], 0), axis=1)
        mask = listed < tl.minimum(n_listed, n_tiles)
        tl.store(tile_ptr + 2 * listed, expert, mask=mask)
        tl.store(tile_ptr + 2 * listed + 1, before + listed * BLOCK_M, mask=mask)


def tiles_at_most(n_pairs: int, n_experts: int, block_m: int) -> int:
    """The most tiles of rows that any routing can make: each expert that has a pair begins one, and may not fill it."""
    active = min(n_pairs, n_experts)
    return active + (n_pairs - active) // block_m


def route_shape(n_tokens: int, n_experts: int) -> tuple[int, int, int, int]:
    """Programs, steps of each, tokens of a step, and the power of two that covers the experts."""
    covered = max(16, next_power_of_2(n_experts))
    tokens = min(max(1, AT_ONCE // covered), next_power_of_2(n_tokens))
    steps = cdiv(n_tokens, COUNTING * tokens)
    return cdiv(n_tokens, steps * tokens), steps, tokens, covered


def route(logits: torch.Tensor, k: int, renormalize: bool = True) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Each token's k experts, int32, and their weights, float32, both of shape (tokens, k); and every program's counts."""
    n_tokens, n_experts = logits.shape
    programs, steps, tokens, covered = route_shape(n_tokens, n_experts)
    experts = torch.empty((n_tokens, k), dtype=torch.int32, device=logits.device)
    weights = torch.empty((n_tokens, k), dtype=torch.float32, device=logits.device)
    counts = torch.empty((programs, n_experts), dtype=torch.int32, device=logits.device)
    sizes = (n_tokens, n_experts, *logits.stride(), steps)
    blocks = {"K": k, "RENORMALIZE": renormalize, "TOKENS": tokens, "EXPERTS": covered, "SLOTS": next_power_of_2(k)}
    moe_route_kernel[(programs,)](logits, experts, weights, counts, *sizes, **blocks, num_warps=4)
    return experts, weights, counts


def sort_by_expert(
    experts: torch.Tensor, counts: torch.Tensor, block_m: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The pairs in the order of their experts; where each expert's begin, and behind that how many tiles there are; the tiles.

    A tile is two numbers: its expert, and the place of its first pair. Of the list, only as many are written as there are.
    """
    (n_tokens, k), n_experts, device = experts.shape, counts.shape[1], experts.device
    programs, steps, tokens, covered = route_shape(n_tokens, n_experts)
    n_listed = tiles_at_most(n_tokens * k, n_experts, block_m)
    pairs = torch.empty(n_tokens * k, dtype=torch.int32, device=device)
    starts = torch.empty(n_experts + 2, dtype=torch.int32, device=device)
    tiles = torch.empty((n_listed, 2), dtype=torch.int32, device=device)
    at_once = max(1, AT_ONCE // covered)
    blocks = {"K": k, "BLOCK_M": block_m, "TOKENS": tokens, "EXPERTS": covered, "COUNTS": at_once, "TILES": at_once}
    given = (experts, counts, pairs, starts, tiles, n_tokens, n_experts, steps, n_listed)
    moe_sort_kernel[(programs,)](*given, **blocks, num_warps=4)
    return pairs, starts, tiles
