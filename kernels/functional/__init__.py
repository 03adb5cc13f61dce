"""The library under PyTorch's names and argument forms: `import kernels.functional as F`, for what the library has.

Each function takes what PyTorch's function of its name takes, follows autocast as that one does, and works inside the
transforms of `torch.func`. `DECLARATIONS` says of each what is composed and what is refused.
"""

from kernels.functional.elements import dropout, gelu
from kernels.functional.flops import FLOPS
from kernels.functional.forms import DECLARATIONS
from kernels.functional.group_norms import group_norm
from kernels.functional.losses import cross_entropy
from kernels.functional.norms import layer_norm, rms_norm
from kernels.functional.products import linear, matmul
from kernels.functional.reductions import amax, sum
from kernels.functional.scaled_attention import scaled_dot_product_attention
from kernels.functional.softmax_form import softmax

__all__ = [
    "DECLARATIONS",
    "FLOPS",
    "amax",
    "cross_entropy",
    "dropout",
    "gelu",
    "group_norm",
    "layer_norm",
    "linear",
    "matmul",
    "rms_norm",
    "scaled_dot_product_attention",
    "softmax",
    "sum",
]
