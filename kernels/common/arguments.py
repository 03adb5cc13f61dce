"""Checks of arguments that every operation shares, so that all errors read alike; and the device that a launch goes to."""

import contextlib
import functools

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


# What changes no device; it may be entered any number of times.
UNCHANGED = contextlib.nullcontext()


@functools.cache
def several_gpus() -> bool:
    return torch.cuda.device_count() > 1


def on_device_of(x: torch.Tensor) -> contextlib.AbstractContextManager:
    """`torch.cuda.device_of(x)`, under which a launch goes to the device of `x`; free of cost where there is one GPU at most."""
    return torch.cuda.device_of(x) if several_gpus() else UNCHANGED


def check_float_tensor(name: str, tensor: torch.Tensor) -> None:
    """Raise unless `tensor` is a float32, float16 or bfloat16 tensor that a kernel can reach from here.

    Raises:
        TypeError: `tensor` is not a tensor, or its dtype is none of the three.
        ValueError: `tensor` lies on the CPU and Triton's interpreter is off.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, got {type(tensor).__name__}")
    if tensor.dtype not in FLOAT_DTYPES:
        raise TypeError(f"{name}: expected dtype float32, float16 or bfloat16, got {str(tensor.dtype).removeprefix('torch.')}")
    if not (tensor.is_cuda or INTERPRETED):
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
    rank = tensor.ndim or 1
    if not -rank <= dim < rank:
        raise ValueError(f"{name}: expected a dimension from {-rank} to {rank - 1} for shape {tuple(tensor.shape)}, got {dim}")
    return dim % rank


def check_like(name: str, tensor: torch.Tensor, other_name: str, other: torch.Tensor) -> None:
    """Raise unless `tensor` is a tensor of the shape, dtype and device of `other`.

    Raises:
        TypeError: `tensor` is not a tensor, or its dtype is another.
        ValueError: The shapes or the devices differ.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, got {type(tensor).__name__}")
    if tensor.dtype != other.dtype:
        expected, found = (str(dtype).removeprefix("torch.") for dtype in (other.dtype, tensor.dtype))
        raise TypeError(f"{name}: expected dtype {expected}, the dtype of {other_name}, got {found}")
    if tensor.shape != other.shape:
        raise ValueError(f"{name}: expected shape {tuple(other.shape)}, the shape of {other_name}, got {tuple(tensor.shape)}")
    if tensor.device != other.device:
        check_same_device(name, tensor, other_name, other)


def check_probability(name: str, value: float) -> None:
    """Raise TypeError unless `value` is a number, and ValueError unless it lies from 0 to 1."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"{name}: expected a float, got {type(value).__name__}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name}: expected a number from 0 to 1, got {value}")


def check_seed(name: str, value: int) -> None:
    """Raise TypeError unless `value` is an int, and ValueError unless it fits into 64 bits without a sign."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name}: expected an int, got {type(value).__name__}")
    if not 0 <= value < 2**64:
        raise ValueError(f"{name}: expected an int from 0 to 2**64 - 1, got {value}")


def check_approximate(name: str, value: str) -> None:
    """Raise TypeError unless `value` is a string, and ValueError unless it names a form of GELU: `none` or `tanh`."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a str, got {type(value).__name__}")
    if value not in ("none", "tanh"):
        raise ValueError(f"{name}: expected 'none' or 'tanh', got {value!r}")


def check_row(name: str, tensor: torch.Tensor, other_name: str, other: torch.Tensor) -> None:
    """Raise unless `tensor` is a vector as long as the last dimension of `other`, of its dtype and device.

    Raises:
        TypeError: `tensor` is not a tensor, or its dtype is another.
        ValueError: The shape is another, or the devices differ.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, got {type(tensor).__name__}")
    if tensor.dtype != other.dtype:
        expected, found = (str(dtype).removeprefix("torch.") for dtype in (other.dtype, tensor.dtype))
        raise TypeError(f"{name}: expected dtype {expected}, the dtype of {other_name}, got {found}")
    if tensor.shape != other.shape[-1:] or other.ndim == 0:
        raise ValueError(
            f"{name}: expected a vector as long as the last dimension of {other_name}, of shape {tuple(other.shape)}, "
            f"got shape {tuple(tensor.shape)}"
        )
    check_same_device(name, tensor, other_name, other)


def check_countable_tensor(name: str, tensor: torch.Tensor) -> None:
    """Raise unless `tensor` is a tensor of floats or integers, of a dtype with a histogram, that a kernel can reach.

    Raises:
        TypeError: `tensor` is not a tensor, or its dtype is not float32, float16, bfloat16, uint8, int32 or int64.
        ValueError: `tensor` lies on the CPU and Triton's interpreter is off.
    """
    if isinstance(tensor, torch.Tensor) and tensor.dtype not in (*FLOAT_DTYPES, torch.uint8, torch.int32, torch.int64):
        found = str(tensor.dtype).removeprefix("torch.")
        raise TypeError(f"{name}: expected dtype float32, float16, bfloat16, uint8, int32 or int64, got {found}")
    if not isinstance(tensor, torch.Tensor) or tensor.is_floating_point():
        check_float_tensor(name, tensor)
    elif not (tensor.is_cuda or INTERPRETED):
        raise ValueError(f"{name}: expected a CUDA tensor, got one on {tensor.device}; {HOW_TO_INTERPRET}")


def check_count(name: str, count: int, least: int, most: int) -> None:
    """Raise TypeError unless `count` is an int, ValueError unless it lies from `least` to `most`."""
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"{name}: expected an int, got {type(count).__name__}")
    if not least <= count <= most:
        raise ValueError(f"{name}: expected a number from {least} to {most}, got {count}")
