"""What a program may change for all that comes after it. `reset` puts it back, so that the next program finds nothing of it."""

from typing import Any


class Settings:
    """One object, so that every module sees the same."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.grad = True  # is what happens recorded for gradients?
        self.dtype = "float32"  # of new tensors
        self.saved_tensors_hooks: list[tuple[Any, Any]] = []
        self.autocast: list[Any] = []  # the dtype of linear layers, innermost last
        self.modes: list[Any] = []  # TorchDispatchMode, innermost last
        self.printing = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80}
        self.precision = "highest"


settings = Settings()
