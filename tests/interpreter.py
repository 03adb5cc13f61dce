"""What the tests change about Triton's interpreter, so that it hides less than it does by itself."""

import contextlib
import functools
from collections.abc import Callable, Iterator

import pytest

BF16_ARITHMETIC = [
    "fadd",
    "fsub",
    "fmul",
    "fdiv",
    "fneg",
    "dot",
    "fcmpOLT",
    "fcmpOGT",
    "fcmpOLE",
    "fcmpOGE",
    "fcmpOEQ",
    "fcmpUNE",
]


def refuse_bf16_arithmetic() -> None:
    """Raise where the interpreter would do arithmetic on the raw bits of bf16 values and be silently wrong."""
    from triton.runtime.interpreter import InterpreterBuilder

    for name in BF16_ARITHMETIC:
        if hasattr(InterpreterBuilder, f"create_{name}"):
            refuse_bf16(InterpreterBuilder, f"create_{name}")


def refuse_bf16(builder: type, name: str) -> None:
    method = getattr(builder, name)

    @functools.wraps(method)
    def guarded(self, *arguments, **keywords):
        if any(str(getattr(argument, "dtype", "")) in ("bf16", "<bf16>") for argument in arguments):
            raise NotImplementedError(f"{name} on bf16: upcast to float32")
        return method(self, *arguments, **keywords)

    setattr(builder, name, guarded)


def poison_masked_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give NaN to the lanes that a load masks out without `other`: a GPU leaves them undefined, the interpreter says 0."""
    from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

    load = InterpreterBuilder.create_masked_load

    def poisoned(self, pointers, mask, other, *arguments):
        if other is None:
            zeros = load(self, pointers, mask, None, *arguments)
            values = zeros.data.copy()
            # All bits set are a NaN in every float format, and -1 in the integers.
            values.view(f"u{values.itemsize}")[~mask.data.astype(bool)] = 2 ** (8 * values.itemsize) - 1
            return TensorHandle(values, zeros.dtype)
        return load(self, pointers, mask, other, *arguments)

    monkeypatch.setattr(InterpreterBuilder, "create_masked_load", poisoned)


def convert_bf16_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Convert between bf16 and float32 as a GPU does; the interpreter cuts bits off and mistakes subnormals."""
    import torch
    import triton.language as tl
    from triton.runtime import interpreter

    convert = interpreter._convert_float

    def exactly(values, source, target, mode):
        if (source, target) == (tl.float32, tl.bfloat16):
            return torch.from_numpy(values.copy()).bfloat16().view(torch.int16).numpy().view("uint16")
        if (source, target) == (tl.bfloat16, tl.float32):
            return values.astype("uint32") << 16
        return convert(values, source, target, mode)

    monkeypatch.setattr(interpreter, "_convert_float", exactly)


def fuse_multiply_add(monkeypatch: pytest.MonkeyPatch) -> None:
    """Round `tl.fma` once, as a GPU does; the interpreter rounds the product too."""
    from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

    def fused(self, x, y, z):
        # The product of two float32 numbers is exact in float64.
        exact = x.data.astype("float64") * y.data.astype("float64") + z.data.astype("float64")
        return TensorHandle(exact.astype(z.data.dtype), z.dtype.scalar)

    monkeypatch.setattr(InterpreterBuilder, "create_fma", fused)


def refuse_wild_accesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise where a kernel would touch memory outside its arguments; the interpreter reads it, or corrupts this process."""
    from triton.runtime.interpreter import GridExecutor

    launch = GridExecutor.__call__
    spans: list[tuple[int, int]] = []

    def launched(self, *arguments, **keywords):
        given = [getattr(value, "base", value) for value in (*arguments, *keywords.values())]  # a descriptor's tensor
        tensors = [value for value in given if hasattr(value, "untyped_storage")]
        storages = [tensor.untyped_storage() for tensor in tensors]
        spans[:] = [(storage.data_ptr(), storage.data_ptr() + storage.nbytes()) for storage in storages]
        return launch(self, *arguments, **keywords)

    def inside(pointers):
        return functools.reduce(lambda found, span: found | (pointers >= span[0]) & (pointers < span[1]), spans, pointers < 0)

    monkeypatch.setattr(GridExecutor, "__call__", launched)
    for name in MASK_AT:
        check_addresses(monkeypatch, name, inside)


@contextlib.contextmanager
def only_touching(reads: list, writes: list) -> Iterator[None]:
    """Raise where a kernel loads an element of none of `reads`, or stores one of none of `writes` or stores one twice."""
    import numpy

    unwritten = set(addresses(writes))

    def once(pointers):
        allowed = numpy.array([address in unwritten for address in pointers.tolist()], dtype=bool)
        unwritten.difference_update(pointers.tolist())
        return allowed

    with pytest.MonkeyPatch.context() as patch:
        check_addresses(patch, "create_masked_load", functools.partial(numpy.isin, test_elements=addresses(reads)))
        check_addresses(patch, "create_masked_store", once)
        yield
    assert not unwritten, f"{len(unwritten)} elements were never written"


# Where the mask stands among the arguments after the pointers; unmasked accesses pass through the masked ones.
MASK_AT = {"create_masked_load": 0, "create_masked_store": 1}


def check_addresses(patch: pytest.MonkeyPatch, name: str, allowed: Callable) -> None:
    """Make one of the interpreter's memory operations raise unless `allowed` finds every address that it touches good."""
    from triton.runtime.interpreter import InterpreterBuilder

    method = getattr(InterpreterBuilder, name)

    def checked(self, pointers, *arguments):
        touched = pointers.data[arguments[MASK_AT[name]].data.astype(bool)].astype("int64")
        wild = ~allowed(touched)
        if wild.any():
            raise IndexError(f"{name}: {wild.sum()} of {touched.size} addresses are not the kernel's to touch")
        return method(self, pointers, *arguments)

    patch.setattr(InterpreterBuilder, name, checked)


def addresses(tensors: list) -> list[int]:
    """The address of every element of every tensor."""
    import torch

    found = []
    for tensor in tensors:
        offsets = torch.zeros((), dtype=torch.int64)
        for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
            offsets = offsets[..., None] + torch.arange(size) * stride
        found += (tensor.data_ptr() + offsets.ravel() * tensor.element_size()).tolist()
    return found
