"""The library's functions as operators of PyTorch: how each is defined, and how a call finds its operator.

Called eagerly, a function launches its kernels from Python, which costs the least. Where `torch.compile` or `torch.export`
records a graph, the same call becomes one operator, `torch.ops.blockwise.<name>`: a node that the compiler sees through
in one way only, by its fake, which says shape, dtype and strides of the result without computing it. The fake also checks the
arguments, so what a kernel does not take fails while the graph is recorded.

The operators themselves stand in the modules beside this one.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._pytree import tree_map_only

from kernels.common.arguments import INTERPRETED

LIBRARY = torch.library.Library("blockwise", "DEF")
# For operators whose launches share counters that outlive them, or that take a number from the host: `torch.compile` leaves
# them out of the CUDA graphs that it records. (A CUDA graph that you record yourself may hold those with counters.)
CUDAGRAPH_UNSAFE = (torch.Tag.cudagraph_unsafe,)


# --8<-- [start:operator]
def operator(
    schema: str,
    run: Callable,
    fake: Callable,
    backward: Callable | None = None,
    setup: Callable | None = None,
    tags: tuple[torch.Tag, ...] = (),
) -> Callable[..., Any]:
    """Define an operator of the namespace `blockwise`.

    Args:
        schema: Its name, arguments and results, as PyTorch writes them: `softmax(Tensor x, int dim) -> Tensor`.
        run: What it does, for tensors of a GPU, and for those of the CPU, which the interpreter serves.
        fake: The same for tensors without numbers: what comes out, or the error.
        backward: The gradients of the arguments, from the context and the gradients of the results. Without it the operator
            refuses to be differentiated.
        setup: Keeps in the context what `backward` needs.
        tags: What the compiler has to know beyond that.

    Returns:
        The operator, to be called like a function.
    """
    name = schema[: schema.index("(")]
    LIBRARY.define(schema, tags=(torch.Tag.pt2_compliant_tag, *tags))
    for key in ("CUDA", "CPU"):
        LIBRARY.impl(name, run, key)

    def fake_introduced(*arguments):
        if torch.__version__.startswith("2.11."):
            introduce(getattr(torch.ops.blockwise, name).default)
        return of_shapes(fake, *arguments)

    torch.library.register_fake(f"blockwise::{name}", fake_introduced, lib=LIBRARY)

    def refuse(*_):
        raise NotImplementedError(f"blockwise::{name} has no gradient; outside of graphs the functions of kernels have more")

    torch.library.register_autograd(f"blockwise::{name}", backward or refuse, setup_context=setup, lib=LIBRARY)
    return getattr(torch.ops.blockwise, name).default
# --8<-- [end:operator]


def introduce(overload: Any) -> None:
    """Tell Inductor of an operator before it meets it in a graph, where Inductor is what compiles.

    PyTorch 2.11 spells out the arguments of an operator that it does not know yet, and of each all that it was computed from.
    For the loss at the end of a deep model that text has no end.
    """
    lowering = sys.modules.get("torch._inductor.lowering")
    if lowering and overload not in lowering.lowerings:
        tag = torch._library.utils.get_layout_constraint_tag(overload)
        lowering.make_fallback(overload, layout_constraint=lowering.tag_to_layout_constraint(tag), warn=False)


# --8<-- [start:recorded]
def operator_in_graph(function: Callable, in_graph: Callable) -> Callable:
    """`function`, but `in_graph`, which calls an operator, where a graph is recorded or tensors have no numbers."""

    @functools.wraps(function)
    def public(*arguments, **options):
        if torch.compiler.is_compiling() or has_no_numbers(arguments[0] if arguments else options):
            return in_graph(*arguments, **options)
        return function(*arguments, **options)

    public.__module__ = "kernels"
    return public
# --8<-- [end:recorded]


def has_no_numbers(given: Any) -> bool:
    """Whether a first argument, or the named ones where all are named, tells of a call that asks for shapes alone."""
    if type(given) is dict:
        return any(map(has_no_numbers, given.values()))
    return type(given) is FakeTensor or getattr(given, "is_meta", False)


def of_shapes(fake: Callable, *arguments: Any) -> Any:
    """`fake(*arguments)`, where tensors of the meta device, which computes nothing, are taken for some that a kernel can reach.

    Raises:
        ValueError: The first tensor is of the meta device, and another is not.
    """
    if not arguments[0].is_meta:
        return fake(*arguments)
    with FakeTensorMode():
        results = fake(*tree_map_only(torch.Tensor, within_reach, arguments))
    return tree_map_only(torch.Tensor, functools.partial(empty_like_on, "meta"), results)


def within_reach(tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.is_meta:
        raise ValueError(f"expected tensors of the meta device only, as the first one is, got one on {tensor.device}")
    return empty_like_on("cpu" if INTERPRETED else "cuda", tensor)


def empty_like_on(device: str, tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)


def wants_gradient(*tensors: torch.Tensor | None) -> bool:
    """Whether a gradient may be asked for through one of these."""
    return torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in tensors)
