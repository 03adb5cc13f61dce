"""The library under PyTorch's names: the same arguments, results, dtypes under autocast, gradients and counted operations."""

import importlib
import inspect
from pathlib import Path

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

import kernels
import kernels.functional as F
from snippets.outside.samples import ask
from tests.kernels.numerics import random

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BACKEND = "inductor" if torch.cuda.is_available() else "aot_eager"
NAMES = sorted(F.DECLARATIONS)
REDUCED = [torch.float16, torch.bfloat16]


def leaf(*shape, dtype=torch.float32, seed=0):
    return random(*shape, dtype=dtype, device=DEVICE, seed=seed).requires_grad_()


def plain(*shape, **options):
    return leaf(*shape, **options).detach()


def classes(*shape, count=5):
    numbers = torch.arange(torch.Size(shape).numel(), device=DEVICE) % count
    return numbers.reshape(shape)


def theirs(name):
    """PyTorch's function."""
    module, _, function = F.DECLARATIONS[name].instead_of.rpartition(".")
    return getattr(importlib.import_module(module), function)


def close(actual, expected, tolerance=1e-4):
    for one, other in zip(torch.utils._pytree.tree_leaves(actual), torch.utils._pytree.tree_leaves(expected), strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)


# Of each function, calls in forms that PyTorch's takes: tensors first, then the options.
CALLS = {
    "amax": [
        ((plain(3, 4, 5),), {}),
        ((plain(3, 4, 5),), {"dim": 0}),
        ((plain(3, 4, 5),), {"dim": (0, 2)}),
        ((plain(3, 4, 5),), {"dim": [1, -1], "keepdim": True}),
        ((torch.tensor([[2.0, 2.0, 1.0], [0.0, 0.0, 0.0]], device=DEVICE),), {"dim": 1}),  # a first place that is shared
        ((plain(),), {}),
    ],
    "cross_entropy": [
        ((plain(6, 5), classes(6)), {}),
        ((plain(6, 5), classes(6)), {"ignore_index": 3, "reduction": "none"}),
        ((plain(2, 5, 3), classes(2, 3)), {"label_smoothing": 0.2}),
        ((plain(2, 5, 2, 2), classes(2, 2, 2), plain(5).abs()), {"label_smoothing": 0.3, "ignore_index": 1}),
        ((plain(6, 5), classes(6), plain(5).abs()), {"reduction": "sum"}),
        ((plain(6, 5), classes(6), plain(5).abs()), {"reduction": "none", "label_smoothing": 1.0}),
        ((plain(5), classes()), {"label_smoothing": 0.1}),
    ],
    "dropout": [((plain(20), 0.0), {}), ((plain(20), 1.0), {}), ((plain(20),), {"training": False})],
    "gelu": [((plain(4, 9),), {}), ((plain(4, 9).mT,), {"approximate": "tanh"})],
    "group_norm": [
        ((plain(2, 6, 5), 3, plain(6, seed=1), plain(6, seed=2)), {}),
        ((plain(2, 4), 2), {"eps": 0.1}),
        ((plain(1, 6, 5), 3, plain(6, seed=1)), {}),  # one sample, as in a gradient of each
    ],
    "layer_norm": [
        ((plain(4, 8), (8,), plain(8, seed=1), plain(8, seed=2)), {}),
        ((plain(4, 3, 8), [3, 8], plain(3, 8, seed=1)), {"eps": 0.1}),
        ((plain(4, 8), torch.Size([8])), {"bias": plain(8)}),
    ],
    "linear": [
        ((plain(2, 3, 8), plain(5, 8, seed=1), plain(5, seed=2)), {}),
        ((plain(8), plain(5, 8, seed=1)), {}),
        ((plain(0, 8), plain(5, 8, seed=1)), {}),
    ],
    "matmul": [
        ((plain(8), plain(8, seed=1)), {}),
        ((plain(8), plain(8, 5, seed=1)), {}),
        ((plain(3, 8), plain(8, seed=1)), {}),
        ((plain(2, 3, 8), plain(8, seed=1)), {}),
        ((plain(8), plain(2, 8, 5, seed=1)), {}),
        ((plain(2, 3, 8), plain(8, 5, seed=1)), {}),
        ((plain(3, 8), plain(2, 8, 5, seed=1)), {}),
        ((plain(2, 1, 3, 8), plain(4, 8, 5, seed=1)), {}),
        ((plain(2, 1, 3, 8), plain(1, 1, 1, 8, 5, seed=1)), {}),
        ((plain(0, 3, 8), plain(0, 8, 5)), {}),
    ],
    "rms_norm": [((plain(4, 8), (8,), plain(8, seed=1)), {}), ((plain(4, 3, 8), (3, 8)), {"eps": 0.1})],
    "scaled_dot_product_attention": [
        ((plain(2, 2, 5, 16), plain(2, 2, 7, 16, seed=1), plain(2, 2, 7, 16, seed=2)), {"is_causal": True}),
        ((plain(5, 16), plain(7, 16, seed=1), plain(7, 16, seed=2)), {"scale": 0.3}),
        ((plain(2, 5, 16), plain(2, 7, 16, seed=1), plain(2, 7, 8, seed=2)), {}),
        ((plain(1, 2, 5, 8), plain(1, 2, 7, 8, seed=1), plain(1, 2, 7, 16, seed=2)), {}),
        ((plain(1, 2, 5, 0), plain(1, 2, 7, 0), plain(1, 2, 7, 4)), {}),
        ((plain(2, 1, 4, 5, 16), plain(3, 2, 7, 16, seed=1), plain(3, 2, 7, 16, seed=2)), {"enable_gqa": True}),
    ],
    "softmax": [((plain(4, 9), -1), {}), ((plain(4, 9),), {"dim": 0}), ((classes(4, 3), 1), {"dtype": torch.float32})],
    "sum": [
        ((plain(3, 4, 5),), {}),
        ((plain(3, 4, 5), 1, True), {}),
        ((plain(3, 4, 5), (0, 2)), {"keepdim": True}),
        ((plain(3, 4, 5), [1, 2]), {}),
        ((plain(3, 4, 5), ()), {}),
        ((classes(3, 4), 0), {"dtype": torch.float32}),
        ((plain(), 0, True), {}),
    ],
}
EVERY = [pytest.param(name, number, id=f"{name}-{number}") for name in NAMES for number in range(len(CALLS[name]))]


def of_tensors(name, number):
    """A call as functions of its floating-point tensors, ours and PyTorch's; and those tensors."""
    arguments, options = CALLS[name][number]
    is_leaf = [isinstance(one, torch.Tensor) and one.is_floating_point() for one in arguments]
    if name == "cross_entropy":
        is_leaf[1:] = [False] * len(is_leaf[1:])  # PyTorch has no gradient of the weights of classes
    leaves = tuple(one for one, given in zip(arguments, is_leaf, strict=True) if given)

    def called(function):
        def call(*tensors):
            left = iter(tensors)
            filled = (next(left) if given else one for one, given in zip(arguments, is_leaf, strict=True))
            return function(*filled, **options)

        return call

    return called(getattr(F, name)), called(theirs(name)), leaves


def squares(function):
    return lambda *tensors: (function(*tensors) ** 2).sum()


def differentiable(name):
    return [number for number in range(len(CALLS[name])) if of_tensors(name, number)[2]]


GRADS = [pytest.param(name, number, id=f"{name}-{number}") for name in NAMES for number in differentiable(name)]
# Dropout asks for a randomness, in tests of its own; what broadcasts in attention is laid out before the kernel comes to it.
MAPPED = [one for one in GRADS if one.values[0] != "dropout" and one.id != "scaled_dot_product_attention-5"]


def test_every_function_is_declared_and_called():
    functions = {name for name in F.__all__ if inspect.isfunction(getattr(F, name))}
    assert functions == F.DECLARATIONS.keys() == CALLS.keys()


def parameters(function):
    found = inspect.signature(function).parameters.values()
    return [(one.name, one.default, one.kind is inspect.Parameter.KEYWORD_ONLY) for one in found]


@pytest.mark.parametrize("name", ["cross_entropy", "dropout", "group_norm", "layer_norm", "rms_norm", "softmax"])
def test_a_signature_is_pytorchs(name):
    assert parameters(getattr(F, name)) == parameters(theirs(name))


@pytest.mark.parametrize("name", ["amax", "gelu", "linear", "matmul", "scaled_dot_product_attention", "sum"])
def test_a_signature_is_that_of_pytorchs_operator(name):
    packet = getattr(torch.ops.aten, name)
    arguments = (packet.dim_IntList if name == "sum" else packet.default)._schema.arguments
    expected = [
        ("input" if one.name == "self" else one.name, () if one.default_value == [] else one.default_value, one.kwarg_only)
        for one in arguments
    ]
    given = [(n, None if d is inspect.Parameter.empty else d, kind) for n, d, kind in parameters(getattr(F, name))]
    assert given == expected


@pytest.mark.parametrize(("name", "number"), EVERY)
def test_results_and_gradients_are_pytorchs(name, number):
    ours, others, tensors = of_tensors(name, number)
    close(ours(*tensors), others(*tensors))
    leaves, again = ([one.clone().requires_grad_() for one in tensors] for _ in range(2))
    if leaves:
        close(torch.autograd.grad(squares(ours)(*leaves), leaves), torch.autograd.grad(squares(others)(*again), again))


@pytest.mark.parametrize(("name", "number"), GRADS)
def test_torch_func_finds_the_gradients(name, number):
    ours, others, tensors = of_tensors(name, number)
    places = tuple(range(len(tensors)))
    close(torch.func.grad(squares(ours), places)(*tensors), torch.func.grad(squares(others), places)(*tensors))


@pytest.mark.parametrize(("name", "number"), MAPPED)
@pytest.mark.parametrize("mapped", ["first", "all", "others"])
def test_vmap_finds_gradients_of_every_call(name, number, mapped):
    ours, others, tensors = of_tensors(name, number)
    dims = tuple(0 if mapped == "all" or (place == 0) == (mapped == "first") else None for place in range(len(tensors)))
    if not any(dim == 0 for dim in dims):
        dims = (0,) * len(tensors)
    many = [torch.stack([one, one * 0.5 + 0.1]) if dim == 0 else one for one, dim in zip(tensors, dims, strict=True)]
    places = tuple(range(len(tensors)))

    def found(function):
        return torch.vmap(torch.func.grad(squares(function), places), dims)(*many)

    close(torch.vmap(ours, dims)(*many), torch.vmap(others, dims)(*many))
    close(found(ours), found(others))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("dropout", "scaled_dot_product_attention")])
def test_gradients_of_gradients_and_jacobians(name):
    ours, others, tensors = of_tensors(name, 1 if name == "group_norm" else 0)
    places = tuple(range(len(tensors)))

    def twice(function):
        def steepness(*given):
            return torch.stack([(one**2).sum() for one in torch.func.grad(squares(function), places)(*given)]).sum()

        return torch.func.grad(steepness, places)(*tensors)

    close(twice(ours), twice(others), 1e-3)
    close(torch.func.jacrev(ours, places)(*tensors), torch.func.jacrev(others, places)(*tensors))


def test_the_jacobian_of_attention_is_pytorchs_and_a_second_gradient_is_refused():
    tensors = [plain(1, 1, 2, 16, seed=seed) for seed in range(3)]
    ours, others = (lambda *given, f=f: f(*given, is_causal=True) for f in
                    (F.scaled_dot_product_attention, torch.nn.functional.scaled_dot_product_attention))  # fmt: skip
    close(torch.func.jacrev(ours)(*tensors), torch.func.jacrev(others)(*tensors))
    steep = torch.func.grad(squares(ours))
    with pytest.raises(NotImplementedError, match="cannot be differentiated again"):
        torch.func.grad(lambda q: steep(q, *tensors[1:]).sum())(tensors[0])


@pytest.mark.parametrize("name", NAMES)
def test_forward_mode_is_refused_and_not_zero(name):
    ours, _, tensors = of_tensors(name, differentiable(name)[0])
    if name == "dropout":
        tensors, ours = (plain(9),), F.dropout
    with pytest.raises(NotImplementedError, match="jvp"):
        torch.func.jvp(ours, tensors, tensors)


def test_functional_call_gives_gradients_of_each_sample():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(plain(5, 8, seed=1))
            self.gain = torch.nn.Parameter(plain(8, seed=2))

        def forward(self, x):
            return F.linear(F.gelu(F.rms_norm(x, (8,), self.gain)), self.weight)

    net = Net()
    given = {name: parameter.detach() for name, parameter in net.named_parameters()}
    x, target = plain(4, 8), classes(4)

    def loss(parameters, x, target):
        return F.cross_entropy(torch.func.functional_call(net, parameters, (x[None],)), target[None])

    each = torch.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(given, x, target)
    for number in range(4):
        net.zero_grad()
        torch.nn.functional.cross_entropy(net(x[number : number + 1]), target[number : number + 1]).backward()
        close([each["weight"][number], each["gain"][number]], [net.weight.grad, net.gain.grad])


def test_dropout_under_vmap_asks_for_a_randomness_as_pytorch_does():
    x = torch.ones(4, 200, device=DEVICE)
    with pytest.raises(RuntimeError, match="randomness"):
        torch.vmap(F.dropout)(x)
    same = torch.vmap(F.dropout, randomness="same")(x)
    assert (same == same[0]).all() and {*same.unique().tolist()} == {0.0, 2.0}
    different = torch.vmap(F.dropout, randomness="different")(x)
    assert (different != different[0]).any(1)[1:].all() and {*different.unique().tolist()} == {0.0, 2.0}


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_dropout_under_vmap_drops_the_same_in_its_gradient(randomness):
    def kept(x):
        y, back = torch.func.vjp(F.dropout, x)
        return y, back(torch.ones_like(y))[0]

    y, dx = torch.vmap(kept, randomness=randomness)(torch.ones(3, 50, device=DEVICE))
    close(y, dx)


def test_dropout_in_a_transform_drops_the_same_in_its_gradient():
    y, back = torch.func.vjp(F.dropout, torch.ones(300, device=DEVICE))
    close(back(torch.ones_like(y))[0], y)


# Autocast


def dtype_under(function, arguments, options, device, chosen):
    """The result's dtype where autocast chose a dtype; on a GPU as fake tensors tell, which ask PyTorch's own lists."""
    with torch.autocast("cpu", chosen) if device == "cpu" else autocast_of_a_gpu(chosen):
        return function(*arguments, **options).dtype


class autocast_of_a_gpu:
    """`torch.autocast("cuda")`, which turns itself off where there is no GPU."""

    def __init__(self, chosen):
        self.chosen = chosen

    def __enter__(self):
        self.before = torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")
        torch.set_autocast_enabled("cuda", True)
        torch.set_autocast_dtype("cuda", self.chosen)

    def __exit__(self, *_):
        torch.set_autocast_enabled("cuda", self.before[0])
        torch.set_autocast_dtype("cuda", self.before[1])
        torch.clear_autocast_cache()


@pytest.mark.parametrize("given", [torch.float32, *REDUCED], ids=str)
@pytest.mark.parametrize("chosen", REDUCED, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_autocast_on_the_cpu_gives_pytorchs_dtype(name, chosen, given):
    arguments, options = CALLS[name][0]
    arguments = [one.to(given) if isinstance(one, torch.Tensor) and one.is_floating_point() else one for one in arguments]
    ours, others = (dtype_under(f, arguments, options, "cpu", chosen) for f in (getattr(F, name), theirs(name)))
    assert ours == others


@pytest.mark.parametrize("given", [torch.float32, *REDUCED], ids=str)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "scaled_dot_product_attention"])
def test_autocast_on_a_gpu_gives_pytorchs_dtype(name, given):
    arguments, options = CALLS[name][5 if name == "matmul" else 0]  # without a GPU PyTorch has no product of two vectors
    with FakeTensorMode(), warning_of_no_gpu():
        fake = [
            torch.empty(one.shape, dtype=given if one.is_floating_point() else one.dtype, device="cuda")
            if isinstance(one, torch.Tensor) else one for one in arguments
        ]  # fmt: skip
        ours, others = (dtype_under(f, fake, options, "cuda", torch.bfloat16) for f in (getattr(F, name), theirs(name)))
    assert ours == others


def warning_of_no_gpu():
    import warnings

    return warnings.catch_warnings(action="ignore")


def test_attention_is_among_pytorchs_functions_that_autocast_lowers_on_a_gpu():
    for function in ("scaled_dot_product_attention", "linear", "matmul"):
        assert torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{function}", "AutocastCUDA")
        assert F.DECLARATIONS[function].on_cuda == "chosen"


def test_autocast_lets_a_gradient_reach_a_weight_of_float32():
    x, weight = plain(4, 8), leaf(5, 8, seed=1)
    with torch.autocast(DEVICE, torch.bfloat16):
        y = F.linear(x, weight)
    y.float().sum().backward()
    assert y.dtype == torch.bfloat16 and weight.grad.dtype == torch.float32


# Fake tensors, tensors without memory, counted operations, graphs


@pytest.mark.parametrize(("name", "number"), EVERY)
def test_fake_tensors_and_those_without_memory_have_pytorchs_shapes(name, number):
    arguments, options = CALLS[name][number]
    expected = theirs(name)(*arguments, **options)
    with FakeTensorMode() as mode:
        fake = [mode.from_tensor(one) if isinstance(one, torch.Tensor) else one for one in arguments]
        options_of = {key: mode.from_tensor(one) if isinstance(one, torch.Tensor) else one for key, one in options.items()}
        found = getattr(F, name)(*fake, **options_of)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    empty = [one.to("meta") if isinstance(one, torch.Tensor) else one for one in arguments]
    options_of = {key: one.to("meta") if isinstance(one, torch.Tensor) else one for key, one in options.items()}
    found = getattr(F, name)(*empty, **options_of)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype) and found.is_meta


def counted(function, tensors):
    leaves = [one.clone().requires_grad_() for one in tensors]
    with FlopCounterMode(display=False) as counter:
        function(*leaves).sum().backward()
    return counter.get_total_flops()


@pytest.mark.parametrize(
    ("name", "number"), [("matmul", n) for n in (5, 6, 7)] + [("linear", 0), ("linear", 1)], ids=str
)
def test_products_count_as_many_operations_as_pytorchs(name, number):
    ours, others, tensors = of_tensors(name, number)
    assert counted(ours, tensors) == counted(others, tensors) > 0


def test_attention_counts_as_many_operations_as_pytorchs_fused_one():
    from torch.utils.flop_counter import sdpa_backward_flop_count, sdpa_flop_count

    q, k, v = (plain(2, 3, length, 16, seed=length) for length in (5, 7, 7))
    forward = sdpa_flop_count(q.shape, k.shape, v.shape)
    backward = sdpa_backward_flop_count(q.shape, q.shape, k.shape, v.shape)
    assert counted(lambda *t: F.scaled_dot_product_attention(*t, is_causal=True), (q, k, v)) == forward + backward


def test_operations_of_the_library_s_other_products_are_counted():
    x, weight = plain(6, 8), plain(5, 8, seed=1)
    with FlopCounterMode(display=False) as counter:
        torch.ops.blockwise.layer_norm_linear(x, None, None, weight, None, 1e-5, False)
        torch.ops.blockwise.linear_cross_entropy(
            x, weight, classes(6), None, -100, "mean", 0.0, 512, torch.float32, [True, True, False]
        )
    assert counter.get_total_flops() == 2 * 6 * 8 * 5 * (1 + 3)


DYNAMIC = [name for name in NAMES if name != "dropout"]


@pytest.mark.parametrize("name", DYNAMIC)
def test_a_compiler_leaves_the_first_size_open(name):
    number = {"matmul": 5, "softmax": 0, "sum": 2, "scaled_dot_product_attention": 0}.get(name, 0)
    ours, others, tensors = of_tensors(name, number)
    torch._dynamo.reset()
    count = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    compiled = torch.compile(ours, backend=BACKEND, fullgraph=True)
    first = tensors[0].clone().requires_grad_()
    rest = tensors[1:]
    if name in ("scaled_dot_product_attention", "cross_entropy"):
        close(compiled(first, *rest), others(first, *rest))
        return
    for copies in (1, 2):
        x = torch.cat([first] * copies).detach().requires_grad_()
        torch._dynamo.mark_dynamic(x, 0)
        close(compiled(x, *rest), others(x, *rest))
        compiled(x, *rest).sum().backward()
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == count + 1


def test_a_vmap_is_compiled():
    x = plain(3, 4, 8)
    torch._dynamo.reset()
    compiled = torch.compile(torch.vmap(lambda x: F.layer_norm(F.softmax(x, -1), (8,))), backend=BACKEND, fullgraph=True)
    close(compiled(x), torch.nn.functional.layer_norm(x.softmax(-1), (8,)))


# What is refused


REFUSED = {
    "dropout": [((plain(3),), {"inplace": True})],
    "cross_entropy": [
        ((plain(3, 4), plain(3, 4).softmax(1)), {}),
        ((plain(3, 4), classes(3)), {"size_average": True}),
        ((plain(3, 4), classes(3)), {"reduce": False}),
    ],
    "linear": [((plain(3, 4), plain(4)), {})],
    "matmul": [((plain(65, 2, 3), plain(65, 3, 2)), {})],
    "scaled_dot_product_attention": [
        ((plain(1, 1, 2, 16),) * 3, {"attn_mask": torch.ones(2, 2, dtype=torch.bool, device=DEVICE)}),
        ((plain(1, 1, 2, 16),) * 3, {"dropout_p": 0.1}),
    ],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_kernel_does_is_refused_in_a_sentence_that_names_pytorchs_function(name):
    for arguments, options in REFUSED[name]:
        theirs(name)(*arguments, **options)  # takes it
        with pytest.raises(NotImplementedError, match=r"use torch[.\w]+") as refused:
            getattr(F, name)(*arguments, **options)
        assert F.DECLARATIONS[name].instead_of in str(refused.value)


WRONG = {
    "amax": [(TypeError, (3,), {}), (ValueError, (plain(3), 1), {}), (ValueError, (plain(3, 3), (0, 0)), {}),
             (ValueError, (plain(0, 3), 0), {}), (TypeError, (classes(3),), {})],
    "cross_entropy": [(TypeError, (plain(3, 4), [1]), {}), (ValueError, (plain(3, 4), classes(2)), {}),
                      (ValueError, (plain(3, 4), classes(3, count=3)), {"label_smoothing": 1.5}),
                      (TypeError, (plain(3, 4), classes(3, count=3)), {"label_smoothing": "a"}),
                      (ValueError, (plain(3, 4), classes(3, count=3), plain(3)), {})],
    "dropout": [(ValueError, (plain(3), 1.5), {}), (TypeError, (plain(3), plain()), {}),
                (TypeError, (classes(3),), {"training": False})],
    "gelu": [(ValueError, (plain(3),), {"approximate": "best"}), (TypeError, (plain(3).double(),), {})],
    "group_norm": [(ValueError, (plain(2, 3), 2), {})],
    "layer_norm": [(ValueError, (plain(2, 3), (2,)), {}), (TypeError, (plain(2, 3), 3.0), {}),
                   (ValueError, (plain(2, 3), (3,), plain(2)), {}), (ValueError, (plain(2, 3), ()), {})],
    "linear": [(ValueError, (plain(2, 3), plain(5, 4)), {}), (ValueError, (plain(2, 3), plain(5, 3), plain(1)), {}),
               (TypeError, (plain(2, 3), None), {})],
    "matmul": [(ValueError, (plain(2, 3), plain(2, 3)), {}), (ValueError, (plain(), plain(3)), {}),
               (TypeError, (plain(2, 3), plain(3, 2).half()), {}), (ValueError, (plain(4, 2, 3), plain(5, 3, 2)), {})],
    "rms_norm": [(ValueError, (plain(2, 3), (4,)), {})],
    "scaled_dot_product_attention": [(ValueError, (plain(3), plain(3), plain(3)), {}),
                                     (ValueError, (plain(1, 2, 4, 8), plain(1, 2, 3, 8), plain(1, 2, 4, 8)), {}),
                                     (ValueError, (plain(2, 1, 4, 8), *(plain(3, 1, 4, 8),) * 2), {}),
                                     (ValueError, (plain(1, 2, 4, 8), *(plain(1, 3, 4, 8),) * 2), {}),
                                     (ValueError, (plain(1, 1, 2, 257),) * 3, {}), (ValueError, (plain(1, 1, 2, 0),) * 3, {})],
    "softmax": [(TypeError, (plain(3),), {}), (ValueError, (plain(3), 2), {}),
                (TypeError, (plain(3), 0), {"dtype": torch.float64})],
    "sum": [(TypeError, (plain(3), "a"), {}), (TypeError, (plain(3),), {"dtype": "float32"}),
            (ValueError, (plain(3), (0, 0)), {}), (TypeError, (classes(3),), {})],
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_wrong_arguments_are_errors_of_type_or_value(name):
    for error, arguments, options in WRONG[name]:
        with pytest.raises(error):
            getattr(F, name)(*arguments, **options)


def test_the_page_s_table_is_made_of_the_declarations():
    page = Path(kernels.__file__).parents[1] / "docs/reference/functional.md"
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| [`")]
    expected = []
    for name in NAMES:
        said = F.DECLARATIONS[name]
        assert said.instead_of == f"torch.{'' if name in ('amax', 'matmul', 'sum') else 'nn.functional.'}{name}"
        cells = (f"[`{name}`](#kernels.functional.{name})", *said[1:])
        expected.append(f"| {' | '.join(cells)} |")
    assert rows == expected


# PyTorch's own samples; those of the other functions are asked by the programs of snippets/outside


def test_pytorchs_own_samples_of_products_pass_or_are_refused(capsys, monkeypatch):
    # Some samples are so large that float16 overflows, in PyTorch's function too.
    monkeypatch.setattr("snippets.outside.samples.TYPES", [torch.float32])
    assert not ask("matmul", F.matmul, "matmul"), capsys.readouterr().out
    assert ": 0 passed" not in capsys.readouterr().out
