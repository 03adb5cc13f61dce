"""kernels.attention against float64: lengths, masks, shared heads, layouts, documents in one row, and every gradient."""

import contextlib
from dataclasses import replace

import pytest
import torch

from kernels.attention import attention, attention_packed
from kernels.attention.attention import attention_reference
from kernels.attention.attention_packed import attention_packed_reference
from kernels.attention.configs import ATTENTION_TILES, SPLIT_TILES
from kernels.attention.launch import AttentionMask, launch_delta, launch_forward, launch_keys, launch_queries
from kernels.attention.plan import AttentionPlan, attention_plan, choose_attention_plan
from scripts.launches.attention import SPECIMENS
from tests.interpreter import only_touching
from tests.kernels import test_matmul
from tests.kernels.numerics import (
    DTYPES,
    FLOAT32_EPS,
    assert_guard_untouched,
    assert_within,
    atol_of,
    guarded,
    poisoned,
    random,
    relative_step,
)
from tests.needs import need_free_memory, needs

NAN, INF = float("nan"), float("inf")
loads_by_keyword = test_matmul.loads_by_keyword
LOADS = ("pointers", "made", "given")


def small(loads: str = "pointers", parts: int = 0) -> AttentionPlan:
    """Tiles so small that short sequences have several of them, and of two shapes."""
    tile = {"BLOCK_M": 16, "BLOCK_N": 16, "num_warps": 4, "num_stages": 1, "LOADS": loads}
    split = {"BLOCK_M": 16, "BLOCK_N": 16, "num_warps": 4, "num_stages": 1}
    return AttentionPlan(tile, tile | {"BLOCK_N": 32}, tile | {"BLOCK_M": 32}, split, parts)


def use(monkeypatch, plan: AttentionPlan) -> None:
    kept = {packed: replace(plan, parts=0 if packed else plan.parts) for packed in (False, True)}
    monkeypatch.setattr("kernels.attention.launch.attention_plan", lambda q, k, packed: kept[packed])


def given(shape, dtype=torch.float32, device="cpu", seed=0):
    """Queries, keys and values for a shape of batches, heads, heads of keys, two lengths and the size of a head."""
    batches, heads, k_heads, length, k_length, head = shape
    q = random(batches, heads, length, head, dtype=dtype, device=device, seed=seed)
    return q, *(random(batches, k_heads, k_length, head, dtype=dtype, device=device, seed=seed + n) for n in (1, 2))


def expected_64(q, k, v, dout, dlse, options):
    """What comes out in float64, gradients included, and what float32 sums and roundings to the dtype may leave each off by."""
    dtype, group = q.dtype, q.shape[1] // max(k.shape[1], 1)
    x = [part.detach().double().requires_grad_() for part in (q, k, v)]
    out, lse = attention_reference(*x, **options | {"return_lse": True})
    finite = torch.where(lse == -INF, 0.0, lse)
    gradients = torch.autograd.grad((out, finite), x, (dout.double(), dlse.double()))
    q, k, v, dout = q.detach().double(), *(part.detach().double().repeat_interleave(group, 1) for part in (k, v)), dout.double()
    scale = options.get("scale")
    scale = abs(q.shape[3] ** -0.5 if scale is None else scale)
    rows, columns, head = q.shape[2], k.shape[2], q.shape[3]
    plain = {name: value for name, value in options.items() if name not in ("return_lse", "enable_gqa")}
    rounding = 0.0 if dtype == torch.float32 else torch.finfo(dtype).eps / 2
    # Half the least step of weights that are subnormal in float16, and what a GPU's exp2 takes for zero.
    tiny = 2.0**-24 if dtype == torch.float16 else torch.finfo(torch.float32).tiny
    # Attention to values that are the unit vectors is the matrix of weights.
    eye = torch.eye(columns, dtype=torch.float64, device=q.device).expand(*k.shape[:2], columns, columns)
    weights = attention_reference(q, k, eye, **plain)
    sizes = scale * (q.abs() @ k.abs().mT)
    score = FLOAT32_EPS * (head + 8) * sizes
    off = score + (weights * score).sum(-1, keepdim=True) + FLOAT32_EPS * (columns + 16 + finite.detach().abs()[..., None])
    off = off + rounding
    out_bound = (weights * off + tiny) @ v.abs() + FLOAT32_EPS * (columns + 4) * (weights @ v.abs())
    out_bound = out_bound + relative_step(dtype) * out.detach().abs() + atol_of(dtype)
    lse_bound = (weights * score).sum(-1) + FLOAT32_EPS * (columns + 16 + finite.detach().abs())
    dweights, sizes = dout @ v.mT, dout.abs() @ v.abs().mT
    delta = (dout * out.detach()).sum(-1, keepdim=True) - dlse.double()[..., None]
    difference = dweights - delta
    in_difference = FLOAT32_EPS * (head + 8) * sizes + (dout.abs() * out_bound).sum(-1, keepdim=True)
    in_delta = (dout.abs() * out.detach().abs()).sum(-1, keepdim=True) + delta.abs()
    in_difference = in_difference + FLOAT32_EPS * (head + 8) * in_delta
    dscores = weights * difference
    dscores_bound = weights * (off * difference.abs() + (1 + off) * in_difference) + rounding * dscores.abs() + tiny
    dq_bound = scale * (dscores_bound @ k.abs() + FLOAT32_EPS * (columns + 4) * (dscores.abs() @ k.abs()))
    dk_bound = scale * (dscores_bound.mT @ q.abs() + FLOAT32_EPS * (rows + 4) * (dscores.abs().mT @ q.abs()))
    dv_bound = (weights * off + tiny).mT @ dout.abs() + FLOAT32_EPS * (rows + 4) * (weights.mT @ dout.abs())
    shared = (x[1].shape[0], x[1].shape[1], group, *x[1].shape[2:])
    bounds = [dq_bound, *(bound.reshape(shared).sum(2) for bound in (dk_bound, dv_bound))]
    bounds = [b + relative_step(dtype) * g.abs() + atol_of(dtype) for b, g in zip(bounds, gradients, strict=True)]
    return [out.detach(), lse.detach(), *gradients], [out_bound, lse_bound, *bounds]


def check(q, k, v, **options):
    """The output, its log-sum-exp and all gradients are those of float64."""
    options |= {"enable_gqa": q.shape[1] != k.shape[1]}
    kept = [x.detach().clone() for x in (q, k, v)]
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    out, lse = attention(q, k, v, **options, return_lse=True)
    assert (out.shape, out.dtype, out.device) == (q.shape, q.dtype, q.device)
    assert (lse.shape, lse.dtype) == (q.shape[:3], torch.float32)
    dout = random(*out.shape, dtype=out.dtype, device=str(out.device), seed=9)
    dlse = torch.where(lse == -INF, 0.0, random(*lse.shape, device=str(out.device), seed=10))
    gradients = torch.autograd.grad((out, lse), (q, k, v), (dout, dlse))
    expected, bounds = expected_64(q, k, v, dout, dlse, options)
    for found, exact, bound in zip((out.detach(), lse.detach(), *gradients), expected, bounds, strict=True):
        assert_within(found, exact, bound)
    for x, dx, before in zip((q, k, v), gradients, kept, strict=True):
        assert (dx.shape, dx.dtype) == (x.shape, x.dtype)
        assert torch.equal(x.detach(), before), "an input was overwritten"
    plain = attention(*(x.detach() for x in (q, k, v)), **options)
    assert torch.equal(plain, out) and not plain.requires_grad


SHAPES = [(1, 1, 1, 33, 33, 16), (2, 2, 1, 5, 35, 20), (1, 1, 1, 35, 17, 7), (1, 1, 1, 1, 1, 1), (1, 1, 1, 33, 1, 16)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_lengths_and_heads_of_any_size(shape, is_causal, dtype, device, monkeypatch):
    use(monkeypatch, small())
    check(*given(shape, dtype, device), is_causal=is_causal)


@pytest.mark.parametrize("loads", LOADS[1:])
@pytest.mark.parametrize("shape", [(1, 2, 1, 20, 35, 16), (1, 4, 2, 20, 35, 16), (2, 1, 1, 5, 33, 24)], ids=str)
def test_tiles_through_descriptors(shape, loads, device, monkeypatch):
    use(monkeypatch, small(loads))
    check(*given(shape, torch.float16, device), is_causal=True, align="lower_right")


@pytest.mark.parametrize("shape", [(1, 2, 1, 20, 70, 64), (1, 1, 1, 20, 40, 128), (1, 1, 1, 5, 33, 200)], ids=str)
def test_the_tiles_that_ship(shape, device):
    check(*given(shape, torch.float16, device), is_causal=True)


@pytest.mark.parametrize("align", ["upper_left", "lower_right"])
@pytest.mark.parametrize("lengths", [(33, 33), (17, 40), (40, 17)], ids=str)
@pytest.mark.parametrize("window", [(3, 0), (20, 5), (None, 14), (14, None), (1000, 1000)], ids=str)
def test_windows(window, lengths, align, device, monkeypatch):
    use(monkeypatch, small())
    check(*given((1, 1, 1, *lengths, 16), device=device), window=window, align=align)


@pytest.mark.parametrize("align", ["upper_left", "lower_right"])
@pytest.mark.parametrize("lengths", [(17, 40), (40, 17)], ids=str)
def test_a_causal_mask_and_a_window(lengths, align, device, monkeypatch):
    use(monkeypatch, small())
    q, k, v = given((1, 1, 1, *lengths, 16), device=device)
    check(q, k, v, is_causal=True, window=(7, 30), align=align)
    both = attention(q, k, v, True, window=(7, 30), align=align)
    assert torch.equal(both, attention(q, k, v, window=(7, 0), align=align))


def test_a_causal_mask_is_pytorch_s(device):
    q, k, v = given((1, 2, 2, 20, 33, 16), device=device)
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(attention(q, k, v, is_causal=True), theirs, rtol=1e-5, atol=1e-5)
    assert torch.equal(attention(q, k, v, True), attention(q, k, v, window=(None, 0)))


def test_a_query_without_keys_gets_zeros(device, monkeypatch):
    use(monkeypatch, small())
    q, k, v = (x.requires_grad_() for x in given((1, 2, 1, 40, 20, 16), device=device))
    out, lse = attention(q, k, v, True, enable_gqa=True, align="lower_right", return_lse=True)
    assert (out[:, :, :20] == 0).all() and (lse[:, :, :20] == -INF).all() and lse[:, :, 20:].isfinite().all()
    dq, dk, dv = torch.autograd.grad(out.sum(), (q, k, v))
    assert (dq[:, :, :20] == 0).all() and all(x.isfinite().all() for x in (dq, dk, dv))


@pytest.mark.parametrize("scale", [0.5, 3.0, -0.7, 0.0])
def test_scales(scale, device, monkeypatch):
    use(monkeypatch, small())
    check(*given((1, 1, 1, 20, 40, 16), device=device), scale=scale, is_causal=True)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scores_far_apart(dtype, device, monkeypatch):
    """Weights that are 0 or 1 but for a few, and a largest score that comes early, late, is far below 0, or in the hundreds."""
    use(monkeypatch, small())
    q, k, v = given((1, 4, 4, 5, 50, 16), dtype, device)
    q[:, 3] *= 100
    q[:, 0] *= 10
    k[:, 1] = -(q[:, 1, :1].sign() * 4) + k[:, 1] / 8
    k[:, 2, -1] *= 8
    check(q, k, v)


LAYOUTS = {
    "rows before heads": lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    "cut out of a wider projection": lambda x: torch.cat((x, x + 1), -1)[..., : x.shape[-1]],
    "every other number": lambda x: torch.stack((x, x + 1), -1)[..., 0],
    "one batch shown to all": lambda x: x[:1].expand(x.shape),
    "one head shown to all": lambda x: x[:, :1].expand(x.shape),
    "one row shown to all": lambda x: x[:, :, :1].expand(x.shape),
    "unaligned": lambda x: torch.cat((x.flatten()[:1], x.flatten()))[1:].view(x.shape),
    "negated": lambda x: torch._neg_view(x),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, device, monkeypatch):
    use(monkeypatch, small("given"))
    q, k, v = (LAYOUTS[layout](x) for x in given((2, 2, 1, 5, 20, 16), device=device))
    check(q, k, v, is_causal=True)
    q, k, v = (x.detach().clone().requires_grad_() for x in (q, k, v))
    dout = random(*q.shape, device=device, seed=3)
    plain = torch.autograd.grad(attention(q, k, v, enable_gqa=True), (q, k, v), LAYOUTS[layout](dout).contiguous())
    found = torch.autograd.grad(attention(q, k, v, enable_gqa=True), (q, k, v), LAYOUTS[layout](dout))
    assert all(torch.equal(one, other) for one, other in zip(found, plain, strict=True))


def test_the_layout_in_memory_is_kept(device):
    q, k, v = (LAYOUTS["rows before heads"](x) for x in given((2, 3, 3, 5, 5, 16), device=device))
    assert attention(q, k, v).transpose(1, 2).is_contiguous()
    assert attention(q.contiguous(), k, v).is_contiguous()


def inside(reads, writes):
    return only_touching(reads, writes) if reads[0].device.type == "cpu" else contextlib.nullcontext()


@pytest.mark.parametrize("window", [(-1, -1), (7, 3)], ids=str)
@pytest.mark.parametrize("head", [16, 20])
def test_kernels_touch_their_rows_and_nothing_else(head, window, device):
    mask, plan = AttentionMask(*window, True), small()
    q, k, v = (poisoned(x, gap=gap) for x, gap in zip(given((1, 2, 1, 20, 37, head), device=device), (2, 5, 3), strict=True))
    dout = poisoned(random(*q.shape, device=device, seed=5), gap=1)
    out, out_buffer = guarded(tuple(q.shape), q.dtype, device)
    lse = torch.full(q.shape[:3], NAN, device=device)
    rest = (None, None, mask, None)
    with inside([q, k, v], [out, lse]):
        launch_forward(q, k, v, out, lse, *rest, plan.forward)
    options = {"enable_gqa": True, "window": [None if side < 0 else side for side in window], "align": "lower_right"}
    expected, bounds = expected_64(q, k, v, dout, torch.zeros_like(lse), options)
    limit, delta = launch_delta(out, lse, dout, None)
    dq, dk, dv = (guarded(tuple(x.shape), x.dtype, device, gap=gap) for x, gap in ((q, 1), (k, 4), (v, 2)))
    with inside([q, k, v, dout, limit, delta], [dk[0], dv[0]]):
        launch_keys(q, k, v, dout, limit, delta, dk[0], dv[0], *rest, plan.keys)
    with inside([q, k, v, dout, limit, delta], [dq[0]]):
        launch_queries(q, k, v, dout, limit, delta, dq[0], *rest, plan.queries)
    for found, exact, bound in zip((out, lse, dq[0], dk[0], dv[0]), expected, bounds, strict=True):
        assert_within(found, exact, bound)
    for view, buffer in ((out, out_buffer), dq, dk, dv):
        assert_guard_untouched(view, buffer)


@pytest.mark.parametrize("where", ["a query", "a key", "a value"])
def test_nan_stays_where_it_belongs(where, device, monkeypatch):
    use(monkeypatch, small())
    q, k, v = given((1, 2, 2, 40, 40, 16), device=device)
    {"a query": q, "a key": k, "a value": v}[where][0, 1, 20, 3] = NAN
    out, lse = attention(q, k, v, is_causal=True, return_lse=True)
    bad = out[0, 1].isnan()
    assert not out[0, 0].isnan().any() and not out[0, 1, :16].isnan().any()
    if where == "a query":
        assert bad[20].all() and bad.any(1).sum() == 1 and lse[0, 1].isnan().sum() == 1
    elif where == "a key":
        assert bad[20:].all() and not bad[:20].any()
    else:  # its neighbors in the tile may have it too: zero times NaN is NaN
        assert bad[20:, 3].all() and not bad[:, :3].any() and not bad[:, 4:].any()


def test_an_infinite_key_as_in_pytorch(device, monkeypatch):
    use(monkeypatch, small())
    q, k, v = given((1, 1, 1, 20, 40, 16), device=device)
    k[0, 0, 33] = torch.where(q[0, 0, 7] > 0, INF, -INF)
    expected = torch.softmax(q.double() @ k.double().mT / 4, -1) @ v.double()
    assert torch.equal(attention(q, k, v).isnan(), expected.isnan())


EMPTY = [(0, 2, 1, 3, 4, 16), (2, 2, 1, 0, 4, 16), (2, 0, 0, 3, 4, 16), (2, 2, 1, 3, 0, 16)]


@pytest.mark.parametrize("shape", EMPTY, ids=str)
def test_no_elements(shape, device):
    q, k, v = (x.requires_grad_() for x in given(shape, device=device))
    out, lse = attention(q, k, v, enable_gqa=q.shape[1] != k.shape[1], return_lse=True)
    assert (out.shape, lse.shape) == (q.shape, q.shape[:3]) and (out == 0).all() and (lse == -INF).all()
    gradients = torch.autograd.grad(out.sum(), (q, k, v))
    assert all(dx.shape == x.shape and (dx == 0).all() for dx, x in zip(gradients, (q, k, v), strict=True))


@pytest.mark.parametrize("align", ["upper_left", "lower_right"])
@pytest.mark.parametrize("window", [None, (25, None), (None, 30)], ids=str)
@pytest.mark.parametrize("shape", [(2, 4, 2, 1, 70, 16), (2, 1, 1, 3, 50, 20), (1, 4, 2, 10, 40, 16)], ids=str)
def test_a_few_queries_over_many_keys(shape, window, align, device, monkeypatch):
    use(monkeypatch, small(parts=3))
    heads_before_batches = (x.transpose(0, 1).contiguous().transpose(0, 1) for x in given(shape, device=device))
    check(*heads_before_batches, window=window, align=align)


@pytest.mark.parametrize("dtype", DTYPES[1:], ids=str)
def test_a_few_queries_in_16_bits_and_more_parts_than_are_joined_at_a_time(dtype, device, monkeypatch):
    use(monkeypatch, small(parts=20))
    check(*given((1, 1, 1, 2, 290, 16), dtype, device), is_causal=True, align="lower_right")


def test_a_few_queries_some_of_which_meet_no_key(device, monkeypatch):
    use(monkeypatch, small(parts=3))
    check(*given((1, 2, 1, 5, 3, 16), device=device), is_causal=True, align="lower_right")


def test_scores_that_grow_from_part_to_part(device, monkeypatch):
    use(monkeypatch, small(parts=20))
    q, k, v = given((1, 1, 1, 2, 310, 16), device=device)
    k = 0.2 * k + q[:, :, :1] * torch.linspace(0, 1, 310, device=device)[:, None]
    check(q, k, v)


def test_the_plan_splits_what_is_worth_it(device):
    def parts(heads, k_heads, length, k_length, packed=False, batches=1):
        rows = heads // k_heads * length
        return choose_attention_plan("sm_90", 132, "half", 128, batches * k_heads, rows, length, k_length, packed).parts

    assert parts(32, 8, 1, 4096) == 16 and parts(32, 8, 1, 65536) == 33 and parts(32, 8, 16, 65536) == 33
    assert parts(32, 8, 1, 8192, batches=64) == 1
    assert parts(32, 8, 17, 4096) == parts(32, 32, 4096, 4096) == parts(32, 8, 1, 511) == parts(32, 8, 1, 4096, True) == 0
    q, k, _ = given((1, 4, 2, 3, 600, 16), device=device)
    plan = attention_plan(q, k, False)
    assert plan.parts and plan.split["BLOCK_M"] == 16


def test_every_family_has_a_tile_for_every_width():
    for kinds in ATTENTION_TILES.values():
        for tables in (*kinds["half"].values(), *kinds["ieee"].values(), *SPLIT_TILES.values()):
            assert list(tables) == sorted(tables) and max(tables) == 256


def starts_of(rows, device, dtype=torch.int32):
    return torch.tensor(rows, device=device, dtype=dtype)


PACKED = {
    "as many": ([0, 20, 53], [0, 20, 53], 53, 53),
    "one": ([0, 37], [0, 45], 37, 45),
    "short, empty and long ones": ([0, 1, 1, 2, 5, 40], [0, 3, 4, 5, 5, 37], 40, 37),
    "rows after the last": ([0, 5, 17], [0, 20, 33], 50, 60),
    "none at all": ([0], [0], 5, 5),
}


@pytest.mark.parametrize("options", [{}, {"is_causal": True, "align": "lower_right"}, {"window": (5, 9)}], ids=str)
@pytest.mark.parametrize("documents", PACKED)
def test_documents_in_one_row(documents, options, device, monkeypatch):
    check_packed(documents, options, small(), torch.float32, device, monkeypatch)


@pytest.mark.parametrize("loads", LOADS[1:])
def test_documents_through_descriptors(loads, device, monkeypatch):
    check_packed("short, empty and long ones", {"is_causal": True}, small(loads), torch.float16, device, monkeypatch)


def check_packed(documents, options, plan, dtype, device, monkeypatch):
    use(monkeypatch, plan)
    q_rows, k_rows, length, k_length = PACKED[documents]
    q_starts, k_starts = starts_of(q_rows, device), starts_of(k_rows, device, torch.int64)
    q, k, v = given((1, 2, 1, length, k_length, 16), dtype, device)
    # What lies past the documents must not reach them.
    for x, end in ((q, q_rows[-1]), (k, k_rows[-1]), (v, k_rows[-1])):
        x[:, :, end:] = NAN
    q, k, v = (x[0].transpose(0, 1).contiguous().requires_grad_() for x in (q, k, v))
    options = options | {"enable_gqa": True, "return_lse": True}
    out, lse = attention_packed(q, k, v, q_starts, k_starts, **options)
    dout, dlse = random(*out.shape, dtype=dtype, device=device, seed=3), random(*lse.shape, device=device, seed=4)
    dlse = torch.where(lse == -INF, 0.0, dlse)
    gradients = torch.autograd.grad((out, lse), (q, k, v), (dout, dlse))
    assert out.is_contiguous() and (out[q_rows[-1] :] == 0).all() and (lse[:, q_rows[-1] :] == -INF).all()
    for dx, end in zip(gradients, (q_rows[-1], k_rows[-1], k_rows[-1]), strict=True):
        assert (dx[end:] == 0).all()
    for (a, b), (c, d) in zip(zip(q_rows, q_rows[1:], strict=False), zip(k_rows, k_rows[1:], strict=False), strict=True):
        parts = [x.detach()[e:f].transpose(0, 1)[None] for x, e, f in ((q, a, b), (k, c, d), (v, c, d))]
        exact, bounds = expected_64(*parts, dout[a:b].transpose(0, 1)[None], dlse[None, :, a:b], options)
        found = [out.detach()[a:b], *(dx[e:f] for dx, e, f in zip(gradients, (a, c, c), (b, d, d), strict=True))]
        found = [x.transpose(0, 1)[None] for x in found]
        for one, other, bound in zip((found[0], lse.detach()[None, :, a:b], *found[1:]), exact, bounds, strict=True):
            assert_within(one, other, bound)


def test_the_references_agree_with_each_other_and_with_pytorch(device):
    q, k, v = (x.double() for x in given((1, 4, 2, 12, 20, 8), device=device))
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    torch.testing.assert_close(attention_reference(q, k, v, True, enable_gqa=True), theirs)
    rows = [x[0].transpose(0, 1) for x in (q, k, v)]
    starts = starts_of([0, 5, 12], device), starts_of([0, 9, 20], device)
    out, lse = attention_packed_reference(*rows, *starts, scale=0.3, enable_gqa=True, return_lse=True)
    last = attention_reference(q[:, :, 5:], k[:, :, 9:], v[:, :, 9:], scale=0.3, enable_gqa=True, return_lse=True)
    torch.testing.assert_close(out[5:].transpose(0, 1), last[0][0])
    torch.testing.assert_close(lse[:, 5:], last[1][0])


def test_gradients_of_gradients_are_refused(device):
    q, k, v = (x.requires_grad_() for x in given((1, 1, 1, 5, 5, 16), device=device))
    (dq,) = torch.autograd.grad(attention(q, k, v).square().sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match=r"^the gradient of attention cannot be differentiated again"):
        torch.autograd.grad(dq.sum(), k)


def test_a_gradient_of_one_of_the_three_and_of_the_log_sum_exp_alone(device):
    for which in range(3):
        x = list(given((1, 1, 1, 5, 7, 16), device=device))
        x[which].requires_grad_()
        out, lse = attention(*x, return_lse=True)
        exact = [part.detach().double() for part in x]
        exact[which].requires_grad_()
        expected, expected_lse = attention_reference(*exact, return_lse=True)
        for ours, theirs in ((out, expected), (lse, expected_lse))[: 1 if which == 2 else 2]:
            (dx,) = torch.autograd.grad(ours.sum(), x[which], retain_graph=True)
            (exact_dx,) = torch.autograd.grad(theirs.sum(), exact[which], retain_graph=True)
            torch.testing.assert_close(dx.double(), exact_dx, rtol=1e-4, atol=1e-5)


def test_has_no_graph_where_no_gradient_is_wanted(device):
    q, k, v = given((1, 1, 1, 3, 3, 16), device=device)
    with torch.no_grad():
        assert not attention(q.requires_grad_(), k, v).requires_grad


def arguments(device):
    q, k, v = given((2, 4, 4, 5, 6, 8), device=device)
    return {"q": q, "k": k, "v": v}


def packed_arguments(device):
    q, k, v = (x[0].transpose(0, 1) for x in arguments(device).values())
    return {"q": q, "k": k, "v": v, "cu_seqlens_q": starts_of([0, 2, 5], device), "cu_seqlens_k": starts_of([0, 3, 6], device)}


@pytest.mark.parametrize("name", ["q", "k", "v"])
@pytest.mark.parametrize("function, given", [(attention, arguments), (attention_packed, packed_arguments)], ids=["one", "packed"])
def test_what_a_kernel_cannot_take_is_refused(function, given, name, device):
    given = given(device)
    for wrong in (torch.int32, torch.float64, torch.bool):
        expected = rf"^{name}: expected dtype float32, float16 or bfloat16, got {str(wrong).removeprefix('torch.')}$"
        with pytest.raises(TypeError, match=expected):
            function(**given | {name: given[name].to(wrong)})
    with pytest.raises(TypeError, match=rf"^{name}: expected a torch.Tensor, got NoneType$"):
        function(**given | {name: None})
    if name != "q":
        with pytest.raises(TypeError, match=rf"^{name}: expected dtype float32, the dtype of q, got float16$"):
            function(**given | {name: given[name].half()})


WRONG = {
    "q": [((2, 5, 8), r"shape \[B, H, L, D\]"), ((2, 4, 5, 257), "a head size from 1 to 256"), ((2, 4, 5, 0), "a head size")],
    "k": [((2, 4, 6), r"shape \[2, K, S, 8\]"), ((1, 4, 6, 8), r"shape \[2, K, S, 8\]"), ((2, 4, 6, 9), r"shape \[2, K, S, 8\]")],
    "v": [((2, 4, 7, 8), r"shape \(2, 4, 6, 8\), the shape of k"), ((4, 6, 8), r"shape \(2, 4, 6, 8\), the shape of k")],
}


@pytest.mark.parametrize(("name", "shape", "expected"), [(name, *case) for name, cases in WRONG.items() for case in cases])
def test_shapes_that_do_not_fit_are_refused(name, shape, expected, device):
    given = arguments(device) | {name: torch.ones(shape, device=device)}
    if name == "q" and len(shape) == 4:
        given |= {other: torch.ones(2, 4, 6, shape[3], device=device) for other in ("k", "v")}
    with pytest.raises(ValueError, match=rf"^{name}: expected {expected}.*, got .*$"):
        attention(**given)


def test_heads_that_share_no_keys_are_refused(device):
    given = arguments(device)
    fewer = {name: given[name][:, :2] for name in ("k", "v")}
    expected = "^k: expected 4 heads, as many as q has, got 2; heads are shared with enable_gqa=True$"
    with pytest.raises(ValueError, match=expected):
        attention(**given | fewer)
    fewer = {name: given[name][:, :3] for name in ("k", "v")}
    with pytest.raises(ValueError, match=r"^k: expected a number of heads that divides the 4 of q, got 3$"):
        attention(**given | fewer, enable_gqa=True)


OPTIONS = [
    ("is_causal", 1, TypeError, "expected a bool, got int"),
    ("enable_gqa", None, TypeError, "expected a bool, got NoneType"),
    ("deterministic", 0, TypeError, "expected a bool, got int"),
    ("return_lse", "yes", TypeError, "expected a bool, got str"),
    ("scale", "1", TypeError, "expected a float or None, got str"),
    ("scale", True, TypeError, "expected a float or None, got bool"),
    ("scale", NAN, ValueError, "expected a finite number, got nan"),
    ("scale", INF, ValueError, "expected a finite number, got inf"),
    ("align", None, TypeError, "expected a str, got NoneType"),
    ("align", "lower_left", ValueError, "expected 'upper_left' or 'lower_right', got 'lower_left'"),
    ("window", 5, TypeError, "expected a tuple of two or None, got int"),
    ("window", (5,), ValueError, "expected two numbers, left and right, got 1"),
    ("window", (5.0, 1), TypeError, "expected two of int or None, got float"),
    ("window", (True, 1), TypeError, "expected two of int or None, got bool"),
    ("window", (-1, 1), ValueError, "expected numbers from 0 on, or None for no limit, got -1"),
]


@pytest.mark.parametrize(("name", "value", "error", "expected"), OPTIONS, ids=str)
@pytest.mark.parametrize("function, given", [(attention, arguments), (attention_packed, packed_arguments)], ids=["one", "packed"])
def test_options_out_of_range_are_refused(function, given, name, value, error, expected, device):
    with pytest.raises(error, match=f"^{name}: {expected}"):
        function(**given(device), **{name: value})


@pytest.mark.parametrize(
    ("name", "value", "error", "expected"),
    [
        ("q", lambda x: x[None], ValueError, r"expected shape \[T, H, D\], got \(1, 5, 4, 8\)"),
        ("k", lambda x: x[..., :7], ValueError, r"expected shape \[S, K, 8\] beside q's \(5, 4, 8\), got \(6, 4, 7\)"),
        ("v", lambda x: x[:5], ValueError, r"expected shape \(6, 4, 8\), the shape of k, got \(5, 4, 8\)"),
        ("cu_seqlens_q", lambda x: x.tolist(), TypeError, r"expected a torch.Tensor, got list"),
        ("cu_seqlens_k", lambda x: x.float(), TypeError, r"expected dtype int32 or int64, got float32"),
        ("cu_seqlens_q", lambda x: x[None], ValueError, r"expected shape \[documents \+ 1\], got \(1, 3\)"),
        ("cu_seqlens_q", lambda x: x[:0], ValueError, r"expected shape \[documents \+ 1\], got \(0,\)"),
        ("cu_seqlens_k", lambda x: x[:2], ValueError, r"expected shape \(3,\), the shape of cu_seqlens_q, got \(2,\)"),
        ("cu_seqlens_k", lambda x: x.to("meta"), ValueError, r"expected device cpu|expected device cuda"),
    ],
    ids=range(9),
)
def test_documents_that_do_not_fit_are_refused(name, value, error, expected, device):
    given = packed_arguments(device)
    with pytest.raises(error, match=f"^{name}: {expected}"):
        attention_packed(**given | {name: value(given[name])})


@pytest.mark.parametrize("rows", [[0, 9, 3], [-4, 2, 5], [7, 99, 1000], [3, 3, 3]], ids=str)
def test_wrong_starts_touch_no_other_memory(rows, device, monkeypatch):
    use(monkeypatch, small())
    given = packed_arguments(device) | {name: starts_of(rows, device) for name in ("cu_seqlens_q", "cu_seqlens_k")}
    given["q"].requires_grad_()
    attention_packed(**given).sum().backward()


def test_a_length_that_no_kernel_counts_is_refused(device):
    with pytest.raises(ValueError, match=r"^k: expected a length of at most 2\*\*28, got 268435457$"):
        long = torch.empty(1, 1, 1, 1, device=device).expand(1, 1, 2**28 + 1, 1)
        attention(torch.empty(1, 1, 1, 1, device=device), long, long)


FAMILIES = ("sm_80", "sm_90", "sm_100", "default")
TILED = [one for one in SPECIMENS if "LOADS" in one.arguments]


@pytest.mark.parametrize("kernel", ["forward", "keys", "queries"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_tile_that_ships_is_compiled(family, kernel):
    found = {
        (one.dtype_of, *(one.arguments[name] for name in ("WIDTH", "BLOCK_M", "BLOCK_N", "LOADS")), *one.options.values())
        for one in (Launched(specimen) for specimen in TILED)
        if one.kernel == kernel
    }
    for kind, tables in ATTENTION_TILES[family].items():
        for width, (block_m, block_n, num_warps, num_stages, loads) in tables[kernel].items():
            assert (kind, width, block_m, block_n, loads, num_warps, num_stages) in found, (kind, width)


class Launched:
    """A specimen of a kernel that walks: which kernel it is, and of which arithmetic."""

    def __init__(self, specimen):
        self.kernel, self.arguments, self.options = specimen.function.split("_")[1], specimen.arguments, specimen.options
        self.dtype_of = "ieee" if specimen.label.endswith("fp32") else "half"


@needs("cuda")
@pytest.mark.parametrize("dtype", DTYPES[1:], ids=str)
@pytest.mark.parametrize("head", [16, 64, 80, 128, 192, 256])
@pytest.mark.parametrize("options", [{}, {"is_causal": True, "align": "lower_right"}, {"window": (200, 64)}], ids=str)
def test_on_the_gpu_at_full_width(options, head, dtype, device):
    check(*given((1, 4, 2, 777, 1031, head), dtype, device), **options)
    check(*given((2, 8, 2, 2, 3001, head), dtype, device), **options)


@needs("cuda")
def test_gradients_are_the_same_every_time(device):
    q, k, v = (x.requires_grad_() for x in given((2, 8, 2, 1000, 1500, 128), torch.bfloat16, device))
    found = [torch.autograd.grad(attention(q, k, v, True, None, True, deterministic=True).sum(), (q, k, v)) for _ in range(3)]
    assert all(torch.equal(one, other) for again in found[1:] for one, other in zip(found[0], again, strict=True))


@needs("cuda")
def test_more_than_two_to_the_31_elements(device):
    need_free_memory(40)
    q = torch.randn(1, 1, 2**19 + 5, 64, device=device, dtype=torch.bfloat16).expand(1, 70, -1, -1).contiguous()
    k, v = (torch.randn(1, 70, 40, 64, device=device, dtype=torch.bfloat16) for _ in range(2))
    out = attention(q, k, v)
    exact = attention_reference(*(x[:, -1:].double() for x in (q[:, :, -9:], k, v)))
    torch.testing.assert_close(out[:, -1:, -9:].double(), exact, rtol=2e-2, atol=2e-2)
