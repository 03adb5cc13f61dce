"""PyTorch's samples for softmax, norms and cross-entropy, given to the library."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

from snippets.outside.samples import ask

# --8<-- [start:ask]
from kernels.functional import cross_entropy, group_norm, layer_norm, rms_norm, softmax

failed = [
    ask("softmax", softmax, "softmax"),
    ask("softmax, dtype=", softmax, "softmax", "with_dtype"),
    ask("layer_norm", layer_norm, "nn.functional.layer_norm"),
    ask("rms_norm", rms_norm, "nn.functional.rms_norm"),
    ask("group_norm", group_norm, "nn.functional.group_norm"),
    ask("cross_entropy", cross_entropy, "nn.functional.cross_entropy"),
]
assert not any(failed)
# --8<-- [end:ask]
