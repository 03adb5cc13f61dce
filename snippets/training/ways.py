"""A language model's head and its loss in several ways that take the same arguments."""

import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:ways]
import torch.nn.functional as F

from kernels.linear_cross_entropy import linear_cross_entropy


def eager(x, weight, target):
    return F.cross_entropy(F.linear(x, weight), target)


def in_float32(x, weight, target):
    return F.cross_entropy(F.linear(x, weight).float(), target)


def in_chunks(x, weight, target):
    return linear_cross_entropy(x, weight, target, chunk_rows=32)
# --8<-- [end:ways]


def liger_or_none():
    """The same by Liger-Kernel, where it is installed."""
    try:
        from liger_kernel.ops.fused_linear_cross_entropy import LigerFusedLinearCrossEntropyFunction
    except ImportError:
        print("liger-kernel is not installed: it is left out")
        return None

    def liger(x, weight, target):
        out = LigerFusedLinearCrossEntropyFunction.apply(x, weight, target)
        return out[0] if isinstance(out, tuple) else out  # newer versions also give other losses

    return liger


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    given = torch.ones(40, 8, device=device), torch.zeros(7, 8, device=device), torch.zeros(40, device=device, dtype=torch.long)
    print(", ".join(f"{way.__name__} {way(*given).item():.4f}" for way in (eager, in_float32, in_chunks)))
    #> eager 1.9459, in_float32 1.9459, in_chunks 1.9459
