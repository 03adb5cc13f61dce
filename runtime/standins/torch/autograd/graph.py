"""torch.autograd.graph."""

from collections.abc import Callable
from typing import Any

from torch import _absent
from torch._settings import settings
from torch._tensor import Tensor


class saved_tensors_hooks:
    def __init__(self, pack_hook: Callable, unpack_hook: Callable):
        self.hooks = pack_hook, unpack_hook

    def __enter__(self) -> None:
        settings.saved_tensors_hooks.append(self.hooks)

    def __exit__(self, *error: object) -> None:
        settings.saved_tensors_hooks.pop()


def increment_version(tensor: Any) -> None:
    for one in [tensor] if isinstance(tensor, Tensor) else tensor:
        one._storage.version += 1


__getattr__ = _absent.of(__name__, globals())
