"""A stand-in for Triton's native module: what its interpreter asks of it, in Python and NumPy. Nothing can be compiled.

The interpreter takes loads, stores, atomics and `fma` from here (memory.py), and the frontend some enums and the types of a
launch's arguments. Of the native compiler's classes only the names are asked for, in annotations and by isinstance.
"""

import enum
import os
import sys
import types
from typing import Any

import numpy as np
from triton._C.libtriton import memory
from triton._C.libtriton.memory import OutsideOfTensors

__all__ = ["OutsideOfTensors", "interpreter", "ir", "memory"]


class NativeModule(types.ModuleType):
    """A part of the native module. Any class that is asked of it exists, and can do nothing."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {"__module__": self.__name__})
        setattr(self, name, made)
        return made


def native_module(name: str, **content: Any) -> NativeModule:
    module = NativeModule(f"{__name__}.{name}")
    module.__dict__.update(content)
    sys.modules[module.__name__] = module
    return module


def enumeration(name: str, members: str) -> Any:
    return enum.Enum(name, {member: number for number, member in enumerate(members.split())})  # type: ignore[misc]


def fma_fp32(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The product is exact in float64; the sum is rounded twice, which differs from once in rare ties."""
    return (x.astype(np.float64) * y + z).astype(np.float32)


def fma_fp64(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    return x * y + z


ir = native_module(
    "ir",
    MEM_SEMANTIC=enumeration("MEM_SEMANTIC", "ACQUIRE_RELEASE ACQUIRE RELEASE RELAXED"),
    MEM_SYNC_SCOPE=enumeration("MEM_SYNC_SCOPE", "GPU CTA SYSTEM"),
    ATOMIC_OP=enumeration("ATOMIC_OP", "ADD FADD AND OR XOR XCHG MAX MIN UMIN UMAX"),
    DESCRIPTOR_REDUCE_KIND=enumeration("DESCRIPTOR_REDUCE_KIND", "ADD AND OR XOR MAX MIN INC DEC"),
    ROUNDING_MODE=enumeration("ROUNDING_MODE", "RTZ RTNE"),
    PROPAGATE_NAN=enumeration("PROPAGATE_NAN", "NONE ALL"),
    INPUT_PRECISION=enumeration("INPUT_PRECISION", "TF32 TF32x3 IEEE BF16x3 BF16x6"),
    PADDING_OPTION=enumeration("PADDING_OPTION", "PAD_ZERO PAD_NAN"),
    CACHE_MODIFIER=enumeration("CACHE_MODIFIER", "NONE CA CG WB CS WT CV"),
    EVICTION_POLICY=enumeration("EVICTION_POLICY", "NORMAL EVICT_FIRST EVICT_LAST"),
    ScaleDotElemTypeTY=enumeration("ScaleDotElemTypeTY", "E4M3 E5M2 E2M3 E3M2 E2M1 BF16 FP16"),
)
interpreter = native_module(
    "interpreter",
    MEM_SEMANTIC=ir.MEM_SEMANTIC,
    RMW_OP=ir.ATOMIC_OP,
    load=memory.load,
    store=memory.store,
    atomic_rmw=memory.atomic_rmw,
    atomic_cas=memory.atomic_cas,
    fma_fp32=fma_fp32,
    fma_fp64=fma_fp64,
)
gluon_ir = native_module("gluon_ir")
passes = native_module("passes")
llvm = native_module("llvm")
linear_layout = native_module("linear_layout")
nvidia = native_module("nvidia")
amd = native_module("amd")
proton = native_module("proton")
gsan_testing = native_module("gsan_testing")


def getenv(name: str, default: str | None = None) -> str | None:
    return os.environ.get(name, default)


def getenv_bool(name: str, default: bool = False) -> bool:
    return os.environ.get(name, str(default)).lower() in ("1", "true", "yes", "on", "y")


def get_cache_invalidating_env_vars() -> dict[str, str]:
    return {}


def native_specialize_impl(backend: Any, argument: Any, is_const: bool = False, specialize: bool = False, align: bool = False):
    """The type of an argument and a key; the interpreter asks for the type alone."""
    from triton._utils import canonicalize_ptr_dtype

    if isinstance(argument, bool):
        return "u1", None
    if isinstance(argument, int):
        return ("i32" if -(2**31) <= argument < 2**31 else "u64" if 2**63 <= argument < 2**64 else "i64"), None
    if isinstance(argument, float):
        return "fp32", None
    if hasattr(argument, "data_ptr"):
        return canonicalize_ptr_dtype(argument.dtype, is_const), None
    if argument is None or callable(argument):
        return "constexpr", argument
    if isinstance(argument, tuple):
        return tuple(native_specialize_impl(backend, part, is_const, specialize, align)[0] for part in argument), None
    raise TypeError(f"Unsupported type: {type(argument)}")


def make_tensordesc_args(*arguments: Any) -> None:
    raise RuntimeError("There is no compiler in this page: Triton's interpreter runs the kernels.")
