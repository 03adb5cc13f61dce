"""Products of matrices under PyTorch's names, with any dimensions."""

import math

import torch

from kernels.common.arguments import check_float_tensor
from kernels.functional.batching import batched, folded, in_front, one_by_one, parted
from kernels.functional.forms import CHOSEN, check_tensors, form, in_autocast, shared_shape
from kernels.functional.transforms import is_transformed
from kernels.matmul.matmul import Matmul, check_matmul_arguments, matmul_forward
from kernels.operators.products import matmul_operator
from kernels.operators.register import wants_gradient

# Of a batch whose matrices differ on both sides, each product is a launch; from here on PyTorch's one launch is the right tool.
MOST_PRODUCTS = 64


def map_matmul(info, dims, a, b, bias, activation, autotune, keep):
    options = (bias, activation, autotune, keep)
    if dims[2] is None and dims[1] is None:
        c, z = matmul_operator(folded(info, a, dims[0]), b, *options)
        return (parted(info, c), parted(info, z) if z.ndim == 2 else z), (0, 0 if z.ndim == 2 else None)
    if dims[0] is None and bias is None:
        columns = in_front(info, b, dims[1]).transpose(0, 1).flatten(1)
        found = matmul_operator(a, columns, *options)
        c, z = (one.unflatten(1, (info.batch_size, -1)) if one.ndim == 2 else one for one in found)
        return (c, z), (1, 1 if z.ndim == 3 else None)
    return one_by_one(matmul_operator)(info, dims, a, b, *options)


matmul_batched = batched(matmul_operator, map_matmul)


class MatmulTransformed(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(a, b, bias):
        return matmul_batched(a, b, bias, None, False, False)[0]

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b, bias = inputs
        ctx.bias_dtype = None if bias is None else bias.dtype
        ctx.save_for_backward(a, b)

    @staticmethod
    def backward(ctx, dc):
        a, b = ctx.saved_tensors
        needed = ctx.needs_input_grad
        da = MatmulTransformed.apply(dc, b.mT, None) if needed[0] else None
        db = MatmulTransformed.apply(a.mT, dc, None) if needed[1] else None
        dbias = None if ctx.bias_dtype is None else dc.sum(0, dtype=torch.float32).to(ctx.bias_dtype)
        return da, db, dbias


def product(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """The product of two matrices."""
    check_matmul_arguments(a, b, bias, None)
    if is_transformed(a, b, bias):
        return MatmulTransformed.apply(a, b, bias)
    if torch.compiler.is_compiling():
        return matmul_operator(a, b, bias, None, False, False)[0]
    if wants_gradient(a, b, bias):
        return Matmul.apply(a, b, bias, None, False)
    return matmul_forward(a, b, bias, None, False)[0]


def products(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Products of matrices in two batches, of shapes that broadcast; one launch where a side has one matrix for all."""
    before = shared_shape("input, other", "batches", a.shape[:-2], b.shape[:-2])
    shape = (*before, a.shape[-2], b.shape[-1])
    if 0 in shape or not a.shape[-1]:
        return a @ b  # nothing to multiply
    if math.prod(b.shape[:-2]) == 1:
        rows = a.expand(*before, *a.shape[-2:]).flatten(0, -2)
        return product(rows, b.reshape(b.shape[-2:])).view(shape)
    if math.prod(a.shape[:-2]) == 1:
        columns = b.mT.expand(*before, *b.mT.shape[-2:]).flatten(0, -2)
        return product(columns, a.reshape(a.shape[-2:]).mT).view(*before, b.shape[-1], a.shape[-2]).mT
    count = math.prod(before)
    if count > MOST_PRODUCTS:
        raise NotImplementedError(
            f"{count} products of matrices that differ on both sides would be as many launches, and at most {MOST_PRODUCTS} are "
            "taken here; use torch.matmul, which does them in one"
        )
    a, b = (one.expand(*before, *one.shape[-2:]).reshape(count, *one.shape[-2:]) for one in (a, b))
    return torch.stack([product(one, other) for one, other in zip(a.unbind(), b.unbind(), strict=True)]).view(shape)


@form(
    "torch.matmul",
    composed="More than two dimensions: rows of all matrices become those of one where the other side has one matrix; else a "
    f"launch for each product, up to {MOST_PRODUCTS}.",
    refused=f"more than {MOST_PRODUCTS} products of matrices that differ on both sides",
    cuda=CHOSEN,
    cpu=CHOSEN,
)
def matmul(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """`torch.matmul`, computed by `kernels.matmul`: vectors, matrices, and batches of them that broadcast.

    Raises:
        NotImplementedError: There are more than 64 products whose matrices differ on both sides.

    Examples:
        >>> import kernels.functional as F
        >>> F.matmul(torch.ones(2, 3, 4), torch.ones(4, 5)).shape
        torch.Size([2, 3, 5])
    """
    check_tensors(input=input, other=other)
    if input.is_meta:
        return torch.matmul(input, other)
    a, b = in_autocast("matmul", input, other)
    check_float_tensor("input", a)
    check_float_tensor("other", b)
    if not a.ndim or not b.ndim:
        raise ValueError("input, other: expected at least one dimension in each, got a tensor without")
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise ValueError(f"other: expected {a.shape[-1]} rows, the columns of input of {tuple(a.shape)}, got {tuple(b.shape)}")
    left, right = a if a.ndim > 1 else a[None], b if b.ndim > 1 else b[:, None]
    found = products(left, right)
    if b.ndim == 1:
        found = found.squeeze(-1)
    return found.squeeze(-1 if b.ndim == 1 else -2) if a.ndim == 1 else found


@form(
    "torch.nn.functional.linear",
    refused="a `weight` of one dimension, a `bias` that has to be broadcast",
    cuda=CHOSEN,
    cpu=CHOSEN,
)
def linear(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """`torch.nn.functional.linear`, computed by `kernels.matmul`; the bias is added before the result is rounded.

    Examples:
        >>> import kernels.functional as F
        >>> F.linear(torch.ones(2, 3, 4), torch.ones(5, 4), torch.ones(5)).shape
        torch.Size([2, 3, 5])
    """
    check_tensors("bias", input=input, weight=weight, bias=bias)
    if weight.ndim == 1:
        raise NotImplementedError("weight of one dimension is not taken here; use torch.matmul or torch.nn.functional.linear")
    if input.is_meta:
        return torch.nn.functional.linear(input, weight, bias)
    x, weight, bias = in_autocast("linear", input, weight, bias)
    check_float_tensor("input", x)
    if not x.ndim or weight.ndim != 2 or weight.shape[1] != x.shape[-1]:
        raise ValueError(f"weight: expected shape (out, {x.shape[-1] if x.ndim else 'in'}), got {tuple(weight.shape)}")
    if bias is not None and bias.shape != weight.shape[:1]:
        expected = f"shape ({weight.shape[0]},), one number for each row of weight"
        raise ValueError(f"bias: expected {expected}, got {tuple(bias.shape)}")
    y = product(x.reshape(math.prod(x.shape[:-1]), x.shape[-1]), weight.mT, bias)
    return y.view(*x.shape[:-1], weight.shape[0])
