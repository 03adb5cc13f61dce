"""GELU and dropout under PyTorch's names."""

import torch

from kernels.activations.gelu import Gelu, gelu_forward
from kernels.common.arguments import check_approximate, check_float_tensor, check_probability
from kernels.dropout.dropout import Dropout, dropout_forward
from kernels.functional.batching import batched, in_front, one_by_one
from kernels.functional.forms import check_tensors, form, refuse
from kernels.functional.transforms import is_transformed, through_reference
from kernels.operators.dropout import dropout_again_operator, dropout_drawn_operator, dropout_in_graph, dropout_operator
from kernels.operators.elements import gelu_backward_operator, gelu_operator
from kernels.operators.register import wants_gradient


def map_gelu(info, dims, x, bias, approximate):
    if dims[1] is not None:
        return one_by_one(gelu_operator)(info, dims, x, bias, approximate)
    return gelu_operator(in_front(info, x, dims[0]), bias, approximate), 0


def map_gelu_backward(info, dims, x, bias, dy, approximate):
    if bias is not None:
        return one_by_one(gelu_backward_operator)(info, dims, x, bias, dy, approximate)
    x, dy = in_front(info, x, dims[0]), in_front(info, dy, dims[2])
    dx, nothing = gelu_backward_operator(x, None, dy, approximate)
    return (dx, nothing), (0, None)


gelu_batched = batched(gelu_operator, map_gelu)
gelu_backward_batched = batched(gelu_backward_operator, map_gelu_backward)


class GeluTransformed(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, approximate):
        return gelu_batched(x, None, approximate)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.approximate = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, dy):
        return GeluSlope.apply(*ctx.saved_tensors, dy, ctx.approximate), None


class GeluSlope(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, dy, approximate):
        return gelu_backward_batched(x, None, dy, approximate)[0]

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, dy, ctx.approximate = inputs
        ctx.save_for_backward(x, dy)

    @staticmethod
    def backward(ctx, ddx):
        def reference(x, dy):
            return torch.ops.aten.gelu_backward(dy.float(), x.float(), approximate=ctx.approximate).to(x.dtype)

        return *through_reference(reference, ctx.saved_tensors, ddx), None


@form("torch.nn.functional.gelu")
def gelu(input: torch.Tensor, *, approximate: str = "none") -> torch.Tensor:
    """`torch.nn.functional.gelu`, computed by `kernels.gelu`.

    Examples:
        >>> import kernels.functional as F
        >>> F.gelu(torch.tensor([-1.0, 0.0, 1.0]), approximate="tanh")
        tensor([-0.1588,  0.0000,  0.8412])
    """
    check_tensors(input=input)
    if input.is_meta:
        return torch.nn.functional.gelu(input, approximate=approximate)
    check_float_tensor("input", input)
    check_approximate("approximate", approximate)
    if is_transformed(input):
        return GeluTransformed.apply(input, approximate)
    if torch.compiler.is_compiling():
        return gelu_operator(input, None, approximate)
    return Gelu.apply(input, None, approximate) if wants_gradient(input) else gelu_forward(input, None, approximate)


def one_mask(x, p, seed):
    """What a call with this seed multiplies a tensor like `x` by."""
    return dropout_again_operator(torch.ones_like(x), p, seed)


def map_dropout(info, dims, x, p, seed, residual):
    """One seed, given by the caller: every call drops the same elements."""
    x = in_front(info, x, dims[0])
    y = x * dropout_operator(torch.ones_like(x[0]), p, seed, None)
    return y if residual is None else y + in_front(info, residual, dims[3]), 0


def map_dropout_again(info, dims, dy, p, seed):
    if dims[2] is not None:
        return one_by_one(dropout_again_operator)(info, dims, dy, p, seed)
    dy = in_front(info, dy, dims[0])
    return dy * one_mask(dy[0], p, seed), 0


def map_dropout_drawn(info, dims, x, p, residual, call):
    if info.randomness == "error":
        raise RuntimeError("vmap: dropout draws numbers; say randomness='different' or 'same' to torch.vmap")
    x = in_front(info, x, dims[0])
    # The rule runs below the mode that would make these numbers a mapped tensor of their own.
    with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.FuncTorchVmapMode)):
        seed = torch.randint(2**63 - 1, (info.batch_size,) if info.randomness == "different" else ())
    seed_dim = 0 if seed.ndim else None
    y = map_dropout_again(info, (0, None, seed_dim), x, p, seed)[0]
    return (y if residual is None else y + in_front(info, residual, dims[2]), seed), (0, seed_dim)


dropout_batched = batched(dropout_operator, map_dropout)
dropout_again_batched = batched(dropout_again_operator, map_dropout_again)
dropout_drawn_batched = batched(dropout_drawn_operator, map_dropout_drawn)


class DropoutTransformed(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, p):
        return dropout_drawn_batched(x, p, None, torch.empty(0))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.p = inputs[1]
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1])

    @staticmethod
    def backward(ctx, dy, _):
        return DropoutAgain.apply(dy, ctx.p, *ctx.saved_tensors), None


class DropoutAgain(torch.autograd.Function):
    """The gradient, which is the same operation with the same seed."""

    generate_vmap_rule = True

    @staticmethod
    def forward(dy, p, seed):
        return dropout_again_batched(dy, p, seed)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.p, seed = inputs
        ctx.save_for_backward(seed)

    @staticmethod
    def backward(ctx, ddx):
        return DropoutAgain.apply(ddx, ctx.p, *ctx.saved_tensors), None, None


@form(
    "torch.nn.functional.dropout",
    composed="The random numbers are the library's: the same seed of `torch.manual_seed` drops other elements than PyTorch does.",
    refused="`inplace=True`; `p` as a tensor or a bool; float64 and integers, also where nothing is dropped",
)
def dropout(input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:
    """`torch.nn.functional.dropout`, computed by `kernels.dropout`, which draws a seed from PyTorch's default generator.

    Which elements are dropped differs from PyTorch, whose generator is another.

    Raises:
        NotImplementedError: `inplace` is true.

    Examples:
        >>> import kernels.functional as F
        >>> x = torch.ones(1000)
        >>> F.dropout(x, 0.5).unique()
        tensor([0., 2.])
        >>> F.dropout(x, 0.5, training=False) is x
        True
    """
    check_tensors(input=input)
    if inplace:
        refuse("dropout", "inplace=True")
    if input.is_meta:
        return torch.nn.functional.dropout(input, p, training)
    check_float_tensor("input", input)
    check_probability("p", p)
    if not training:
        return input
    if is_transformed(input):
        return DropoutTransformed.apply(input, p)[0]
    if torch.compiler.is_compiling():
        return dropout_in_graph(input, p)
    seed = int(torch.randint(2**63 - 1, ()))
    return Dropout.apply(input, p, seed, None) if wants_gradient(input) else dropout_forward(input, p, seed, None)
