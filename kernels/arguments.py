"""Checks of arguments that every operation shares, so that all errors read alike."""

import torch
import triton
import triton.language as tl

# Triton decides once, at its first import, whether its own functions are interpreted; so does each kernel.
INTERPRETED = triton.knobs.runtime.interpret and not isinstance(tl.cdiv, triton.runtime.JITFunction)

FLOAT_DTYPES = (torch.float32, torch.float16, torch.bfloat16)

HOW_TO_INTERPRET = (
    "either move it to a CUDA device, or run on the CPU through Triton's interpreter by setting "
    "TRITON_INTERPRET=1 in the environment before triton is first imported"
)


def check_float_tensor(name: str, tensor: torch.Tensor) -> None:
    """Raise unless `tensor` is a float32, float16 or bfloat16 tensor that a kernel can reach from here.

    Raises:
        TypeError: `tensor` is no tensor, or its dtype is none of the three.
        ValueError: `tensor` lies on the CPU and Triton's interpreter is off.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, got {type(tensor).__name__}")
    if tensor.dtype not in FLOAT_DTYPES:
        raise TypeError(f"{name}: expected dtype float32, float16 or bfloat16, got {str(tensor.dtype).removeprefix('torch.')}")
    if tensor.device.type != "cuda" and not INTERPRETED:
        raise ValueError(f"{name}: expected a CUDA tensor, got one on {tensor.device}; {HOW_TO_INTERPRET}")


def check_same_device(name: str, tensor: torch.Tensor, other_name: str, other: torch.Tensor) -> None:
    """Raise ValueError unless both tensors lie on one device."""
    if tensor.device != other.device:
        raise ValueError(f"{name}: expected device {other.device}, the device of {other_name}, got {tensor.device}")


def check_dim(name: str, dim: int, tensor: torch.Tensor) -> int:
    """Return `dim` counted from the front; a tensor without dimensions counts as having one, as in PyTorch.

    Raises:
        TypeError: `dim` is not an int.
        ValueError: `dim` is out of the range of `tensor`'s dimensions.
    """
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise TypeError(f"{name}: expected an int, got {type(dim).__name__}")
    rank = max(tensor.ndim, 1)
    if not -rank <= dim < rank:
        raise ValueError(f"{name}: expected a dimension from {-rank} to {rank - 1} for shape {tuple(tensor.shape)}, got {dim}")
    return dim % rank
