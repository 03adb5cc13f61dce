"""The library inside `torch.compile` and `torch.export`: every function is an operator, forward and backward."""

import contextlib
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch._dynamo.testing
from torch._subclasses.fake_tensor import FakeTensorMode

import kernels
from kernels.operators.in_graphs import IN_GRAPHS
from kernels.operators.register import introduce
from tests.kernels.numerics import random
from tests.needs import needs

BACKEND = "inductor" if torch.cuda.is_available() else "aot_eager"
DTYPE = torch.float16
CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def leaf(*shape, dtype=torch.float32, seed=0):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return random(*shape, dtype=dtype, device=device, seed=seed).requires_grad_()


def plain(*shape, **options):
    return leaf(*shape, **options).detach()


def classes(*shape):
    return (torch.arange(torch.Size(shape).numel()) % 7).reshape(shape).to(plain(1).device)


def starts(*rows):
    return torch.tensor(rows, dtype=torch.int32, device=plain(1).device)


def eight(*shape, seed=0):
    return plain(*shape, seed=seed).to(torch.float8_e4m3fn)


CASES = {
    "add": [
        lambda: (leaf(5, 7), leaf(5, 7, seed=1)),
        lambda: (leaf(4, 1, dtype=DTYPE), leaf(6, seed=1)),
        lambda: (leaf(6, 5).mT, leaf(6, 5, seed=1).mT),
    ],
    "add_rms_norm": [
        lambda: (leaf(5, 20), leaf(5, 20, seed=1), leaf(20, seed=2)),
        lambda: (leaf(2, 3, 20), plain(2, 3, 20, seed=1), None, 1e-6),
    ],
    "attention": [
        lambda: (leaf(1, 2, 5, 16), leaf(1, 2, 5, 16, seed=1), leaf(1, 2, 5, 16, seed=2), True),
        lambda: (leaf(5, 1, 2, 16, dtype=DTYPE).permute(1, 2, 0, 3), *(leaf(1, 1, 7, 16, dtype=DTYPE, seed=s) for s in (1, 2)),
                 False, -0.5, True),
    ],
    "attention_packed": [
        lambda: (leaf(9, 2, 16), leaf(9, 2, 16, seed=1), leaf(9, 2, 16, seed=2), starts(0, 3, 9), starts(0, 3, 9), True),
        lambda: (plain(9, 2, 16), plain(8, 1, 16), plain(8, 1, 16, seed=2), starts(0, 3), starts(0, 8), False, None, True),
    ],
    "cross_entropy": [
        lambda: (leaf(6, 9), classes(6)),
        lambda: (leaf(6, 9), classes(6), 3, "none"),
        lambda: (leaf(2, 9, 3), classes(2, 3), 0, "sum"),
        lambda: (leaf(8), classes()),
    ],
    "dropout": [lambda: (leaf(3, 50), 0.3, 7), lambda: (leaf(40), 0.5, 2**64 - 3, leaf(40, seed=1))],
    "geglu": [lambda: (leaf(4, 33), leaf(4, 33, seed=1)), lambda: (*leaf(4, 32).chunk(2, -1), "none")],
    "gelu": [
        lambda: (leaf(4, 33),),
        lambda: (leaf(4, 33, dtype=DTYPE), leaf(33, dtype=DTYPE, seed=1), "tanh"),
        lambda: (leaf(6, 5).mT[:, 1:],),
    ],
    "group_norm": [
        lambda: (leaf(2, 6, 5, 3), 3, leaf(6, seed=1), leaf(6, seed=2)),
        lambda: (leaf(2, 4, 7, dtype=DTYPE), 1, leaf(4, seed=1), None, 1e-3),
        lambda: (plain(3, 8), 4),
    ],
    "histogram": [lambda: (plain(300), 10), lambda: (plain(30, 10), 700, -2.0, 2.0), lambda: (classes(90), 5)],
    "layer_norm": [
        lambda: (leaf(5, 20), leaf(20, seed=1), leaf(20, seed=2)),
        lambda: (leaf(2, 3, 20),),
        lambda: (leaf(20, 5).mT, leaf(20, seed=1), None, 1e-3),
    ],
    "layer_norm_linear": [
        lambda: (leaf(2, 5, 16), leaf(16, seed=1), leaf(16, seed=2), leaf(8, 16, seed=3), leaf(8, seed=4)),
        lambda: (leaf(5, 16), None, None, leaf(8, 16, seed=3)),
    ],
    "linear_cross_entropy": [
        lambda: (leaf(6, 8), leaf(9, 8, seed=1), classes(6), leaf(9, seed=2)),
        lambda: (leaf(2, 3, 8), leaf(9, 8, seed=1), classes(2, 3)),
        lambda: (leaf(6, 8), leaf(9, 8, seed=1), classes(12)[::2]),
        lambda: (leaf(6, 8, dtype=DTYPE), plain(9, 8, dtype=DTYPE, seed=1), classes(6)),
    ],
    "matmul": [
        lambda: (leaf(17, 24), leaf(24, 9, seed=1)),
        lambda: (leaf(17, 24), leaf(9, 24, seed=1).mT, leaf(9, seed=2), "gelu"),
        lambda: (leaf(17, 24, dtype=DTYPE), leaf(24, 9, dtype=DTYPE, seed=1), None, "relu"),
        lambda: (plain(17, 24), plain(24, 9, seed=1), plain(9, seed=2), "silu"),
    ],
    "max": [lambda: (leaf(6, 11),), lambda: (leaf(6, 11), 1), lambda: (leaf(3, 4, 5), -2)],
    "moe": [
        lambda: (plain(5, 8), plain(5, 3, seed=1), *(plain(3, 6, 8, seed=s) for s in (2, 3)), plain(3, 8, 6, seed=4), 2),
        lambda: (plain(8, 5, dtype=DTYPE).mT, plain(5, 4), *plain(4, 12, 8, dtype=DTYPE).chunk(2, 1),
                 plain(4, 8, 6, dtype=DTYPE), 1, False),
    ],
    "rms_norm": [lambda: (leaf(5, 20), leaf(20, seed=1)), lambda: (leaf(2, 3, 20), None, 1e-6)],
    "rotary_embedding": [
        lambda: (leaf(2, 3, 5, 8), leaf(2, 1, 5, 8, seed=1), plain(5, 4, seed=2), plain(5, 4, seed=3)),
        lambda: (leaf(2, 5, 3, 8).mT.mT.transpose(1, 2), leaf(2, 3, 5, 8, seed=1), plain(1, 5, 8), plain(1, 5, 8, seed=3)),
    ],
    "scaled_matmul": [
        lambda: (eight(17, 32), eight(16, 32, seed=1).mT, plain(17, 1).abs(), plain(1, 16).abs(), plain(16)),
        lambda: (eight(17, 32), eight(16, 32, seed=1).mT, plain(1).abs(), plain(1).abs(), None, torch.float32),
    ],
    "softmax": [lambda: (leaf(5, 40),), lambda: (leaf(3, 4, 5), 1), lambda: (leaf(),), lambda: (leaf(40, 5, dtype=DTYPE).mT,)],
    "sum": [lambda: (leaf(6, 50),), lambda: (leaf(6, 50), -1), lambda: (leaf(3, 4, 5, dtype=DTYPE), 0)],
    "swiglu": [lambda: (leaf(4, 33), leaf(4, 33, seed=1)), lambda: leaf(4, 32).chunk(2, -1)],
}
EACH = [pytest.param(name, make, id=f"{name}-{i}") for name, makers in CASES.items() for i, make in enumerate(makers)]


def recorded_calls(name, arguments):
    """The operators that a graph of the function holds, each with what it is given."""
    calls = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if function.namespace == "blockwise":
                calls.append((function, args))
            return function(*args, **(kwargs or {}))

    with Watch():
        outputs = tensors(IN_GRAPHS[name](*arguments))
        found = [output for output in outputs if output.requires_grad]
        if found:
            torch.autograd.backward(found, [torch.ones_like(output) for output in found])
    return calls


def tensors(result):
    return list(result) if isinstance(result, tuple) else [result]


def gradients(function, arguments):
    """The results of a call, and the gradients of whatever wants one."""
    outputs = tensors(function(*arguments))
    leaves = [argument for argument in arguments if isinstance(argument, torch.Tensor) and argument.requires_grad]
    found = [output for output in outputs if output.requires_grad]
    assert bool(leaves) == bool(found)
    weights = [random(*output.shape, dtype=output.dtype, device=str(output.device), seed=9) for output in found]
    return outputs, torch.autograd.grad(found, leaves, weights) if leaves else ()


@pytest.fixture(autouse=True)
def compile_anew():
    torch.compiler.reset()


def test_every_public_function_is_covered():
    assert set(CASES) == set(IN_GRAPHS) == set(kernels.__all__)


@pytest.mark.parametrize("name, make", EACH)
def test_compiles_into_one_graph_with_equal_results(name, make):
    arguments = make()
    expected, expected_gradients = gradients(getattr(kernels, name), arguments)
    # Inductor takes its time, so on a GPU it has one case of each function, and the others show that the graph is right.
    backend = BACKEND if make is CASES[name][0] else "aot_eager"
    compiled = torch.compile(getattr(kernels, name), fullgraph=True, backend=backend)
    found, found_gradients = gradients(compiled, arguments)
    for one, other in zip(found, expected, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if name == "cross_entropy":  # where a gradient is wanted, eagerly one kernel finds both
            torch.testing.assert_close(one, other)
        else:
            assert torch.equal(one, other), "the same kernels give the same bits"
    for one, other in zip(found_gradients, expected_gradients, strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name, make", EACH)
def test_opcheck(name, make):
    calls = recorded_calls(name, make())
    assert calls[0][0].__name__.split(".")[0] in (name, "norm", "gated_unit", "max_along", "attention")
    for function, arguments in calls:
        # Leaves again: what the function made of its arguments on the way belongs to a graph already.
        first = function is calls[0][0]
        fresh = [a.detach().requires_grad_(a.requires_grad and first) if isinstance(a, torch.Tensor) else a for a in arguments]
        if name == "scaled_matmul":  # PyTorch cannot compare 8-bit floats, by which it tells whether an argument was changed
            before = [a.view(torch.uint8).clone() for a in fresh[:2]]
            torch.library.opcheck(function, tuple(fresh), test_utils=[test for test in CHECKS if test != "test_schema"])
            assert all(torch.equal(a.view(torch.uint8), b) for a, b in zip(fresh, before, strict=False))
        else:
            torch.library.opcheck(function, tuple(fresh), test_utils=CHECKS)


@pytest.mark.parametrize("name", [name for name in CASES if name != "scaled_matmul"])
def test_a_size_may_change_without_a_new_graph(name):
    compiled = torch.compile(getattr(kernels, name), fullgraph=True, backend="aot_eager", dynamic=True)
    for arguments in (CASES[name][0](), CASES[name][0]()):
        expected = tensors(getattr(kernels, name)(*arguments))
        for one, other in zip(tensors(compiled(*arguments)), expected, strict=True):
            assert torch.equal(one, other)


# Arguments whose first dimension, where it is as long as the first one's, is a batch.
BATCHES = {
    "add": lambda n: (leaf(n, 7), leaf(n, 7, seed=1)),
    "add_rms_norm": lambda n: (leaf(n, 3, 20), leaf(n, 3, 20, seed=1), leaf(20, seed=2)),
    "attention": lambda n: tuple(leaf(n, 2, 5, 16, seed=seed) for seed in range(3)),
    "cross_entropy": lambda n: (leaf(n, 20), classes(n)),
    "dropout": lambda n: (leaf(n, 20), 0.5, 7),
    "geglu": lambda n: (leaf(n, 20), leaf(n, 20, seed=1)),
    "gelu": lambda n: (leaf(n, 20),),
    "group_norm": lambda n: (leaf(n, 4, 5), 2, leaf(4), leaf(4)),
    "histogram": lambda n: (plain(n, 5), 4),
    "layer_norm": lambda n: (leaf(n, 3, 20), leaf(20, seed=1), leaf(20, seed=2)),
    "layer_norm_linear": lambda n: (leaf(n, 3, 20), leaf(20), leaf(20), leaf(8, 20, seed=1), leaf(8)),
    "linear_cross_entropy": lambda n: (leaf(n, 20), leaf(11, 20, seed=1), classes(n)),
    "matmul": lambda n: (leaf(n, 20), leaf(20, 8, seed=1)),
    "max": lambda n: (leaf(n, 20), 1),
    "rms_norm": lambda n: (leaf(n, 3, 20), leaf(20, seed=1)),
    "rotary_embedding": lambda n: (leaf(n, 3, 5, 8), leaf(n, 1, 5, 8, seed=1), plain(5, 4), plain(5, 4, seed=3)),
    "softmax": lambda n: (leaf(n, 3, 20),),
    "sum": lambda n: (leaf(n, 20), 1),
    "swiglu": lambda n: (leaf(n, 20), leaf(n, 20, seed=1)),
}

def batched(arguments: tuple) -> list[torch.Tensor]:
    n = arguments[0].shape[0]
    return [a for a in arguments if isinstance(a, torch.Tensor) and a.shape[0] == n]


@pytest.mark.parametrize("name", BATCHES)
def test_one_compilation_serves_every_batch_forward_and_backward(name):
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    torch._dynamo.reset()
    compiled = torch.compile(getattr(kernels, name), fullgraph=True, backend=counter)
    for n in (9, 13, 14, 17):
        arguments = BATCHES[name](n)
        for tensor in batched(arguments):
            torch._dynamo.mark_dynamic(tensor, 0)
        found, expected = tensors(compiled(*arguments)), tensors(getattr(kernels, name)(*arguments))
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other)
        if found[0].requires_grad:
            leaves = [a for a in arguments if isinstance(a, torch.Tensor) and a.requires_grad]
            ones = (torch.autograd.grad(y.sum(), leaves) for y in (found[0], expected[0]))
            torch.testing.assert_close(*ones)
    assert counter.frame_count == 1


class Called(torch.nn.Module):
    def __init__(self, name: str):
        super().__init__()
        self.function = getattr(kernels, name)

    def forward(self, *arguments):
        return self.function(*arguments)


@pytest.mark.parametrize("name", BATCHES)
def test_an_export_keeps_the_batch_open(name):
    given, other = ([a.detach() if isinstance(a, torch.Tensor) else a for a in BATCHES[name](n)] for n in (23, 37))
    n = torch.export.Dim("n", min=2)
    shapes = tuple({0: n} if any(a is b for b in batched(tuple(given))) else None for a in given)
    exported = torch.export.export(Called(name), tuple(given), dynamic_shapes=(shapes,))
    found, expected = tensors(exported.module()(*other)), tensors(getattr(kernels, name)(*other))
    for one, another in zip(found, expected, strict=True):
        torch.testing.assert_close(one, another)


WRONG = {name: makers[0] for name, makers in CASES.items() if name not in ("histogram", "scaled_matmul")}


@pytest.mark.parametrize("name", WRONG)
def test_another_dtype_fails_while_the_graph_is_recorded(name):
    first, *rest = WRONG[name]()
    arguments = [first.detach().double(), *rest]
    with pytest.raises(TypeError) as eager:
        getattr(kernels, name)(*arguments)
    with pytest.raises(Exception) as compiled:
        torch.compile(getattr(kernels, name), fullgraph=True, backend="eager")(*arguments)
    assert type(compiled.value).__module__.startswith("torch._dynamo")
    assert str(eager.value) in str(compiled.value)


@pytest.mark.parametrize(
    "name, arguments, message",
    [
        ("histogram", lambda: (plain(5).double(), 4), "x: expected dtype float32, float16, bfloat16, uint8, int32 or int64"),
        ("histogram", lambda: (plain(5), 4, 0.0), "min, max: expected both or neither, got 0.0 and None"),
        ("scaled_matmul", lambda: (plain(4, 4), eight(4, 4), plain(1), plain(1)), "a: expected dtype float8_e4m3fn, got float32"),
        ("softmax", lambda: (plain(4, 4), 2), "dim: expected a dimension from -2 to 1 for shape (4, 4), got 2"),
        ("add", lambda: (plain(4, 4), plain(3)), "y: expected a shape that broadcasts with x's (4, 4), got (3,)"),
        ("matmul", lambda: (plain(4, 4), plain(4, 4), None, "tanh"), "activation: expected None, 'relu', 'gelu', 'gelu_tanh'"),
        ("max", lambda: (plain(0),), "x: expected at least one element, got shape (0,)"),
        ("cross_entropy", lambda: (plain(4, 4), classes(3)), "target: expected shape (4,) for logits of (4, 4), got (3,)"),
    ],
    ids=range(8),
)
def test_other_bad_input_fails_while_the_graph_is_recorded(name, arguments, message):
    with pytest.raises(Exception) as error:
        torch.compile(getattr(kernels, name), fullgraph=True, backend="eager")(*arguments())
    assert type(error.value).__module__.startswith("torch._dynamo")
    assert message in str(error.value)


def test_a_cpu_tensor_without_the_interpreter_fails_while_the_graph_is_recorded():
    program = """
import torch, kernels
try:
    torch.compile(kernels.softmax, fullgraph=True, backend="eager")(torch.ones(3, 3))
except torch._dynamo.exc.TorchRuntimeError as error:
    assert "x: expected a CUDA tensor, got one on cpu; either move it to a CUDA device" in str(error), error
    print("refused")
"""
    environment = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=root, env=environment)
    assert run.stdout == "refused\n", run.stderr


def test_a_seed_that_changes_needs_no_new_graph(device):
    x = plain(1000)
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(lambda x, seed: kernels.dropout(x, 0.5, seed), fullgraph=True, backend=counter)
    for seed in (3, 2**40, 2**62, 12345, 99):
        assert torch.equal(compiled(x, seed), kernels.dropout(x, 0.5, seed))
    assert counter.frame_count <= 2


def test_a_seed_that_is_drawn_is_drawn_for_each_call_and_again_backward():
    x = torch.ones_like(plain(4000)).requires_grad_()

    def twice(x):
        return kernels.dropout(x, 0.5), kernels.dropout(x, 0.5)

    compiled = torch.compile(twice, fullgraph=True, backend=BACKEND)
    torch.manual_seed(0)
    first, second = compiled(x)
    assert not torch.equal(first, second)
    (dx,) = torch.autograd.grad(first.sum() + 3 * second.sum(), x)
    assert torch.equal(dx, first.detach() + 3 * second.detach()), "kept elements are the ones with a gradient"
    torch.manual_seed(0)
    assert torch.equal(compiled(x)[0], first) and not torch.equal(compiled(x)[0], first)


def test_statistics_and_activations_that_were_not_kept_are_found_again():
    a, b, bias = leaf(9, 16), leaf(16, 8, seed=1), leaf(8, seed=2)
    kept, lost = (torch.ops.blockwise.matmul(a, b, bias, "gelu", False, keep)[0] for keep in (True, False))
    for one, other in zip(*(torch.autograd.grad(c.sum(), (a, b, bias)) for c in (kept, lost)), strict=True):
        torch.testing.assert_close(one, other)
    x, weight = leaf(9, 16), leaf(16, seed=1)
    kept, lost = (torch.ops.blockwise.norm(x, weight, None, 1e-5, True, keep)[0] for keep in (True, False))
    for one, other in zip(*(torch.autograd.grad(y.square().sum(), (x, weight)) for y in (kept, lost)), strict=True):
        torch.testing.assert_close(one, other)
    weight = leaf(8, 16, seed=1)
    run = torch.ops.blockwise.layer_norm_linear
    kept, lost = (run(x, None, None, weight, None, 1e-5, keep)[0] for keep in (True, False))
    for one, other in zip(*(torch.autograd.grad(y.square().sum(), (x, weight)) for y in (kept, lost)), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(("k", "n"), [(0, 5), (8, 0)])
def test_rows_and_outputs_of_no_numbers_have_gradients_in_a_graph(k, n):
    x, weight, bias = leaf(2, 3, k), leaf(n, k, seed=1), leaf(n, seed=2)

    def theirs(x, weight, bias):
        return torch.nn.functional.linear(torch.nn.functional.layer_norm(x, (k,)), weight, bias)

    compiled = torch.compile(
        lambda x, *linear: kernels.layer_norm_linear(x, None, None, *linear), fullgraph=True, backend="aot_eager"
    )
    (found,), found_gradients = gradients(compiled, (x, weight, bias))
    (expected,), expected_gradients = gradients(theirs, (x, weight, bias))
    torch.testing.assert_close((found, *found_gradients), (expected, *expected_gradients))


def test_gradients_of_gradients_are_refused_by_an_operator():
    x = leaf(3, 8)
    with pytest.raises(NotImplementedError, match="blockwise::softmax_backward has no gradient"):
        (dx,) = torch.autograd.grad(torch.ops.blockwise.softmax(x, -1).square().sum(), x, create_graph=True)
        dx.sum().backward()


def test_tables_that_want_a_gradient_are_refused_in_a_graph_too():
    q, table = plain(2, 3, 5, 8), leaf(5, 4)
    with pytest.raises(Exception, match="cos, sin: expected tables that require no gradient"):
        torch.compile(kernels.rotary_embedding, fullgraph=True, backend="eager")(q, q, table, table)


@pytest.mark.parametrize("name", CASES)
def test_exports(name):
    class Model(torch.nn.Module):
        def forward(self, *arguments):
            return getattr(kernels, name)(*arguments)

    arguments = tuple(a.detach() if isinstance(a, torch.Tensor) else a for a in CASES[name][0]())
    exported = torch.export.export(Model(), arguments)
    assert any("blockwise" in str(node.target) for node in exported.graph.nodes)
    for one, other in zip(tensors(exported.module()(*arguments)), tensors(getattr(kernels, name)(*arguments)), strict=True):
        assert torch.equal(one, other)


def kinds(result):
    return [(output.shape, output.dtype, output.requires_grad) for output in tensors(result)]


def without_numbers(convert, arguments):
    """The arguments with `convert` of each tensor, a leaf where the tensor wants a gradient."""
    return [convert(a.detach()).requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else a for a in arguments]


@pytest.mark.parametrize("kind", ["meta", "fake"])
@pytest.mark.parametrize("name, make", EACH)
def test_called_eagerly_tensors_without_numbers_have_the_shapes_of_those_with(name, make, kind):
    arguments = make()
    expected = kinds(getattr(kernels, name)(*arguments))
    fake = FakeTensorMode()
    given = without_numbers(fake.from_tensor if kind == "fake" else lambda a: a.to("meta"), arguments)
    with fake if kind == "fake" else contextlib.nullcontext():
        outputs = tensors(getattr(kernels, name)(*given))
        assert kinds(tuple(outputs)) == expected and all(output.device == given[0].device for output in outputs)
        leaves = [argument for argument in given if isinstance(argument, torch.Tensor) and argument.requires_grad]
        found = [output for output in outputs if output.requires_grad]
        slopes = torch.autograd.grad(found, leaves, [torch.empty_like(output) for output in found]) if found else ()
    assert [slope.shape for slope in slopes] == [one.shape for one in leaves]


def test_of_tensors_without_numbers_the_wrong_ones_are_told_as_ever():
    x, weight = plain(4, 8).to("meta"), plain(8)
    message = f"^expected tensors of the meta device only, as the first one is, got one on {weight.device}$"
    with pytest.raises(ValueError, match=message):
        kernels.rms_norm(x, weight)
    with pytest.raises(ValueError, match=r"^weight: expected shape \(8,\), .*, got \(7,\)$"):
        kernels.rms_norm(x=x, weight=weight[:7].to("meta"))
    with pytest.raises(TypeError, match=r"^q: expected dtype float32, float16 or bfloat16, got float64$"):
        kernels.attention(*[torch.empty(1, 1, 4, 16, dtype=torch.float64, device="meta")] * 3)


def test_shapes_need_neither_a_gpu_nor_the_interpreter():
    program = """
import torch, kernels, kernels.nn as nn
x, head = torch.empty(2, 4, 6, 16, device="meta"), torch.empty(9, 16, device="meta")
print(*kernels.attention(x, x, x).shape, *kernels.matmul(x[0, 0], head.mT).shape, *nn.SwiGLU(16, 24, device="meta")(x).shape)
print(kernels.linear_cross_entropy(x, head, torch.empty(2, 4, 6, dtype=torch.int64, device="meta")).device)
"""
    environment = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=root, env=environment)
    assert run.stdout == "2 4 6 16 6 9 2 4 6 16\nmeta\n", run.stderr


def test_called_eagerly_a_function_is_what_it_was():
    for name in kernels.__all__:
        function = getattr(kernels, name).__wrapped__
        assert function is getattr(sys.modules[function.__module__], name) and function.__module__.endswith(f".{name}")
    x = plain(4, 4)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        kernels.softmax(x)
    assert not any("blockwise" in event.name for event in profile.events())


def test_an_operator_is_introduced_to_inductor_once(monkeypatch):
    lowering, overload = importlib.import_module("torch._inductor.lowering"), torch.ops.blockwise.linear_cross_entropy.default
    monkeypatch.delitem(lowering.lowerings, overload, raising=False)
    introduce(overload)
    introduced = lowering.lowerings[overload]
    introduce(overload)
    assert lowering.lowerings[overload] is introduced
    assert lowering.maybe_layout_constraints(overload) is lowering.constrain_to_fake_tensors


@needs("cuda")
def test_what_an_operator_is_given_is_not_spelled_out_in_a_graph(device, monkeypatch):
    """PyTorch 2.11 would, and below a model of some layers that takes longer than anybody waits."""
    lowering, issue = (importlib.import_module(f"torch._inductor.{name}") for name in ("lowering", "exc"))
    monkeypatch.delitem(lowering.lowerings, torch.ops.blockwise.linear_cross_entropy.default, raising=False)
    monkeypatch.setattr(issue.OperatorIssue, "operator_str", lambda target, *_: pytest.fail(f"spelled out: {target}"))
    weights = [random(32, 32, seed=seed, device=device) / 6 for seed in range(24)]
    head, target = random(70, 32, seed=30, device=device), classes(64)

    def loss_of(x):
        total = x
        for weight in weights:
            x, total = kernels.add_rms_norm(x @ weight, total, None)
        return kernels.linear_cross_entropy(x, head, target)

    x = random(64, 32, seed=31, device=device)
    with torch._inductor.config.patch(force_disable_caches=True):
        torch.testing.assert_close(torch.compile(loss_of, fullgraph=True)(x), loss_of(x))


@needs("cuda")
def test_a_compiled_model_trains_as_the_eager_one(device):
    torch.manual_seed(0)
    x, target = torch.randn(64, 128, device=device), torch.randint(0, 40, (64,), device=device)
    weights = [torch.randn(40, 128, device=device) / 10, torch.ones(128, device=device), torch.zeros(128, device=device)]

    def loss_of(weight, scale, shift):
        z = kernels.layer_norm_linear(x, scale, shift, weight)
        return kernels.cross_entropy(kernels.gelu(z), target) + kernels.sum(kernels.softmax(z) ** 2)

    results = []
    for function in (loss_of, torch.compile(loss_of, fullgraph=True), torch.compile(loss_of, mode="reduce-overhead")):
        leaves = [weight.clone().requires_grad_() for weight in weights]
        for _ in range(3):
            loss = function(*leaves)
            grads = torch.autograd.grad(loss, leaves)
        results.append([loss.detach().clone(), *(grad.clone() for grad in grads)])
    for other in results[1:]:
        for one, expected in zip(other, results[0], strict=True):
            torch.testing.assert_close(one, expected)
