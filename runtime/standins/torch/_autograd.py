"""The tape: operations recorded as nodes, gradients pulled back through them, and functions with gradients of their own.

A node is also the `ctx` of a custom function, on which programs set attributes as they like. So all names here begin with `_`.
"""

import functools
import heapq
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch import _tensor
from torch._dtypes import FLOAT
from torch._settings import settings

_numbers = itertools.count()
AGAIN = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
    "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if "
    "you need to backward through the graph a second time or if you need to access saved tensors after calling backward."
)
CHANGED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: [{dtype!r} {shape}] is at "
    "version {now}; expected version {then} instead. Hint: enable anomaly detection to find the operation that failed to compute "
    "its gradient, with torch.autograd.set_detect_anomaly(True)."
)
UNUSED = (
    "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired "
    "behavior."
)


def is_tensor(value: Any) -> bool:
    return isinstance(value, _tensor.Tensor)


class Node:
    """One recorded operation: where gradients go next, what it kept, and how a gradient is pulled back through it."""

    def __init__(self, inputs: Sequence[Any], backward: Callable | None, saved: Sequence[Any] = (), outputs: int = 1):
        self._edges = [edge_of(value) for value in inputs]
        self._inputs_told = [(value.shape, value.dtype) if is_tensor(value) else None for value in inputs]
        self._backward, self._output_count, self._number = backward, outputs, next(_numbers)
        self._outputs_told: list[Any] = [None] * outputs
        self._keep(saved)

    def _keep(self, saved: Sequence[Any]) -> None:
        """Keep values for the way back, tensors with the version that they have now."""
        pack, self._unpack = settings.saved_tensors_hooks[-1] if settings.saved_tensors_hooks else (None, None)
        self._saved: list[tuple[Any, int | None, bool]] | None = []  # the value, its version, and is it packed?
        for value in saved:
            if not is_tensor(value):
                self._saved.append((value, None, False))
            elif pack:
                self._saved.append((pack(value.detach()), None, True))
            else:
                self._saved.append((value, value._storage.version, False))

    def _kept(self) -> list[Any]:
        if self._saved is None:
            raise RuntimeError(AGAIN)
        for value, version, _ in self._saved:
            if version is not None and value._storage.version != version:
                told = {"dtype": value.dtype, "shape": list(value.shape), "now": value._storage.version, "then": version}
                raise RuntimeError(CHANGED.format(**told))
        return [self._unpack(value) if packed else value for value, _, packed in self._saved]  # type: ignore[misc]

    def _pull(self, gradients: list[Any]) -> Sequence[Any]:
        """The gradients of the inputs; one may be a function that makes it when it is wanted."""
        return self._backward(gradients[0], *self._kept())  # type: ignore[misc]

    @property
    def next_functions(self) -> tuple:
        return tuple(edge if isinstance(edge, tuple) else (edge, 0) for edge in self._edges)

    def name(self) -> str:
        return type(self).__name__


@functools.cache
def node_type(name: str, base: type = Node) -> type:
    return type(name, (base,), {})


class Leaf:
    """What a tensor that no operation made has in place of a node."""

    def __init__(self, tensor: Any):
        self.tensor = tensor


Edge = tuple[Node, int] | Leaf | None


def edge_of(value: Any) -> Edge:
    if not is_tensor(value) or not value.requires_grad:
        return None
    if value._node is not None:
        return value._node, value._output_number
    if value._leaf is None:
        value._leaf = Leaf(value)
    return value._leaf


def recorded(name: str, output: Any, inputs: Sequence[Any], backward: Callable, *saved: Any) -> Any:
    """Put an output, just computed from the inputs, on the tape."""
    if settings.grad and output.dtype.kind >= FLOAT and any(is_tensor(value) and value.requires_grad for value in inputs):
        output.requires_grad, output._output_number = True, 0
        output._node = node = node_type(f"{name}Backward0")(inputs, backward, saved)
        node._outputs_told[0] = (output.shape, output.dtype)
    return output


def fitted(gradient: Any, told: tuple) -> Any:
    """A gradient in the shape and dtype of the input that it belongs to: what was broadcast is summed."""
    shape, dtype = told
    gradient = gradient if gradient.shape == shape else gradient.sum_to_size(shape)
    return gradient if gradient.dtype is dtype else gradient.to(dtype)


class Way:
    """One way back: gradients wait at their nodes, and the node that was recorded last goes first."""

    def __init__(self, targets: Sequence[Any] | None, keep: bool, create: bool):
        self.targets, self.keep, self.create = targets, keep, create
        self.wanted = {edge_of(target) for target in targets or ()}
        if None in self.wanted:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        self.leads: dict[Node, bool] = {}  # does anything wanted lie behind a node?
        self.found: dict[Edge, Any] = {}
        self.pending: dict[Node, list[Any]] = {}
        self.heap: list[tuple[int, Node]] = []

    def is_needed(self, edge: Edge) -> bool:
        if edge is None or self.targets is None:
            return edge is not None
        if edge in self.wanted or isinstance(edge, Leaf):
            return edge in self.wanted
        todo = [edge[0]]
        while todo:  # without recursion, for long chains
            node = todo[-1]
            ahead = [e[0] for e in node._edges if isinstance(e, tuple) and e not in self.wanted and e[0] not in self.leads]
            if node not in self.leads and ahead:
                todo += ahead
                continue
            todo.pop()
            self.leads[node] = any(
                e is not None and (e in self.wanted or (isinstance(e, tuple) and self.leads.get(e[0], False)))
                for e in node._edges
            )
        return self.leads[edge[0]]

    def give(self, edge: Edge, gradient: Any) -> None:
        if edge in self.wanted:
            self.found[edge] = gradient if edge not in self.found else self.found[edge] + gradient
        if isinstance(edge, Leaf):
            if self.targets is None:
                self.settle(edge.tensor, gradient)
        elif edge is not None and self.is_needed(edge):
            node, number = edge
            if node not in self.pending:
                self.pending[node] = [None] * node._output_count
                heapq.heappush(self.heap, (-node._number, node))
            before = self.pending[node][number]
            self.pending[node][number] = gradient if before is None else before + gradient

    def settle(self, leaf: Any, gradient: Any) -> None:
        """A leaf takes its gradient."""
        for hook in leaf._leaf_hooks:
            changed = hook(gradient)
            gradient = gradient if changed is None else changed
        gradient = gradient if self.create else gradient.detach().clone()
        leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient

    def go(self, roots: Sequence[Any], gradients: Sequence[Any]) -> None:
        before, settings.grad = settings.grad, self.create
        try:
            for root, gradient in zip(roots, gradients, strict=True):
                self.give(edge_of(root), gradient)
            while self.heap:
                _, node = heapq.heappop(self.heap)
                pulled = node._pull(self.pending.pop(node))
                for edge, told, gradient in zip(node._edges, node._inputs_told, pulled, strict=False):
                    if edge is not None and gradient is not None and self.is_needed(edge):
                        made = gradient if is_tensor(gradient) else gradient()
                        if made is not None:
                            self.give(edge, fitted(made, told))
                if not self.keep and node._saved:
                    node._saved = None
        finally:
            settings.grad = before


def beginnings(outputs: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """The gradients at the outputs, where none is given a one."""
    gradients = []
    for output, gradient in zip(outputs, given, strict=True):
        if not output.requires_grad:
            raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
        if gradient is None and output.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if gradient is not None and gradient.shape != output.shape:
            shapes = f"grad_output[0] has a shape of {gradient.shape} and output[0] has a shape of {output.shape}."
            raise RuntimeError(f"Mismatch in shape: {shapes}")
        gradients.append(_tensor.tensor_of(np.ones(output.shape), output.dtype) if gradient is None else gradient)
    return gradients


def several(value: Any) -> tuple:
    return (value,) if is_tensor(value) else tuple(value)


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    allow_unused: bool | None = None, is_grads_batched: bool = False,
) -> tuple:  # fmt: skip
    if is_grads_batched:
        raise NotImplementedError("the stand-in for PyTorch has no is_grads_batched")
    outputs, inputs = several(outputs), several(inputs)
    given = [None] * len(outputs) if grad_outputs is None else several(grad_outputs)
    way = Way(inputs, create_graph if retain_graph is None else retain_graph, create_graph)
    way.go(outputs, beginnings(outputs, given))
    found = tuple(way.found.get(edge_of(value)) for value in inputs)
    if any(gradient is None for gradient in found) and not allow_unused:
        raise RuntimeError(UNUSED)
    return found


def backward(output: Any, gradient: Any, retain_graph: bool | None, create_graph: bool) -> None:
    way = Way(None, create_graph if retain_graph is None else retain_graph, create_graph)
    way.go([output], beginnings([output], [gradient]))


# Switching it on and off


class Switch:
    """Recording on or off: as a context, several times over, or around a function."""

    def __init__(self, on: bool):
        self.on, self.before = on, list[bool]()

    def __enter__(self) -> None:
        self.before.append(settings.grad)
        settings.grad = self.on

    def __exit__(self, *error: object) -> None:
        settings.grad = self.before.pop()

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def switched(*given: Any, **named: Any) -> Any:
            with Switch(self.on):
                return function(*given, **named)

        return switched


def no_grad(function: Callable | None = None) -> Any:
    return Switch(False)(function) if function else Switch(False)


def enable_grad(function: Callable | None = None) -> Any:
    return Switch(True)(function) if function else Switch(True)


def inference_mode(mode: Any = True) -> Any:
    return Switch(False)(mode) if callable(mode) else Switch(not mode)


class set_grad_enabled(Switch):
    """Counts at once, and as a context until its end."""

    def __init__(self, on: bool):
        super().__init__(on)
        self.first, settings.grad = settings.grad, on

    def __enter__(self) -> None:
        self.before.append(self.first)


# Functions with a gradient of their own


class FunctionCtx(Node):
    _dirty: tuple = ()
    _materialize = True
    _not_differentiable: tuple = ()
    _to_save: tuple = ()
    _is_recorded = False

    def __init__(self) -> None:
        pass  # it becomes a node when there are outputs

    def save_for_backward(self, *tensors: Any) -> None:
        self._to_save = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._not_differentiable = tensors

    def set_materialize_grads(self, on: bool) -> None:
        self._materialize = on

    @property
    def saved_tensors(self) -> tuple:
        return tuple(self._kept()) if self._is_recorded else self._to_save

    def _pull(self, gradients: list[Any]) -> Sequence[Any]:
        if self._materialize:
            told = zip(gradients, self._outputs_told, strict=True)
            gradients = [g if g is not None or t is None else _tensor.tensor_of(np.zeros(t[0]), t[1]) for g, t in told]
        pulled = self._function.backward(self, *gradients)  # type: ignore[attr-defined]
        pulled = pulled if isinstance(pulled, tuple) else (pulled,)
        expected = len(self._edges)
        if len(pulled) < expected or any(gradient is not None for gradient in pulled[expected:]):
            counts = f"expected {expected}, got {len(pulled)}"
            raise RuntimeError(f"function {type(self).__name__} returned an incorrect number of gradients ({counts})")
        return pulled


class Function:
    @classmethod
    def apply(cls, *given: Any) -> Any:
        ctx = node_type(f"{cls.__name__}Backward", FunctionCtx)()
        ctx._function = cls
        ctx.needs_input_grad = tuple(is_tensor(value) and value.requires_grad for value in given)
        with Switch(False):
            if any("setup_context" in vars(base) for base in cls.__mro__):
                output = cls.forward(*given)  # type: ignore[attr-defined]
                cls.setup_context(ctx, given, output)  # type: ignore[attr-defined]
            else:
                output = cls.forward(ctx, *given)  # type: ignore[attr-defined]
        outputs = list(output) if isinstance(output, tuple) else [output]
        if settings.grad and any(ctx.needs_input_grad):
            Node.__init__(ctx, given, None, (), len(outputs))
            ctx._is_recorded = True
            outputs = [cls._marked(ctx, number, value, given) for number, value in enumerate(outputs)]
            # What was saved and also given back is kept as what is given back, which is on the tape.
            ctx._keep([next((value for value in outputs if value is saved), saved) for saved in ctx._to_save])
        return tuple(outputs) if isinstance(output, tuple) else outputs[0]

    @staticmethod
    def _marked(ctx: Any, number: int, output: Any, given: tuple) -> Any:
        """An output as one of this function's node, if it can have a gradient."""
        if not is_tensor(output):
            return output
        ctx._outputs_told[number] = (output.shape, output.dtype)
        if output.dtype.kind < FLOAT or any(output is value for value in ctx._not_differentiable):
            return output
        if any(output is value for value in given) and not any(output is value for value in ctx._dirty):
            output = output.detach()
        output.requires_grad, output._node, output._output_number = True, ctx, number
        return output


def once_differentiable(function: Callable) -> Callable:
    @functools.wraps(function)
    def once(ctx: Any, *gradients: Any) -> Any:
        with Switch(False):
            output = function(ctx, *gradients)
        inputs = [gradient for gradient in gradients if is_tensor(gradient)]
        if not settings.grad or not any(gradient.requires_grad for gradient in inputs):
            return output

        def refuse(*_: Any) -> None:
            raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")

        outputs = output if isinstance(output, tuple) else (output,)
        return tuple(recorded("Error", one.detach(), inputs, refuse) if is_tensor(one) else one for one in outputs)

    return once
