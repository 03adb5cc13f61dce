"""PyTorch's own samples of a function's arguments, given to a function of ours: what passed, what was refused, what failed."""

# --8<-- [start:samples]
import importlib.util
import math
import sys
import types
import unittest
from collections import Counter

import torch

# Of half precision four steps: what goes into a product of blocks, such as a slope, is rounded to it on the way.
TOLERANCES = {torch.float32: 1e-5, torch.float16: 2**-8, torch.bfloat16: 2**-5}
ON_GPU = torch.cuda.is_available()
DEVICE = "cuda" if ON_GPU else "cpu"
TYPES = [torch.float32, torch.float16, torch.bfloat16] if ON_GPU else [torch.float32, torch.float16]

# --8<-- [end:samples]


# --8<-- [start:verdict]
def tensors_of(value):
    """A result or the arguments of a call, flat: the tensors of floating-point numbers alone."""
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
    return [tensor for part in parts for tensor in tensors_of(part)]


def exact(value):
    """The same arguments in float64, with gradients to come where the given ones have them."""
    if isinstance(value, torch.Tensor):
        return value.detach().double().requires_grad_(value.requires_grad) if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: exact(part) for key, part in value.items()}
    return type(value)(exact(part) for part in value) if type(value) in (tuple, list) else value


def gradients(result, arguments):
    """Of the sum of squares of a result, to each argument that has one: its way back gets numbers that differ."""
    leaves = [tensor for tensor in tensors_of(arguments) if tensor.requires_grad]
    total = torch.zeros(1, dtype=torch.float64, device=DEVICE)
    for y in tensors_of(result):
        total = total + (y.double() ** 2).sum()
    return torch.autograd.grad(total, leaves, allow_unused=True) if leaves and total.requires_grad else ()


def answers(function, call):
    """A call's results, and its gradients."""
    result = function(*call[0], **call[1])
    return tensors_of(result), gradients(result, call)


def furthest(found, expected):
    return (found.double() - expected).abs().max().item()


def largest(tensors):
    """The largest number in some tensors, 1 at least; where one of them is not finite, 1."""
    found = [tensor.abs().max().item() for tensor in tensors if tensor is not None and tensor.numel()]
    # Not by max: in a published program that is the kernel's.
    return sorted([1.0, *found])[-1] if all(map(math.isfinite, found)) else 1.0


def nudged(value):
    """The same arguments in float64, each number a step of its dtype away, up or down."""
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        step = torch.finfo(value.dtype).eps * (2 * torch.randint_like(value, 2) - 1)
        return (value.detach().double() * (1 + step)).requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {key: nudged(part) for key, part in value.items()}
    return type(value)(nudged(part) for part in value) if type(value) in (tuple, list) else value


def verdict(ours, theirs, call):
    """`passed`; or `refused` or `failed`, with the reason."""
    expected = answers(theirs, exact(call))
    try:
        found = answers(ours, call)
    except (TypeError, ValueError, NotImplementedError) as error:
        return f"refused: {str(error).splitlines()[0]}"
    for kind, name in enumerate(("result", "gradient")):
        # The largest of all gradients of a call: one that cancels to almost nothing is made of numbers as large as the others.
        scale = largest(expected[kind])
        for number, (one, other) in enumerate(zip(found[kind], expected[kind], strict=True)):
            if one is None and other is None:
                continue
            if one is None or other is None or one.shape != other.shape:
                return f"failed: {name} {number} is missing, or has another shape"
            bound = TOLERANCES[one.dtype]
            close = torch.allclose(one.double(), other, bound, bound * scale, equal_nan=True)
            # Where sums cancel, a step in an argument moves the exact result further: twice so far is the bound then.
            if not close and not furthest(one, other) <= 2 * furthest(answers(theirs, nudged(call))[kind][number], other):
                given = [f"{tuple(tensor.shape)}" for tensor in tensors_of(call)]
                return f"failed: {name} {number} is off by {furthest(one, other):.1e} at {', '.join(given)}"
    return "passed"

# --8<-- [end:verdict]


# --8<-- [start:ask]
def operations():
    """PyTorch's list of operations. The module with its tests asks for a package that the samples have no need of."""
    if "expecttest" not in sys.modules and importlib.util.find_spec("expecttest") is None:
        sys.modules["expecttest"] = types.SimpleNamespace(TestCase=unittest.TestCase)
    from torch.testing._internal.common_methods_invocations import op_db

    return op_db


def ask(title, ours, name, variant=""):
    """Print what came of all samples of PyTorch's function `name`; return how many failed."""
    (operation,) = [one for one in operations() if (one.name, one.variant_test_name) == (name, variant)]
    counts, reasons = Counter(), Counter()
    torch.manual_seed(0)
    for dtype in TYPES:
        for sample in operation.sample_inputs(DEVICE, dtype, requires_grad=operation.supports_autograd):
            call = ((sample.input, *sample.args), dict(sample.kwargs))
            said = verdict(ours, operation.op, call)
            counts[said.partition(":")[0]] += 1
            reasons[said] += said != "passed"
    print(f"{title}: {counts['passed']} passed, {counts['refused']} refused, {counts['failed']} failed")
    for reason, count in reasons.most_common():
        if count:
            print(f"    {count} {reason}")
    return counts["failed"]
# --8<-- [end:ask]
