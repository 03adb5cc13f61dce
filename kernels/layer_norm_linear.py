"""Layer norm and the linear layer after it.

    y = n W^T + b,    n[i] = (x[i] - mean) * rstd * ln_weight[i] + ln_bias[i]

For m rows of k numbers and n outputs it takes 2mnk floating-point operations. A layer norm of its own writes n and the
product reads it again, 2mke bytes for e bytes a number.
"""

import math
from collections.abc import Callable

import torch

from kernels.common.arguments import check_float_tensor, check_same_device, several_gpus
from kernels.matmul.dispatch import MOST_LAUNCHES, prepare_launch
from kernels.matmul.epilogue import Epilogue
from kernels.matmul.matmul import Matmul, matmul_forward
from kernels.matmul.plan import matmul_plan
from kernels.norm.forward import norm_tile_launch
from kernels.norm.norm import NORM_FORWARD, Norm, check_norm_arguments, norm_forward, norm_route


def check_layer_norm_linear_arguments(x, ln_weight, ln_bias, weight, bias, eps) -> None:
    """Raise TypeError or ValueError unless layer norm and a linear layer can be taken with these."""
    check_norm_arguments(x, ln_weight, ln_bias, eps, prefix="ln_")
    dtype, device = x.dtype, x.device
    if not (isinstance(weight, torch.Tensor) and weight.dtype == dtype and weight.device == device):
        check_float_tensor("weight", weight)  # says what is wrong with it
        if weight.dtype != dtype:
            expected, found = (str(dtype).removeprefix("torch.") for dtype in (x.dtype, weight.dtype))
            raise TypeError(f"weight: expected dtype {expected}, the dtype of x, got {found}")
        check_same_device("weight", weight, "x", x)
    n_outputs, n_columns = weight.shape if weight.ndim == 2 else (-1, -1)
    if n_columns != x.shape[-1]:
        expected = f"two dimensions and {x.shape[-1]} columns, the last dimension of x"
        raise ValueError(f"weight: expected {expected}, got shape {tuple(weight.shape)}")
    if bias is not None:
        if not (isinstance(bias, torch.Tensor) and bias.dtype == dtype and bias.device == device):
            check_float_tensor("bias", bias)
            check_same_device("bias", bias, "x", x)
        if bias.ndim != 1 or bias.shape[0] != n_outputs:
            expected = f"shape ({n_outputs},), one number for each row of weight"
            raise ValueError(f"bias: expected {expected}, got {tuple(bias.shape)}")


# The launches for arguments that were found right, by all that the checks and the choice of kernels look at.
PAIRS: dict[tuple, Callable] = {}


def layer_norm_linear_key(x, ln_weight, ln_bias, weight, bias, eps) -> tuple:
    """What decides whether these arguments fit together, and which launches serve them; empty if they are not even tensors."""
    try:
        return (
            x.shape, x.stride(), x.dtype, x.device, x.is_neg(),
            weight.shape, weight.stride(), weight.dtype, weight.device, weight.is_neg(), weight.data_ptr() % 16,
            ln_weight is None or (ln_weight.shape, ln_weight.stride(), ln_weight.dtype, ln_weight.device, ln_weight.is_neg()),
            ln_bias is None or (ln_bias.shape, ln_bias.stride(), ln_bias.dtype, ln_bias.device, ln_bias.is_neg()),
            bias is None or (bias.shape, bias.stride(), bias.dtype, bias.device, bias.is_neg()),
            type(eps), x.dtype == torch.float32 and torch.backends.cuda.matmul.fp32_precision,
        )  # fmt: skip
    except (AttributeError, TypeError):
        return ()


def layer_norm_linear_pair(x, ln_weight, ln_bias, weight, bias) -> Callable:
    """The launches for right arguments of these shapes and strides, to be called with them."""
    plain = x.ndim == 2 and x.stride(1) == 1 and x.numel() and weight.numel()
    if not plain or any(t is not None and (t.is_neg() or t.stride()[-1] != 1) for t in (x, ln_weight, ln_bias, bias, weight)):
        # Something is copied first, or there is nothing to launch.
        def both(x, ln_weight, ln_bias, weight, bias, eps):
            rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
            y = matmul_forward(norm_forward(rows, ln_weight, ln_bias, eps, True)[0], weight.t(), bias, None, False)[0]
            return y.view(*x.shape[:-1], weight.shape[0])

        return both
    normal, y_shape = torch.empty_like(x, memory_format=torch.contiguous_format), (x.shape[0], weight.shape[0])
    route = norm_route(*x.shape, x.stride(0), x.element_size(), True)
    if route == "tile":
        norm = norm_tile_launch(*x.shape, x.stride(0), normal.stride(0), x.element_size(), True)
    else:
        norm = NORM_FORWARD[route]
    product = prepare_launch(normal, weight.t(), x.new_empty(y_shape), Epilogue(None, bias), matmul_plan(normal, weight.t()))
    beside = torch.empty_like if x.is_contiguous() else lambda x: x.new_empty(x.shape)

    def pair(x, ln_weight, ln_bias, weight, bias, eps):
        normal, y = beside(x), x.new_empty(y_shape)
        norm(x, ln_weight, ln_bias, normal, None, None, float(eps))
        product(normal, weight.t(), y, Epilogue(None, bias))
        return y

    if not several_gpus():
        return pair

    def pair_on_its_device(x, *others):
        with torch.cuda.device_of(x):
            return pair(x, *others)

    return pair_on_its_device


def layer_norm_linear(
    x: torch.Tensor,
    ln_weight: torch.Tensor | None,
    ln_bias: torch.Tensor | None,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    eps: float = 1e-5,
) -> torch.Tensor:
    """Normalize every row of `x` and apply a linear layer, as `layer_norm` and `linear` of `torch.nn.functional` do.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.tensor([[1.0, 2.0, 3.0]], device=device)
        weight = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]], device=device)
        print(kernels.layer_norm_linear(x, None, None, weight).cpu())
        #> tensor([[-1.2247,  2.4495]])
        ```

    Args:
        x: A tensor of one dimension or more, the last of k numbers; float32, float16 or bfloat16.
        ln_weight: What each element of a normalized row is multiplied by, of shape `(k,)`. None stands for ones.
        ln_bias: What is added to it, likewise. None stands for zeros.
        weight: The linear layer's matrix, of n rows and k columns, of the dtype of `x`.
        bias: What is added to each output, of shape `(n,)`. None stands for zeros.
        eps: Added to the variance, so that a constant row becomes zeros and not NaN.

    Returns:
        A tensor of the shape of `x`, but for n numbers in its last dimension, of the dtype of `x`. The mean is subtracted
            before anything is multiplied, so that rows whose mean is far from zero lose no digits.

    Raises:
        TypeError: An argument is not a tensor or has another dtype, the dtypes of `x` and `weight` differ, or `eps` is not
            a number.
        ValueError: A shape does not fit that of `x` or `weight`, the tensors lie on different devices, or a CPU tensor
            came while Triton's interpreter is off.

    Differentiable, any number of times.

    Bytes:
        For m rows and e bytes a number, (3mk + nk)e read and (mk + mn)e written.

    Flops:
        2mnk for the product, and about 8mk for the norm.

    Source:
        J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer normalization", 2016 (arXiv:1607.06450).
    """
    key = layer_norm_linear_key(x, ln_weight, ln_bias, weight, bias, eps)
    launch = PAIRS.get(key)
    if launch is None:
        check_layer_norm_linear_arguments(x, ln_weight, ln_bias, weight, bias, eps)
        if len(PAIRS) >= MOST_LAUNCHES:
            PAIRS.clear()
        launch = PAIRS[key] = layer_norm_linear_pair(x, ln_weight, ln_bias, weight, bias)
    if torch.is_grad_enabled() and (
        x.requires_grad
        or weight.requires_grad
        or (ln_weight is not None and ln_weight.requires_grad)
        or (ln_bias is not None and ln_bias.requires_grad)
        or (bias is not None and bias.requires_grad)
    ):
        normal = Norm.apply(x.reshape(math.prod(x.shape[:-1]), x.shape[-1]), ln_weight, ln_bias, eps, True)
        return Matmul.apply(normal, weight.mT, bias, None, False).view(*x.shape[:-1], weight.shape[0])
    return launch(x, ln_weight, ln_bias, weight, bias, eps)


# --8<-- [start:reference]
def layer_norm_linear_reference(
    x: torch.Tensor,
    ln_weight: torch.Tensor | None,
    ln_bias: torch.Tensor | None,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    eps: float = 1e-5,
) -> torch.Tensor:
    """The same operation in plain PyTorch."""
    centered = x - x.mean(-1, keepdim=True)
    normal = centered * torch.rsqrt(centered.square().mean(-1, keepdim=True) + eps)
    normal = normal if ln_weight is None else normal * ln_weight
    normal = normal if ln_bias is None else normal + ln_bias
    y = normal @ weight.mT
    return y if bias is None else y + bias
# --8<-- [end:reference]
