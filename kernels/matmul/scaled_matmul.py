"""The product of two matrices of 8-bit floats, each with its scales: half the bytes, and twice the rate of 16-bit floats.

    c[i, j] = scale_a[i] * scale_b[j] * sum_k a[i, k] b[k, j] + bias[j]

Numbers of the format e4m3 have three bits of fraction and end at 448, so every matrix is stored divided by a scale, one for
all of it or one for each row of a and column of b. The sums need not know of the scales: they are multiplied in at the end.
For an m x k and a k x n matrix it takes 2mnk floating-point operations, on mk + kn bytes read and 2mn or 4mn written.
"""

import torch

from kernels.common.arguments import HOW_TO_INTERPRET, INTERPRETED, check_float_tensor, check_same_device, on_device_of
from kernels.matmul.dispatch import matmul_launch
from kernels.matmul.epilogue import Epilogue

OUT_DTYPES = (torch.bfloat16, torch.float16, torch.float32)


def check_scaled_arguments(a, b, scale_a, scale_b, bias, out_dtype) -> None:
    """Raise TypeError or ValueError unless the scaled product can be computed with these, here."""
    for name, matrix in (("a", a), ("b", b)):
        if not isinstance(matrix, torch.Tensor):
            raise TypeError(f"{name}: expected a torch.Tensor, got {type(matrix).__name__}")
        if matrix.dtype != torch.float8_e4m3fn:
            raise TypeError(f"{name}: expected dtype float8_e4m3fn, got {str(matrix.dtype).removeprefix('torch.')}")
        if matrix.device.type != "cuda" and not INTERPRETED:
            raise ValueError(f"{name}: expected a CUDA tensor, got one on {matrix.device}; {HOW_TO_INTERPRET}")
        if matrix.ndim != 2:
            raise ValueError(f"{name}: expected two dimensions, got shape {tuple(matrix.shape)}")
    check_same_device("b", b, "a", a)
    if a.device.type == "cuda" and torch.cuda.get_device_capability(a.device) < (8, 9):
        capability = ".".join(map(str, torch.cuda.get_device_capability(a.device)))
        raise ValueError(f"a: expected a GPU of compute capability 8.9 or more for float8_e4m3fn, got one of {capability}")
    if b.shape[0] != a.shape[1]:
        expected = f"{a.shape[1]} rows, the columns of a of shape {tuple(a.shape)}"
        raise ValueError(f"b: expected {expected}, got shape {tuple(b.shape)}")
    rows, columns = (a.shape[0], 1), (1, b.shape[1])
    for name, scale, shape in (("scale_a", scale_a, rows), ("scale_b", scale_b, columns)):
        if not isinstance(scale, torch.Tensor):
            raise TypeError(f"{name}: expected a torch.Tensor, got {type(scale).__name__}")
        if scale.dtype != torch.float32:
            raise TypeError(f"{name}: expected dtype float32, got {str(scale.dtype).removeprefix('torch.')}")
        if scale.numel() != 1 and scale.shape != shape:
            raise ValueError(f"{name}: expected one number or shape {shape}, got {tuple(scale.shape)}")
        check_same_device(name, scale, "a", a)
    if bias is not None:
        check_float_tensor("bias", bias)
        if bias.shape != b.shape[1:]:
            expected = f"shape {tuple(b.shape[1:])}, one number for each column of b"
            raise ValueError(f"bias: expected {expected}, got {tuple(bias.shape)}")
        check_same_device("bias", bias, "a", a)
    if out_dtype not in OUT_DTYPES:
        raise TypeError(f"out_dtype: expected torch.bfloat16, torch.float16 or torch.float32, got {out_dtype}")


def scaled_matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype = torch.bfloat16,
) -> torch.Tensor:
    """Multiply two matrices of 8-bit floats and their scales, and add a bias.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        a = torch.ones(16, 32, device=device).to(torch.float8_e4m3fn)
        scale = torch.tensor(0.5, device=device)
        out = kernels.scaled_matmul(a, a.T, scale, scale)  # on a GPU that has 8-bit floats
        print(out.dtype, out.shape, out[0, 0].item())
        #> torch.bfloat16 torch.Size([16, 16]) 8.0
        ```

    Args:
        a: A matrix of m rows and k columns, float8_e4m3fn, with any strides. Any size may be zero.
        b: A matrix of k rows and n columns, float8_e4m3fn. Fastest where its columns lie side by side in memory, as those
            of a transposed matrix do.
        scale_a: What `a` is multiplied by: float32, one number or one for each row, of shape `(m, 1)`.
        scale_b: What `b` is multiplied by: float32, one number or one for each column, of shape `(1, n)`.
        bias: What is added to each column of the product, of shape `(n,)`; float32, float16 or bfloat16. None stands for
            zeros.
        out_dtype: The dtype of the result: bfloat16, float16 or float32.

    Returns:
        A contiguous matrix of m rows and n columns. The sums are kept in float32, as exactly as the tensor cores add
            8-bit products up (on Hopper with fewer digits than float32 has), and rounded once.

    Raises:
        TypeError: A matrix, a scale or the bias is not a tensor or has another dtype, or `out_dtype` is another.
        ValueError: A shape does not fit, the tensors lie on different devices, the GPU has no 8-bit floats (compute
            capability below 8.9), or a CPU tensor came while Triton's interpreter is off.

    Not differentiable: 8-bit floats are made from others, whose gradients are a matter of how. A scale or a bias that wants a
    gradient gets none, and no error says so: a bias that is to be trained is added outside.

    Bytes:
        mk + kn read, and 2mn (or 4mn for float32) written.

    Flops:
        2mnk.

    Source:
        P. Micikevicius et al., "FP8 formats for deep learning", 2022 (arXiv:2209.05433).
    """
    check_scaled_arguments(a, b, scale_a, scale_b, bias, out_dtype)
    row_scales = scale_a.numel() != 1 or scale_b.numel() != 1
    if row_scales:
        scale_a, scale_b = scale_a.reshape(-1).expand(a.shape[0]), scale_b.reshape(-1).expand(b.shape[1])
    bias = None if bias is None else bias.detach().resolve_neg().contiguous()
    c = torch.empty((a.shape[0], b.shape[1]), dtype=out_dtype, device=a.device)
    if c.numel():
        finish = Epilogue(None, bias, scale_a.contiguous(), scale_b.contiguous(), row_scales)
        with on_device_of(a):
            matmul_launch(a, b, c, finish)
    return c


# --8<-- [start:reference]
def scaled_matmul_reference(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype = torch.bfloat16,
) -> torch.Tensor:
    """The same operation in plain PyTorch, in float32."""
    c = (a.float() @ b.float()) * scale_a * scale_b
    return (c if bias is None else c + bias).to(out_dtype)
# --8<-- [end:reference]
