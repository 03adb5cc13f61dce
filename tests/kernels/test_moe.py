"""kernels.moe against float64: routing, the sort, both products, uneven experts, what it touches and what it refuses."""

import contextlib
from unittest import mock

import pytest
import torch

from kernels import moe
from kernels.matmul.hopper import descriptor
from kernels.matmul.plan import matmul_family
from kernels.moe.moe import combined, moe_forward, moe_reference
from kernels.moe.plan import MOE_TILES, MoePlan, choose_moe_plan, moe_plan
from kernels.moe.product import Groups, grouped_product, stacked
from kernels.moe.route import route, sort_by_expert, tiles_at_most
from tests.interpreter import only_touching
from tests.kernels import test_matmul
from tests.kernels.activation_numerics import rounded, value_64
from tests.kernels.matmul_numerics import sums_64
from tests.kernels.numerics import (
    DTYPES,
    FLOAT32_EPS,
    VIEWS,
    assert_guard_untouched,
    assert_within,
    guarded,
    poisoned,
    random,
    relative_step,
)
from tests.needs import needs

NAN, INF = float("nan"), float("inf")
NAMES = ("x", "logits", "w_gate", "w_up", "w_down")
SMALL = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "GROUP_M": 2, "num_warps": 4, "num_stages": 2, "programs": 3}
# Tokens, experts, width, hidden, k: one of everything, odd, more than a tile, every expert, many experts.
SIZES = [(1, 1, 1, 1, 1), (1, 4, 16, 8, 2), (7, 3, 20, 33, 1), (40, 5, 24, 17, 3), (20, 6, 33, 16, 6), (9, 130, 16, 16, 8)]

loads_by_keyword = test_matmul.loads_by_keyword


def given(n_tokens: int, n_experts: int, width: int, hidden: int, dtype=torch.float32, device: str = "cpu") -> list:
    x, logits = random(n_tokens, width, dtype=dtype, device=device), random(n_tokens, n_experts, device=device, seed=1)
    gate, up = (random(n_experts, hidden, width, dtype=dtype, device=device, scale=0.3, seed=seed) for seed in (2, 3))
    return [x, logits, gate, up, random(n_experts, width, hidden, dtype=dtype, device=device, scale=0.3, seed=4)]


def chosen_64(logits: torch.Tensor, k: int, renormalize: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """Each token's experts, of equal logits the lower first, and their weights in float64."""
    logits = logits.double()
    experts = logits.sort(dim=1, descending=True, stable=True).indices[:, :k]
    shares = torch.softmax(logits, 1).gather(1, experts)
    return experts, shares / shares.sum(1, keepdim=True) if renormalize else shares


def assert_moe(y: torch.Tensor, x, logits, w_gate, w_up, w_down, k: int, renormalize: bool = True) -> None:
    """Within what float32 sums leave, and a rounding each of what the gate lets through, of an expert's part, of the result."""
    experts, weights = chosen_64(logits, k, renormalize)
    expected, bound = torch.zeros_like(x, dtype=torch.float64), torch.zeros_like(x, dtype=torch.float64)
    for expert in range(logits.shape[1]):
        tokens, slots = torch.where(experts == expert)
        (gate, gate_error), (up, up_error) = (sums_64(x[tokens], w[expert].mT, None) for w in (w_gate, w_up))
        value, error = value_64(gate, "silu")
        error = error + 1.13 * gate_error
        gated = value * up
        gated_error = error * up.abs() + value.abs() * up_error + error * up_error + FLOAT32_EPS * gated.abs()
        gated_error = rounded(gated, gated_error, y.dtype)
        part, part_error = sums_64(gated, w_down[expert].mT, None)
        part_error = part_error + gated_error @ w_down[expert].double().mT.abs()
        share = weights[tokens, slots, None]
        expected.index_add_(0, tokens, part * share)
        bound.index_add_(0, tokens, rounded(part * share, part_error * share + 24 * FLOAT32_EPS * (part * share).abs(), y.dtype))
    assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device) and y.is_contiguous()
    assert_within(y, expected, rounded(expected, (1 + k * FLOAT32_EPS) * bound, y.dtype))


def small(**other) -> MoePlan:
    """A plan of small tiles, which the sizes here fill more than once."""
    tile = {**SMALL, "DESCRIPTORS": False, **other}
    return MoePlan(tile["BLOCK_M"], tile, tile, "Small.")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_any_size(size, dtype, device):
    *sizes, k = size
    arguments = given(*sizes, dtype, device)
    kept = [t.clone() for t in arguments]
    assert_moe(moe(*arguments, k), *arguments, k)
    assert all(torch.equal(one, other) for one, other in zip(arguments, kept, strict=True))


@pytest.mark.parametrize("k", range(1, 9))
def test_any_k_with_weights_of_either_kind(k, device):
    arguments = given(13, 8, 16, 12, device=device)
    assert_moe(moe(*arguments, k), *arguments, k)
    assert_moe(moe(*arguments, k, False), *arguments, k, False)


def test_nothing_to_do(device):
    arguments = given(4, 3, 8, 8, device=device)
    assert moe(arguments[0][:0], arguments[1][:0], *arguments[2:], 2).shape == (0, 8)
    x, logits, gate, up, down = arguments
    assert torch.equal(moe(x, logits, gate[:, :0], up[:, :0], down[..., :0], 2), torch.zeros_like(x))
    assert moe(x[:, :0], logits, gate[..., :0], up[..., :0], down[:, :0], 2).shape == (4, 0)


@pytest.mark.parametrize("favorites", [(0,), (3,), (6,), (1, 5)], ids=str)
def test_experts_that_nobody_chooses(favorites, device):
    arguments = given(50, 7, 16, 20, torch.float16, device)
    arguments[1][:, list(favorites)] += 100
    k = len(favorites)
    assert_moe(moe(*arguments, k), *arguments, k)
    assert_moe(moe_forward(*arguments, k, True, small()), *arguments, k)


@pytest.mark.parametrize("programs", [1, 3, 1000])
@pytest.mark.parametrize("described", [False, True])
def test_any_number_of_programs_stores_every_tile(programs, described, device):
    arguments = given(60, 5, 40, 48, torch.float16, device)
    blocks = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64} if described and device == "cuda" else {}
    plan = small(programs=programs, DESCRIPTORS=described, **blocks)
    assert_moe(moe_forward(*arguments, 2, True, plan), *arguments, 2)


@pytest.mark.parametrize("layout", ["halves", "columns", "other strides", "columns of x", "negative"])
def test_any_layout(layout, device):
    x, logits, gate, up, down = given(30, 4, 24, 32, torch.float16, device)
    if layout == "halves":
        gate, up = torch.cat([gate, up], 1).chunk(2, 1)
    elif layout == "columns":
        gate, up, down = (w.mT.contiguous().mT for w in (gate, up, down))
    elif layout == "other strides":
        gate, logits, x = gate.mT.contiguous().mT, logits.mT.contiguous().mT, torch.stack((x, x), -1)[..., 0]
    elif layout == "columns of x":
        x, down = x.mT.contiguous().mT, torch.stack((down, down), 1)[:, 0]
    else:
        x, gate, logits, down = (torch._neg_view(t) for t in (x, gate, logits, down))
    for plan in (small(), small(DESCRIPTORS=True), None):
        assert_moe(moe_forward(x, logits, gate, up, down, 3, True, plan), x, logits, gate, up, down, 3)


@pytest.mark.parametrize("view", VIEWS)
def test_views_of_logits(view, device):
    logits = VIEWS[view](random(9, 12, device=device, seed=1))
    if logits.ndim == 1:
        logits = logits[:20].view(4, 5)
    arguments = given(logits.shape[0], logits.shape[1], 8, 8, device=device)
    arguments[1] = logits
    assert_moe(moe(*arguments, 1), *arguments, 1)


# What each kernel does by itself.


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("n_tokens", "n_experts", "k"), [(1, 1, 1), (5, 3, 3), (300, 8, 2), (33, 130, 5), (600, 100, 1)])
def test_routing(n_tokens, n_experts, k, dtype, device):
    logits = random(n_tokens, n_experts, dtype=dtype, device=device)
    for renormalize in (True, False):
        experts, weights, counts = route(logits, k, renormalize)
        wanted, shares = chosen_64(logits, k, renormalize)
        assert torch.equal(experts, wanted.int())
        assert_within(weights, shares, shares * 24 * FLOAT32_EPS + 1e-30)
        assert torch.equal(counts.sum(0), torch.bincount(wanted.flatten(), minlength=n_experts).int())


def test_of_equal_logits_the_lower_expert_is_chosen(device):
    logits = torch.zeros(3, 10, device=device)
    logits[1, ::2], logits[2, 3] = -0.0, 1.0
    assert route(logits, 3)[0].tolist() == [[0, 1, 2], [0, 1, 2], [3, 0, 1]]


def test_nan_and_infinity_choose_experts_that_exist(device):
    logits = random(5, 6, device=device)
    logits[0, 4], logits[1, 2], logits[2], logits[3, 1] = NAN, INF, -INF, -INF
    logits[4] = NAN
    experts, weights, _ = route(logits, 2)
    assert experts[0, 0] == 4 and experts[1, 0] == 2 and bool(((experts >= 0) & (experts < 6)).all())
    assert all(len(set(row)) == 2 for row in experts.tolist())
    expected = torch.softmax(logits, 1).isnan().any(1)
    assert torch.equal(weights.isnan().any(1), expected)
    arguments = given(5, 6, 8, 8, device=device)
    arguments[1] = logits
    assert torch.equal(moe(*arguments, 2).isnan().any(1), expected)


def test_a_token_that_is_nan_harms_no_other(device):
    arguments = given(20, 4, 8, 8, device=device)
    clean = moe(*arguments, 2)
    arguments[0][7] = NAN
    y = moe(*arguments, 2)
    others = torch.arange(20, device=device) != 7
    assert bool(y[7].isnan().all()) and torch.equal(y[others], clean[others])


@pytest.mark.parametrize("block_m", [16, 64])
@pytest.mark.parametrize(("n_tokens", "n_experts", "k"), [(1, 1, 1), (5, 3, 3), (300, 8, 2), (33, 130, 5), (1100, 4, 2)])
def test_sorting(n_tokens, n_experts, k, block_m, device, monkeypatch):
    logits = random(n_tokens, n_experts, device=device)
    logits[:, n_experts // 2] -= 100  # chosen where all are, else never
    for counting in (128, 3, 1):  # programs that count, so that each has one step or several, or one program has all
        monkeypatch.setattr("kernels.moe.route.COUNTING", counting)
        experts, _, counts = route(logits, k)
        pairs, starts, tiles = sort_by_expert(experts, counts, block_m)
        flat = experts.flatten()
        assert torch.equal(pairs.sort().values, torch.arange(n_tokens * k, dtype=torch.int32, device=device))
        assert torch.equal(flat[pairs.long()], flat.sort().values)
        sizes = torch.bincount(flat, minlength=n_experts)
        assert starts[:-1].tolist() == [0, *sizes.cumsum(0).tolist()]
        wanted = [
            [expert, int(starts[expert]) + row] for expert, size in enumerate(sizes.tolist()) for row in range(0, size, block_m)
        ]
        assert starts[-1] == len(wanted) <= tiles.shape[0] and tiles[: len(wanted)].tolist() == wanted


def test_the_list_has_room_for_any_routing():
    for n_pairs, n_experts, block_m in [(1, 8, 16), (8, 8, 16), (40, 3, 16), (64, 4, 64), (300, 7, 32)]:
        # The worst: every expert but one has a single pair, or a tile and one more.
        active = min(n_pairs, n_experts)
        worst = active - 1 + -(-(n_pairs - active + 1) // block_m)
        assert worst <= tiles_at_most(n_pairs, n_experts, block_m) <= worst + active


@pytest.mark.parametrize("width", [1, 1024, 2500])
def test_a_token_s_rows_are_added_in_order_however_wide(width, device):
    parts = random(5 * 3, width, device=device)
    rows = parts.view(5, 3, width)
    assert torch.equal(combined(parts, 3), rows[:, 0] + rows[:, 1] + rows[:, 2])


def within(reads: list, writes: list):
    return only_touching(reads, writes) if reads[0].device.type == "cpu" else contextlib.nullcontext()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("k", [1, 3])
def test_kernels_touch_their_elements_and_no_other(k, dtype, device):
    x, logits, gate, up, down = (poisoned(t, gap=8) for t in given(21, 4, 24, 40, dtype, device))
    groups = Groups(*sort_by_expert(*route(logits, k)[::2], 16), k)
    gated, gated_buffer = guarded((21 * k * 40,), dtype, device)
    tile = {**SMALL, "DESCRIPTORS": False}
    with within([x, gate, up, *groups[:3]], [gated]):
        grouped_product(x, gate, up, gated.view(-1, 40), None, groups, "ieee", True, False, tile)
    assert_guard_untouched(gated, gated_buffer)
    parts, parts_buffer = guarded((21 * k * 24,), dtype, device)
    weights = random(21, k, device=device).abs()
    with within([gated, down, weights, *groups[:3]], [parts]):
        grouped_product(gated.view(-1, 40), down, None, parts.view(-1, 24), weights, groups, "ieee", False, True, tile)
    assert_guard_untouched(parts, parts_buffer)
    y = combined(parts.view(-1, 24), k)
    expected = parts.view(21, k, 24).double().sum(1)
    assert_within(y, expected, (relative_step(dtype) + k * FLOAT32_EPS) * parts.view(21, k, 24).double().abs().sum(1) + 1e-30)


def test_weights_that_descriptors_can_load(device):
    w = torch.zeros(3, 16, 24, dtype=torch.float16, device=device)
    assert stacked(w).shape == (48, 24)
    gate, up = torch.zeros(3, 32, 24, dtype=torch.float16, device=device).chunk(2, 1)
    assert [half.shape for half in (stacked(gate), stacked(up))] == [(80, 24)] * 2 and stacked(up).data_ptr() == up.data_ptr()
    assert stacked(w.mT) is None and stacked(w[..., 1:]) is None and stacked(w[..., :23]) is not None
    assert stacked(w[..., :20].contiguous()) is None  # rows of forty bytes


@pytest.mark.parametrize(("layout", "loaded"), {"plain": 1, "wide": 1, "odd": 0, "shifted": 0, "columns": 0}.items(), ids=str)
def test_rows_that_a_descriptor_can_load(layout, loaded, device, monkeypatch):
    """The second product's, which lie side by side; what comes with them of the next expert's does no harm."""
    x, logits, *_, down = given(60, 5, 40, 72, torch.float16, device)
    groups = Groups(*sort_by_expert(*route(logits, 2)[::2], 64 if device == "cuda" else 16), 2)
    rows, starts = random(120, 72, dtype=torch.float16, device=device), groups.starts.tolist()
    rows[starts[3]] = NAN
    wide = torch.full((121, 88), NAN, dtype=torch.float16, device=device)[1:]
    odd = torch.full((120, 77), NAN, dtype=torch.float16, device=device)
    views = {"wide": wide[:, :72], "odd": odd[:, :72], "shifted": wide[:, 1:73], "columns": rows.mT.contiguous().mT}
    a = views.get(layout, rows).copy_(rows)
    made: list = []
    monkeypatch.setattr("kernels.moe.product.descriptor", lambda *given: made.append(given[0]) or descriptor(*given))
    tile = SMALL | ({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64} if device == "cuda" else {}) | {"DESCRIPTORS": True}
    parts = torch.empty(120, 40, dtype=torch.float16, device=device)
    grouped_product(a, down, None, parts, torch.ones(120, device=device), groups, "ieee", False, True, tile)
    assert sum(matrix is a for matrix in made) == loaded and len(made) == loaded + 1
    for expert, (start, end) in enumerate(zip(starts, starts[1:-1], strict=False)):
        found, (expected, error) = parts[groups.pairs[start:end].long()], sums_64(rows[start:end], down[expert].mT, None)
        harmed = expected.isnan().any(1)
        assert harmed.sum() == (expert == 3) and torch.equal(found.isnan().any(1), harmed)
        assert_within(found[~harmed], expected[~harmed], rounded(expected, error, found.dtype)[~harmed])


def test_the_same_bits_again(device):
    arguments = given(60, 6, 24, 16, torch.float16, device)
    assert torch.equal(moe(*arguments, 3), moe(*arguments, 3))


# What a plan says.

SHARED = {"sm_80": 166_912, "sm_90": 232_448, "sm_100": 232_448, "default": 101_376}
SHAPES = [(n_pairs, n_experts) for n_pairs in (1, 8, 100, 4096, 262_144) for n_experts in (1, 8, 60, 256)]


@pytest.mark.parametrize("family", SHARED)
@pytest.mark.parametrize("kind", ["half", "tf32", "ieee"])
def test_every_shape_has_a_plan_that_fits(family, kind):
    for n_pairs, n_experts in SHAPES:
        for width, hidden in [(16, 16), (2048, 768), (4096, 14_336)]:
            plan = choose_moe_plan(n_pairs, n_experts, width, hidden, kind, family, 132)
            assert plan.reason.endswith(".")
            for tile, weights in ((plan.first, 2), (plan.second, 1)):
                assert tile["BLOCK_M"] == plan.block_m and tile["programs"] > 0
                loaded = (plan.block_m + weights * tile["BLOCK_N"]) * tile["BLOCK_K"] * (2 if kind == "half" else 4)
                assert loaded * tile["num_stages"] <= SHARED[family]
                assert family == "sm_90" or not tile["DESCRIPTORS"]


def test_tiles_grow_with_the_rows_of_an_expert():
    heights = [choose_moe_plan(8 * n, 8, 2048, 768, "half", "sm_90", 132).block_m for n in (1, 8, 30, 60, 200, 10_000)]
    assert heights == sorted(heights) and heights[0] == 16 and heights[-1] == max(MOE_TILES["sm_90"]["half"])
    plan = choose_moe_plan(2, 8, 4096, 14_336, "half", "sm_90", 132)
    assert plan.second["BLOCK_N"] < plan.first["BLOCK_N"], "few tiles are made narrow"


def test_a_plan_for_tensors(device):
    plan = moe_plan(torch.empty(100, 64, device=device), 8, 32, 2)
    assert plan.block_m == plan.first["BLOCK_M"] == plan.second["BLOCK_M"]


@pytest.mark.parametrize("block_m", [16, 32, 64, 128])
def test_shipped_tiles(block_m, device):
    """Every tile that ships for 16-bit numbers is run once."""
    family = "sm_90" if matmul_family(torch.device(device))[0] in ("sm_90", "sm_100") else "default"
    arguments = given(2 * block_m, 3, 72, 136, torch.float16, device)
    first, second = MOE_TILES[family]["half"][block_m]
    with mock.patch.dict(MOE_TILES[family]["half"], {block_m: (first, second)}, clear=True):
        choose_moe_plan.cache_clear()
        plan = choose_moe_plan(4 * block_m, 3, 72, 136, "half", family, 4)
    choose_moe_plan.cache_clear()
    assert plan.block_m == block_m
    assert_moe(moe_forward(*arguments, 2, True, plan), *arguments, 2)


# The reference, and what is refused.


def test_the_reference_agrees_with_float64(device):
    for renormalize in (True, False):
        arguments = given(30, 5, 16, 24, device=device)
        expected = moe_reference(*(t.double() for t in arguments), 2, renormalize)
        torch.testing.assert_close(moe_reference(*arguments, 2, renormalize).double(), expected, rtol=1e-5, atol=1e-5)
        assert_moe(moe_reference(*arguments, 2, renormalize), *arguments, 2, renormalize)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_errors_are_no_larger_than_pytorch_s(dtype, device):
    arguments = given(40, 4, 64, 48, dtype, device)
    exact = moe_reference(*(t.double() for t in arguments), 2)
    ours, theirs = moe(*arguments, 2), moe_reference(*arguments, 2)
    assert (ours.double() - exact).norm() <= 1.05 * (theirs.double() - exact).norm()


@pytest.mark.parametrize("name", NAMES)
def test_a_gradient_is_refused(name, device):
    arguments = given(4, 3, 8, 8, device=device)
    arguments[NAMES.index(name)].requires_grad_()
    with pytest.raises(ValueError, match=rf"^{name}: expected a tensor that wants no gradient"):
        moe(*arguments, 2)
    with torch.no_grad():
        assert not moe(*arguments, 2).requires_grad


def test_other_arguments_are_refused(device):
    x, logits, gate, up, down = given(4, 3, 8, 6, device=device)

    def refused(kind, words, *arguments):
        with pytest.raises(kind, match=f"^{words}"):
            moe(*arguments)

    refused(TypeError, "x: expected a torch.Tensor, got list$", [1.0], logits, gate, up, down, 2)
    refused(TypeError, "logits: expected dtype float32, float16 or bfloat16, got int64$", x, logits.long(), gate, up, down, 2)
    refused(ValueError, r"x: expected two dimensions, got shape \(8,\)$", x[0], logits, gate, up, down, 2)
    refused(ValueError, r"logits: expected 4 rows, .* got shape \(3, 3\)$", x, logits[1:], gate, up, down, 2)
    refused(ValueError, "logits: expected from 1 to 1024 columns, .* got 0$", x, logits[:, :0], gate, up, down, 1)
    refused(ValueError, r"w_gate: expected shape \(3, hidden, 8\), got \(3, 6\)$", x, logits, gate[..., 0], up, down, 2)
    refused(ValueError, r"w_up: expected shape \(3, 6, 8\), got \(3, 5, 8\)$", x, logits, gate, up[:, 1:], down, 2)
    refused(ValueError, r"w_down: expected shape \(3, 8, 6\), got \(3, 6, 8\)$", x, logits, gate, up, down.mT, 2)
    refused(TypeError, "w_up: expected dtype float32, the dtype of x, got float16$", x, logits, gate, up.half(), down, 2)
    refused(ValueError, "k: expected a number from 1 to 3, got 4$", x, logits, gate, up, down, 4)
    refused(TypeError, "k: expected an int, got float$", x, logits, gate, up, down, 2.0)
    refused(TypeError, "renormalize: expected a bool, got int$", x, logits, gate, up, down, 2, 1)


@needs("cuda")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    "size",
    [
        (1, 8, 1024, 3584, 2),
        (64, 64, 2048, 768, 8),
        (3000, 8, 1024, 1408, 2),
        (4096, 60, 520, 200, 4),
        (9000, 2, 256, 512, 1),
    ],
    ids=str,
)
def test_on_the_gpu_as_in_models(size, dtype, device):
    *sizes, k = size
    arguments = given(*sizes, dtype, device)
    assert_moe(moe(*arguments, k), *arguments, k)


@needs("cuda")
def test_on_the_gpu_in_a_graph_of_its_own(device):
    """No launch waits for the host, so a graph can hold all of them, and replay them for another routing."""
    arguments = given(200, 16, 256, 128, torch.bfloat16, device)
    moe(*arguments, 4)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = moe(*arguments, 4)
    for seed in range(3):
        arguments[1].copy_(random(200, 16, device=device, seed=10 + seed, scale=5))
        graph.replay()
        assert_moe(y, *arguments, 4)
