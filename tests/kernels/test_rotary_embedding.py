"""kernels.rotary_embedding against float64: every layout of queries, keys and tables, and the rotation back."""

import contextlib

import pytest
import torch

from kernels.rotary_embedding import rotary_embedding
from kernels.rotary_embedding.rotary_embedding import rotary_embedding_forward, rotary_embedding_reference
from kernels.rotary_embedding.rotate_pairs import rotary_embedding_launch, rotary_embedding_plan
from scripts.launches.rope import FILE, SPECIMENS
from tests.interpreter import only_touching
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
SHAPES = [
    (2, 5, 3, 7, 16),
    (1, 8, 2, 5, 128),
    (1, 3, 3, 9, 80),
    (3, 1, 1, 2, 2),
    (2, 9, 1, 3, 10),
    (1, 4, 0, 6, 8),
    (1, 33, 17, 1, 64),
]
# Half a head is no power of two: pairs are counted on from head to head, through blocks that end within a head.
NARROW = [
    (2, 12, 3, 5, 80),
    (1, 1, 12, 9, 96),
    (1, 3, 1, 3, 72),
    (2, 12, 1, 7, 40),
    (1, 43, 3, 3, 6),
    (1, 3, 12, 1, 20),
    (1, 2, 1, 3, 320),
]


def tables(tokens, width, dtype=torch.float32, device="cpu", batch=(), wide=False, seed=7):
    """Numbers that are no cosines and sines, so that a mistaken one shows; a wide table's halves differ."""
    shape = (*batch, tokens, width if wide else width // 2)
    return random(*shape, dtype=dtype, device=device, seed=seed), random(*shape, dtype=dtype, device=device, seed=seed + 1)


def heads(shape, dtype=torch.float32, device="cpu", seed=0):
    batches, n_q, n_k, tokens, width = shape
    q = random(batches, n_q, tokens, width, dtype=dtype, device=device, seed=seed)
    return q, random(batches, n_k, tokens, width, dtype=dtype, device=device, seed=seed + 1)


def rotated_64(x, cos, sin, back=False):
    """The rotation and its error's scale, in float64, number by number; `back` is the transposed matrix."""
    x, half = x.double(), x.shape[-1] // 2
    cos, sin = (table.double()[(...,) + (slice(None),) * 2] for table in (cos, sin))
    if cos.shape[-1] == half:
        cos, sin = torch.cat((cos, cos), -1), torch.cat((sin, sin), -1)
    cos, sin = (table[:, None] if table.ndim == 3 else table for table in (cos, sin))
    first, second = x[..., :half], x[..., half:]
    cos_first, cos_second, sin_first, sin_second = cos[..., :half], cos[..., half:], sin[..., :half], sin[..., half:]
    if back:
        sin_first, sin_second = -sin_second, -sin_first
    products = (first * cos_first, second * sin_first, second * cos_second, first * sin_second)
    exact = torch.cat((products[0] - products[1], products[2] + products[3]), -1)
    sizes = [product.abs() for product in products]
    return exact, torch.cat((sizes[0] + sizes[1], sizes[2] + sizes[3]), -1)


def assert_rotated(out, x, cos, sin, back=False):
    exact, size = rotated_64(x.detach(), cos, sin, back)
    assert (out.dtype, out.device) == (x.dtype, x.device)
    assert_within(out.detach(), exact, 2 * FLOAT32_EPS * size + relative_step(out.dtype) * exact.abs() + atol_of(out.dtype))


def check(q, k, cos, sin):
    kept = [tensor.detach().clone() for tensor in (q, k)]
    q, k = q.detach().requires_grad_(), k.detach().requires_grad_()
    outputs = rotary_embedding(q, k, cos, sin)
    dq, dk = (random(*x.shape, dtype=x.dtype, device=str(x.device), seed=20) for x in (q, k))
    gradients = torch.autograd.grad(outputs, (q, k), (dq, dk))
    for x, out, dx, d_out, before in zip((q, k), outputs, gradients, (dq, dk), kept, strict=True):
        assert_rotated(out, x, cos, sin)
        assert_rotated(dx, d_out, cos, sin, back=True)
        assert torch.equal(x.detach(), before), "an input was overwritten"
    plain = rotary_embedding(q.detach(), k.detach(), cos, sin)
    assert all(torch.equal(a, b) and not a.requires_grad for a, b in zip(plain, outputs, strict=True))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("shape", SHAPES + NARROW, ids=str)
def test_heads_of_any_shape(shape, wide, dtype, device):
    check(*heads(shape, dtype, device), *tables(shape[3], shape[4], dtype, device, wide=wide))


@pytest.mark.parametrize("batch", [(), (1,), (3,)], ids=str)
@pytest.mark.parametrize("wide", [False, True])
def test_one_table_for_all_or_one_for_each(batch, wide, device):
    shape = (3, 5, 2, 6, 12)
    check(*heads(shape, device=device), *tables(6, 12, device=device, batch=batch, wide=wide))


@pytest.mark.parametrize("batch", [(), (1,), (7,)], ids=str)
@pytest.mark.parametrize("layout", ["heads before tokens", "one batch shown to all", "batch last", "unaligned"])
@pytest.mark.parametrize("width", [16, 80])
def test_one_token_in_each_sequence(width, layout, batch, device):
    """Sequences then share a program, each with its own angles where each has a table."""
    q, k = (LAYOUTS[layout](x) for x in heads((7, 5, 2, 1, width), device=device))
    check(q, k, *tables(1, width, device=device, batch=batch))


@pytest.mark.parametrize("table", DTYPES, ids=str)
def test_tables_of_another_dtype(table, device):
    shape = (2, 3, 1, 5, 8)
    check(*heads(shape, torch.float16, device), *tables(5, 8, table, device))


LAYOUTS = {
    "heads before tokens": lambda x: x,
    "tokens before heads": lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    "cut out of a wider projection": lambda x: torch.cat((x, x + 1), -1)[..., : x.shape[-1]],
    "every other number": lambda x: torch.stack((x, x + 1), -1)[..., 0],
    "one batch shown to all": lambda x: x[:1].expand(x.shape),
    "one head shown to all": lambda x: x[:, :1].expand(x.shape),
    "batch last": lambda x: x.permute(1, 2, 3, 0).contiguous().permute(3, 0, 1, 2),
    "unaligned": lambda x: torch.cat((x.flatten()[:1], x.flatten()))[1:].view(x.shape),
    "negated": lambda x: torch._neg_view(x),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("width", [16, 80])
def test_layouts(width, layout, device):
    shape = (2, 5, 2, 7, width)
    q, k = (LAYOUTS[layout](x) for x in heads(shape, device=device))
    cos, sin = tables(7, width, device=device)
    check(q, k, cos, sin)
    dq, dk = (LAYOUTS[layout](x) for x in heads(shape, device=device, seed=3))
    leaf_q, leaf_k = q.detach().clone().requires_grad_(), k.detach().clone().requires_grad_()
    gradients = torch.autograd.grad(rotary_embedding(leaf_q, leaf_k, cos, sin), (leaf_q, leaf_k), (dq, dk))
    for dx, d_out in zip(gradients, (dq, dk), strict=True):
        assert_rotated(dx, d_out, cos, sin, back=True)


def test_the_layout_in_memory_is_kept(device):
    q, k = (LAYOUTS["tokens before heads"](x) for x in heads((2, 5, 2, 7, 16), device=device))
    for x, out in zip((q, k), rotary_embedding(q, k, *tables(7, 16, device=device)), strict=True):
        assert out.stride() == x.stride() and not out.is_contiguous()


@pytest.mark.parametrize("layout", ["tokens before heads", "every other number", "negated"])
def test_tables_of_any_layout(layout, device):
    cos, sin = tables(7, 16, device=device, batch=(2, 1))
    cos, sin = (LAYOUTS[layout](table)[:, 0] for table in (cos, sin))
    check(*heads((2, 3, 1, 7, 16), device=device), cos, sin)
    cos, sin = (table.clone() for table in (cos, sin))
    check(*heads((2, 3, 1, 7, 16), device=device), cos[:, :, :], sin.permute(1, 2, 0).contiguous().permute(2, 0, 1))
    check(*heads((2, 3, 1, 7, 16), device=device), cos[:1].expand(2, -1, -1), sin)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("shape", [(2, 5, 3, 7, 16), (1, 9, 1, 5, 20), (2, 4, 1, 3, 80)], ids=str)
def test_kernel_touches_its_heads_and_nothing_else(shape, inverse, wide, dtype, device):
    batches, n_q, n_k, tokens, width = shape
    q, k = (poisoned(x, gap=gap) for x, gap in zip(heads(shape, dtype, device), (2, 5), strict=True))
    cos, sin = (poisoned(table, gap=3) for table in tables(tokens, width, dtype, device, batch=(batches,), wide=wide))
    q_out, q_buffer = guarded(tuple(q.shape), dtype, device, gap=1)
    k_out, k_buffer = guarded(tuple(k.shape), dtype, device, gap=4)
    inside = only_touching([q, k, cos, sin], [q_out, k_out]) if device == "cpu" else contextlib.nullcontext()
    with inside:
        rotary_embedding_launch(q, k, cos, sin, q_out, k_out, inverse)
    assert_rotated(q_out, q, cos, sin, back=inverse)
    assert_rotated(k_out, k, cos, sin, back=inverse)
    assert_guard_untouched(q_out, q_buffer)
    assert_guard_untouched(k_out, k_buffer)


@pytest.mark.parametrize("odd", ["", "q", "k", "cos", "sin", "q_out", "k_out"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_one_tensor_of_odd_strides_among_aligned_ones(odd, dtype, device):
    """Heads of 80 are read in vectors, whose length all strides must agree on."""
    q, k = heads((2, 4, 1, 3, 80), dtype, device)
    cos, sin = tables(3, 80, dtype, device, batch=(2,))
    given = {"q": q, "k": k, "cos": cos, "sin": sin, "q_out": torch.full_like(q, NAN), "k_out": torch.full_like(k, NAN)}
    if odd:
        given[odd] = poisoned(given[odd], gap=3)
    rotary_embedding_launch(*given.values(), False)
    assert_rotated(given["q_out"], q, cos, sin)
    assert_rotated(given["k_out"], k, cos, sin)


def test_the_way_back_leads_back(device):
    q, k = heads((2, 5, 2, 7, 16), device=device)
    angles = random(7, 8, device=device, scale=3)
    there = rotary_embedding(q, k, angles.cos(), angles.sin())
    for x, out in zip(
        (q, k), rotary_embedding_forward(*there, angles.cos()[None], angles.sin()[None], inverse=True), strict=True
    ):
        torch.testing.assert_close(out, x, rtol=1e-5, atol=1e-6)


def test_only_differences_of_positions_count(device):
    """What the embedding is for: a query and a key that move on together keep their product."""
    angles = torch.outer(torch.arange(40, device=device), 100.0 ** -torch.linspace(0, 1, 8, device=device))
    q, k = (x[:, :, :1].expand(-1, -1, 40, -1) for x in heads((1, 2, 2, 1, 16), device=device))
    q, k = rotary_embedding(q, k, angles.cos(), angles.sin())
    products = q.double() @ k.double().mT
    for distance in (0, 1, 7):
        line = products.diagonal(distance, -2, -1)
        torch.testing.assert_close(line, line[..., :1].expand_as(line), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(0, 2, 2, 3, 4), (2, 0, 0, 3, 4), (2, 0, 3, 3, 4), (2, 2, 2, 0, 4), (2, 2, 2, 3, 0)], ids=str)
def test_no_elements(shape, device):
    q, k = (x.requires_grad_() for x in heads(shape, device=device))
    outputs = rotary_embedding(q, k, *tables(shape[3], shape[4], device=device))
    assert [out.shape for out in outputs] == [q.shape, k.shape]
    (outputs[0].sum() + outputs[1].sum()).backward()
    assert q.grad.shape == q.shape and k.grad.shape == k.shape


def test_nan_and_infinity_stay_in_their_pair(device):
    q, k = heads((1, 2, 1, 4, 8), device=device)
    q[0, 1, 2, 1], k[0, 0, 3, 6] = NAN, INF
    cos, sin = tables(4, 8, device=device)
    q_out, k_out = rotary_embedding(q, k, cos, sin)
    assert q_out.isnan().nonzero().tolist() == [[0, 1, 2, 1], [0, 1, 2, 5]]
    assert k_out.isinf().nonzero().tolist() == [[0, 0, 3, 2], [0, 0, 3, 6]]


def test_a_gradient_of_one_of_the_two(device):
    cos, sin = tables(3, 8, device=device)
    for which in (0, 1):
        both = list(heads((1, 2, 1, 3, 8), device=device))
        both[which].requires_grad_()
        out = rotary_embedding(*both, cos, sin)[which]
        (dx,) = torch.autograd.grad(out, both[which], torch.ones_like(out))
        assert_rotated(dx, torch.ones_like(out), cos, sin, back=True)


def test_gradients_of_any_order(device):
    cos, sin = tables(3, 8, device=device)

    def third(function, q, k):
        outputs = function(q, k, cos.to(q.dtype), sin.to(q.dtype))
        total = sum((out**4).sum() for out in outputs)
        for _ in range(2):
            gradients = torch.autograd.grad(total, (q, k), create_graph=True)
            total = sum((dx**2).sum() for dx in gradients)
        return torch.autograd.grad(total, (q, k))

    q, k = (x.requires_grad_() for x in heads((1, 2, 1, 3, 8), device=device))
    expected = third(rotary_embedding_reference, *(x.detach().double().requires_grad_() for x in (q, k)))
    for found, exact in zip(third(rotary_embedding, q, k), expected, strict=True):
        torch.testing.assert_close(found.double(), exact, rtol=1e-3, atol=1e-3)


def test_has_no_graph_where_no_gradient_is_wanted(device):
    q, k = heads((1, 2, 1, 3, 8), device=device)
    with torch.no_grad():
        assert not rotary_embedding(q.requires_grad_(), k, *tables(3, 8, device=device))[0].requires_grad


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_errs_no_more_than_pytorch(dtype, device):
    q, k = heads((2, 4, 2, 30, 64), dtype, device)
    angles = random(30, 32, device=device)
    cos, sin = angles.cos().to(dtype), angles.sin().to(dtype)
    ours, theirs = rotary_embedding(q, k, cos, sin), rotary_embedding_reference(q, k, cos, sin)
    for x, mine, other in zip((q, k), ours, theirs, strict=True):
        exact = rotated_64(x, cos, sin)[0]
        assert (mine - exact).norm() <= 1.05 * (other - exact).norm()


@pytest.mark.parametrize("batch", [(), (2,)], ids=str)
@pytest.mark.parametrize("wide", [False, True])
def test_the_reference_is_the_formula(batch, wide, device):
    q, k = heads((2, 3, 1, 5, 8), device=device)
    cos, sin = tables(5, 8, device=device, batch=batch, wide=wide)
    for x, out in zip((q, k), rotary_embedding_reference(q, k, cos, sin), strict=True):
        torch.testing.assert_close(out.double(), rotated_64(x, cos, sin)[0], rtol=1e-5, atol=1e-6)


def arguments(device):
    return {"q": torch.ones(2, 4, 5, 8, device=device), "k": torch.ones(2, 1, 5, 8, device=device)} | {
        name: torch.ones(5, 4, device=device) for name in ("cos", "sin")
    }


@pytest.mark.parametrize("name", ["q", "k", "cos", "sin"])
def test_what_a_kernel_cannot_take_is_refused(name, device):
    given = arguments(device)
    for wrong in (torch.int32, torch.float64, torch.bool):
        expected = rf"^{name}: expected dtype float32, float16 or bfloat16, got {str(wrong).removeprefix('torch.')}$"
        with pytest.raises(TypeError, match=expected):
            rotary_embedding(**given | {name: given[name].to(wrong)})
    with pytest.raises(TypeError, match=rf"^{name}: expected a torch.Tensor, got NoneType$"):
        rotary_embedding(**given | {name: None})


@pytest.mark.parametrize("name", ["k", "cos", "sin"])
def test_another_device_is_refused(name):
    from kernels.common.arguments import check_same_device

    with pytest.raises(ValueError, match=rf"^{name}: expected device cpu, the device of q, got meta$"):
        check_same_device(name, torch.ones(1, device="meta"), "q", torch.ones(1))


WRONG = {
    "q": [((2, 5, 8), r"\[B, H, S, D\] with D even"), ((2, 4, 5, 7), r"\[B, H, S, D\] with D even")],
    "k": [((2, 1, 5), r"\[2, K, 5, 8\]")] + [(shape, r"\[2, K, 5, 8\]") for shape in ((1, 1, 5, 8), (2, 1, 4, 8), (2, 1, 5, 6))],
    "cos": [(shape, r"\[5, 4\] or \[5, 8\], or a batch of those") for shape in ((5,), (4, 4), (5, 6), (3, 5, 4), (1, 1, 5, 4))],
    "sin": [(shape, r"\(1, 5, 4\), the shape of cos") for shape in ((2, 5, 4), (1, 5, 8), (1, 4, 4))],
}


@pytest.mark.parametrize(("name", "shape", "expected"), [(name, *case) for name, cases in WRONG.items() for case in cases])
def test_shapes_that_do_not_fit_are_refused(name, shape, expected, device):
    given = arguments(device) | {name: torch.ones(shape, device=device)}
    if name == "sin":
        given["cos"] = given["cos"][None]
    with pytest.raises(ValueError, match=rf"^{name}: expected shape {expected}.*, got \(.*\)$"):
        rotary_embedding(**given)


def test_keys_of_another_dtype_are_refused(device):
    given = arguments(device)
    with pytest.raises(TypeError, match=r"^k: expected dtype float32, the dtype of q, got float16$"):
        rotary_embedding(**given | {"k": given["k"].half()})


@pytest.mark.parametrize("name", ["cos", "sin"])
def test_tables_that_want_a_gradient_are_refused(name, device):
    given = arguments(device)
    given[name].requires_grad_()
    with pytest.raises(ValueError, match=r"^cos, sin: expected tables that require no gradient"):
        rotary_embedding(**given)
    with torch.no_grad():
        assert rotary_embedding(**given)[0].shape == given["q"].shape


@needs("cuda")
@pytest.mark.parametrize(
    "shape", [(70_000, 1, 1, 1, 2), (1, 1, 1, 300_000, 4), (1, 300, 7, 9, 256), (2, 32, 8, 4096, 128)], ids=str
)
def test_on_the_gpu_at_full_width(shape, device):
    check(*heads(shape, device=device), *tables(shape[3], shape[4], device=device))


@needs("cuda")
def test_more_than_two_to_the_31_elements(device):
    need_free_memory(30)
    q = torch.randint(-8, 8, (2, 32, 2**18 + 5, 128), device=device, dtype=torch.bfloat16)
    k = torch.ones(2, 1, 2**18 + 5, 128, device=device, dtype=torch.bfloat16)
    cos, sin = tables(2**18 + 5, 128, torch.bfloat16, device)
    out, _ = rotary_embedding(q, k, cos, sin)
    for part in (slice(0, 3), slice(-3, None)):
        assert_rotated(out[1:, -2:, part], q[1:, -2:, part], cos[part], sin[part])
        assert_rotated(out[:1, :2, part], q[:1, :2, part], cos[part], sin[part])


@pytest.mark.parametrize("specimen", [one for one in SPECIMENS if one.kernel == FILE], ids=lambda one: one.label)
def test_a_specimen_is_what_is_launched(specimen):
    given = specimen.arguments
    width, size = 2 * given["HALF"], 4 if given["q_ptr"] == "*fp32" else 2
    strides = {heads: (4096 * heads * width, width, heads * width, 1) for heads in (32, 8)}
    table = (4096, width if given["WIDE"] else given["HALF"])
    _, numbers, meta = rotary_embedding_plan(
        (2, 32, 4096, width), 8, *(strides[heads] for heads in (32, 8, 32, 8)), table, (table[1], 1), (table[1], 1), size
    )
    names = [f"{name}_{axis}_stride" for name in ("q", "k", "q_out", "k_out") for axis in ("batch", "head", "token")]
    names += [f"{name}_{axis}_stride" for name in ("cos", "sin") for axis in ("batch", "token")]
    names += ["n_batches", "n_tokens", "n_q_heads", "n_k_heads", "q_groups"]
    assert [given[name] for name in names] == list(numbers)
    assert {name: given.get(name, specimen.options.get(name)) for name in meta} == meta
