"""torch.amp. Of what autocast casts, linear layers alone are known here."""

from collections.abc import Callable
from typing import Any

from torch import _absent
from torch._dtypes import bfloat16
from torch._settings import settings
from torch._tensor import Tensor


class autocast:
    def __init__(self, device_type: str = "cpu", dtype: Any = None, enabled: bool = True):
        self.dtypes = [dtype or bfloat16] if enabled else []

    def __enter__(self) -> None:
        self.before, settings.autocast = settings.autocast, self.dtypes

    def __exit__(self, *error: object) -> None:
        settings.autocast = self.before


def custom_fwd(fwd: Callable | None = None, *, device_type: str | None = None, cast_inputs: Any = None) -> Any:
    def wrap(forward: Callable) -> Callable:
        def cast(ctx: Any, *given: Any) -> Any:
            if cast_inputs is None or not settings.autocast:
                return forward(ctx, *given)
            with autocast(enabled=False):
                return forward(ctx, *(in_dtype(value, cast_inputs) for value in given))

        return cast

    return wrap(fwd) if fwd else wrap


def in_dtype(value: Any, dtype: Any) -> Any:
    return value.to(dtype) if isinstance(value, Tensor) and value.dtype.is_floating_point else value


def custom_bwd(bwd: Callable | None = None, *, device_type: str | None = None) -> Any:
    return bwd if bwd else (lambda backward: backward)


__getattr__ = _absent.of(__name__, globals())
