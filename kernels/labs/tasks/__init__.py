"""What the labs ask for."""

from kernels.labs.tasks.tasks import TASKS

__all__ = ["TASKS"]
