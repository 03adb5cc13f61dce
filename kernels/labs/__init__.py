"""The labs' checker: hand it a function that launches your kernel, and it says what is right and what is not.

    from kernels.labs import check
    check(my_add, "vector_add")

On a CPU the kernel runs under Triton's interpreter, and every lane of every load and store is watched.
"""

from kernels.labs.checker import Verdict, check
from kernels.labs.tasks.tasks import TASKS

__all__ = ["TASKS", "Verdict", "check"]
