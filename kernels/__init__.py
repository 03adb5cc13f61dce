"""GPU kernels in Triton, each with its plain PyTorch reference beside it.

Every function takes and returns torch tensors, runs on a CUDA device, and on the CPU when Triton's
interpreter is on (`TRITON_INTERPRET=1` before triton is first imported).
"""

from kernels.add import add
from kernels.softmax import softmax

__all__ = ["add", "softmax"]
__version__ = "0.1.0"
