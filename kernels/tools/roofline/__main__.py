"""The command, `python -m kernels.tools.roofline your_file.py:function`."""

import argparse
import sys

import torch

from kernels.tools.roofline.counted import counters
from kernels.tools.roofline.measured import examined, of_launches
from kernels.tools.roofline.report import report
from kernels.tools.roofline.watched import found_in


def report_roofline(arguments: list[str] | None = None) -> int:
    """Print the roofline of the kernels of a file; status 2 where there is no GPU."""
    parser = argparse.ArgumentParser(prog="python -m kernels.tools.roofline", description="What limits your kernel?")
    parser.add_argument("target", help="your_file.py:function, or :kernel")
    parser.add_argument("--flops", type=float, default=0, help="operations of a product that one launch does")
    parser.add_argument("--counters", action="store_true", help="count bytes, too, with Nsight Compute")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    wanted = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
        return 2
    function, launches = found_in(wanted.target)
    if wanted.once:
        for _ in range(2 if function else 0):
            made = function() if function else None
            if callable(made):
                made()
        torch.cuda.synchronize()
        return 0
    counted = counters(wanted.target) if wanted.counters else None
    found = examined(function, wanted.flops, counted) if function else of_launches(launches, wanted.flops, counted, None)
    if not found["kernels"]:
        raise SystemExit(f"{wanted.target} launches no Triton kernel")
    print(report(found))
    return 0


if __name__ == "__main__":
    sys.exit(report_roofline())
