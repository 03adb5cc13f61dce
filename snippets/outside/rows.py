"""PyTorch's samples for softmax, norms and cross-entropy, given to the library."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

from snippets.outside.samples import ask

# --8<-- [start:ask]
from kernels.cross_entropy import cross_entropy
from kernels.norm import layer_norm, rms_norm
from kernels.softmax import softmax


def last_dimension(norm):
    """PyTorch's norms are told which dimensions to take; ours take the last one."""

    def call(x, normalized_shape, *rest, **named):
        if len(normalized_shape) != 1:
            raise NotImplementedError("normalized_shape: ours takes the last dimension alone")
        return norm(x, *rest, **named)

    return call


failed = [
    ask("softmax", softmax, "softmax"),
    ask("softmax, dtype=", softmax, "softmax", "with_dtype"),
    ask("layer_norm", layer_norm, "nn.functional.layer_norm", adapt=last_dimension),
    ask("rms_norm", rms_norm, "nn.functional.rms_norm", adapt=last_dimension),
    ask("cross_entropy", cross_entropy, "nn.functional.cross_entropy"),
]
assert not any(failed)
# --8<-- [end:ask]
