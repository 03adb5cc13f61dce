"""torch.utils._python_dispatch."""

from torch._dispatch import TorchDispatchMode

__all__ = ["TorchDispatchMode"]
