"""PyTorch's samples for softmax, norms and cross-entropy, given to the library."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

from snippets.outside.samples import ask

# --8<-- [start:ask]
import kernels.functional as F

failed = [
    ask("softmax", F.softmax, "softmax"),
    ask("softmax, dtype=", F.softmax, "softmax", "with_dtype"),
    ask("layer_norm", F.layer_norm, "nn.functional.layer_norm"),
    ask("rms_norm", F.rms_norm, "nn.functional.rms_norm"),
    ask("group_norm", F.group_norm, "nn.functional.group_norm"),
    ask("cross_entropy", F.cross_entropy, "nn.functional.cross_entropy"),
]
assert not any(failed)
# --8<-- [end:ask]
