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
        return fake(*arguments)

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
    """`function`, but where a graph is recorded `in_graph`, which calls an operator."""

    @functools.wraps(function)
    def public(*arguments, **options):
        if torch.compiler.is_compiling():
            return in_graph(*arguments, **options)
        return function(*arguments, **options)

    public.__module__ = "kernels"
    return public
# --8<-- [end:recorded]


def wants_gradient(*tensors: torch.Tensor | None) -> bool:
    """Whether a gradient may be asked for through one of these."""
    return torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in tensors)
