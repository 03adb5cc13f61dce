"""The product of two matrices, with a bias and an activation on its way out.

    c[i, j] = act(sum_k a[i, k] b[k, j] + bias[j])

For an m x k and a k x n matrix it takes 2mnk floating-point operations, on (mk + kn + mn)e bytes: the larger the
matrices, the more operations there are for each byte, and it is the tensor cores that set the time. Where m or n is small it
is the memory again.

`matmul_tiled` serves every GPU, and `matmul_split` products with few tiles and many terms. On Hopper `matmul_hopper`,
`matmul_gluon` and `matmul_narrow` take their places. `matmul_plan` says which of them serves a case, and why.
"""

import torch

from kernels.common.arguments import check_float_tensor, check_same_device, on_device_of
from kernels.matmul.dispatch import for_both, matmul_launch, prepare_launch
from kernels.matmul.epilogue import Epilogue
from kernels.matmul.search import matmul_search

ACTIVATIONS = (None, "relu", "gelu", "gelu_tanh", "silu")


def check_matmul_arguments(a, b, bias, activation) -> None:
    """Raise TypeError or ValueError unless `a @ b`, with this bias and activation, can be computed."""
    check_float_tensor("a", a)
    device, dtype = a.device, a.dtype
    if not (isinstance(b, torch.Tensor) and b.dtype == dtype and b.device == device):
        check_float_tensor("b", b)  # says what is wrong with it
        if b.dtype != dtype:
            expected, found = (str(dtype).removeprefix("torch.") for dtype in (a.dtype, b.dtype))
            raise TypeError(f"b: expected dtype {expected}, the dtype of a, got {found}")
        check_same_device("b", b, "a", a)
    for name, matrix in (("a", a), ("b", b)):
        if matrix.ndim != 2:
            raise ValueError(f"{name}: expected two dimensions, got shape {tuple(matrix.shape)}")
    inner, n_columns = b.shape
    if inner != a.shape[1]:
        expected = f"{a.shape[1]} rows, the columns of a of shape {tuple(a.shape)}"
        raise ValueError(f"b: expected {expected}, got shape {tuple(b.shape)}")
    if bias is not None:
        check_float_tensor("bias", bias)
        if bias.ndim != 1 or bias.shape[0] != n_columns:
            expected = f"shape {tuple(b.shape[1:])}, one number for each column of b"
            raise ValueError(f"bias: expected {expected}, got {tuple(bias.shape)}")
        if bias.device != device:
            check_same_device("bias", bias, "a", a)
    if activation is not None and not isinstance(activation, str):
        raise TypeError(f"activation: expected None or a str, got {type(activation).__name__}")
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation: expected None, 'relu', 'gelu', 'gelu_tanh' or 'silu', got {activation!r}")


def matmul_forward(a, b, bias, activation: str | None, autotune: bool, keep: bool = False) -> tuple:
    """The product and, with `keep`, what the activation was given (the product itself where that is enough)."""
    if a.is_neg() or b.is_neg():
        a, b = a.resolve_neg(), b.resolve_neg()
    if bias is not None and (bias.is_neg() or not bias.is_contiguous()):
        bias = bias.resolve_neg().contiguous()
    c = a.new_empty((a.shape[0], b.shape[1]))
    z = torch.empty_like(c) if keep and activation not in (None, "relu") else None
    if c.numel():
        finish = Epilogue(z, bias, None, None, False, activation)
        with on_device_of(a):
            if autotune:
                prepare_launch(a, b, c, finish, matmul_search(a, b))(a, b, c, finish)
            else:
                matmul_launch(a, b, c, finish)
    return c, c if z is None else z


def matmul_of(a: torch.Tensor, b: torch.Tensor, autotune: bool) -> torch.Tensor:
    return matmul_forward(a, b, None, None, autotune)[0]


def matmul_slope(dc: torch.Tensor, z: torch.Tensor, activation: str | None) -> torch.Tensor:
    """`dc` times the derivative of the activation at `z`."""
    if activation == "relu":
        return torch.ops.aten.threshold_backward(dc, z, 0)
    if activation == "silu" and torch.is_grad_enabled():
        # PyTorch's own cannot be differentiated in turn.
        share = torch.sigmoid(z.float())
        return (dc * share * (1 + z * (1 - share))).to(dc.dtype)
    if activation == "silu":
        return torch.ops.aten.silu_backward(dc, z)
    if activation is not None:
        return torch.ops.aten.gelu_backward(dc, z, approximate="tanh" if activation == "gelu_tanh" else "none")
    return dc


class Matmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, bias, activation, autotune):
        c, z = matmul_forward(a, b, bias, activation, autotune, keep=True)
        ctx.activation, ctx.autotune = activation, autotune
        ctx.save_for_backward(a, b, bias, None if activation is None else z)
        return c

    @staticmethod
    def backward(ctx, dc):
        a, b, bias, z = ctx.saved_tensors
        if torch.is_grad_enabled() and ctx.activation is not None:
            # Somebody differentiates these gradients in turn, so z must know where it comes from.
            z = matmul(a, b, bias)
        dz = matmul_slope(dc, z, ctx.activation)
        needed = ctx.needs_input_grad
        # Public only where somebody may differentiate these in turn: its checks take the host a while.
        product = matmul if torch.is_grad_enabled() else matmul_of
        if product is matmul_of and needed[0] and needed[1] and not ctx.autotune:
            with on_device_of(dz):
                dz = for_both(dz, a, b)
        da = product(dz, b.mT, autotune=ctx.autotune) if needed[0] else None
        db = product(a.mT, dz, autotune=ctx.autotune) if needed[1] else None
        return da, db, dz.sum(0, dtype=torch.float32).to(bias.dtype) if needed[2] else None, None, None


def matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    bias: torch.Tensor | None = None,
    activation: str | None = None,
    autotune: bool = False,
) -> torch.Tensor:
    """Multiply two matrices, as `torch.matmul` does, add a bias and apply an activation.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=device)
        bias = torch.tensor([-10.0, 0.0], device=device)
        print(kernels.matmul(a, a).tolist())
        #> [[7.0, 10.0], [15.0, 22.0]]
        print(kernels.matmul(a, a, bias, activation="relu").tolist())
        #> [[0.0, 10.0], [5.0, 22.0]]
        ```

    Args:
        a: A matrix of m rows and k columns, with any strides; float32, float16 or bfloat16. Any size may be zero.
        b: A matrix of k rows and n columns, with any strides, of the dtype of `a`.
        bias: What is added to each column of the product, of shape `(n,)`; one of the three dtypes. None stands for zeros.
        activation: None, `"relu"`, `"gelu"` (by its definition), `"gelu_tanh"` (its approximation) or `"silu"`.
        autotune: Whether the first product of a shape tries many configurations on this GPU, which takes a while, and keeps
            the fastest on disk for later processes. By default the configurations that ship are used.

    Returns:
        A contiguous matrix of m rows and n columns, of the dtype of `a`. The sums are computed in float32 and rounded
            once, after the activation. Products of float32 matrices are computed in TF32 where
            `torch.backends.cuda.matmul.fp32_precision` is `"tf32"`, and in full float32 otherwise. The same input gives the
            same bits every time.

    Raises:
        TypeError: `a`, `b` or `bias` is not a tensor or has another dtype, the dtypes of `a` and `b` differ, or `activation`
            is not a string.
        ValueError: `a` or `b` has not two dimensions, their inner sizes differ, `bias` has another size, the activation is
            unknown, the tensors lie on different devices, a CPU tensor came while Triton's interpreter is off, or
            `autotune` is asked for without a GPU.

    Differentiable, any number of times: the gradients are products by the same kernels.

    Bytes:
        For e bytes a number, (mk + kn)e read and mne written. With gradients, an activation other than `"relu"` keeps
        what it was given, another mne. A matrix of 16-bit floats whose rows or columns begin at no multiple of 16 bytes, or
        in large products on Hopper of 128, is copied first unless the product is small. The copy is as large as the matrix.

    Flops:
        2mnk forward, 4mnk backward.

    Source:
        The definition; K. Goto and R. van de Geijn, "Anatomy of high-performance matrix multiplication", 2008, for the
        tiles.
    """
    check_matmul_arguments(a, b, bias, activation)
    if torch.is_grad_enabled() and (a.requires_grad or b.requires_grad or (bias is not None and bias.requires_grad)):
        return Matmul.apply(a, b, bias, activation, autotune)
    return matmul_forward(a, b, bias, activation, autotune)[0]


# --8<-- [start:reference]
def matmul_reference(
    a: torch.Tensor,
    b: torch.Tensor,
    bias: torch.Tensor | None = None,
    activation: str | None = None,
    autotune: bool = False,
) -> torch.Tensor:
    """The same operation in plain PyTorch, whose library makes its own choices."""
    z = a @ b if bias is None else a @ b + bias
    gelu = torch.nn.functional.gelu
    return {
        None: lambda: z,
        "relu": lambda: z.relu(),
        "gelu": lambda: gelu(z),
        "gelu_tanh": lambda: gelu(z, approximate="tanh"),
        "silu": lambda: torch.nn.functional.silu(z),
    }[activation]()
# --8<-- [end:reference]
