"""The roofline of your own kernel: its bytes, its least time, what it reaches, and what limits it.

    python -m kernels.tools.roofline your_file.py:main            the kernels that main() launches
    python -m kernels.tools.roofline your_file.py:scale_kernel    one kernel, when the file is run as a script
    python -m kernels.tools.roofline your_file.py:main --counters    with the bytes that Nsight Compute counts
    python -m kernels.tools.roofline your_file.py:main --flops 2e12  a launch does so many operations of a product

Where the function returns a function, the first prepares and the second is measured. The bytes of a launch are those of
the tensors that it is passed, each counted once. Each launch is replayed alone from a CUDA graph, with a cold L2 cache.
"""

from kernels.tools.roofline.limits import Figures, limiter
from kernels.tools.roofline.measured import examined
from kernels.tools.roofline.report import report

__all__ = ["Figures", "examined", "limiter", "report"]
