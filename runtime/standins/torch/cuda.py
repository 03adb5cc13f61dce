"""torch.cuda: there is no GPU."""

import types
from typing import Any

from torch import _absent
from torch._absent import needs_gpu


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def current_device() -> int:
    return 0


def nothing(*given: Any, **named: Any) -> None:
    pass


synchronize = empty_cache = manual_seed = manual_seed_all = reset_peak_memory_stats = nothing
is_initialized = is_current_stream_capturing = is_available


class device:
    """Also as a context, around what would run on this device."""

    def __init__(self, *given: Any):
        pass

    def __enter__(self) -> "device":
        return self

    def __exit__(self, *error: object) -> None:
        pass


device_of = stream = device
NEEDS = ("Stream", "Event", "CUDAGraph", "graph", "current_stream", "get_device_name", "get_device_capability")
globals().update({name: needs_gpu(f"torch.cuda.{name}") for name in (*NEEDS, "get_device_properties", "max_memory_allocated")})
profiler = types.SimpleNamespace(start=nothing, stop=nothing)


class OutOfMemoryError(RuntimeError):
    pass


__getattr__ = _absent.of(__name__, globals())
