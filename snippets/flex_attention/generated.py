"""Where a score_mod and a mask_mod stand in the Triton kernel that is written for them."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from snippets.flex_attention.written import part_of, written_kernel


# --8<-- [start:generated]
def capped(score, batch, head, query, key):
    return 20 * torch.tanh(score / 20)


def window(batch, head, query, key):
    return (query >= key) & (query - key < 256)


text = written_kernel(capped, window)
print(part_of(text, "# -- compute qk", "# -- compute scaling"))
# --8<-- [end:generated]
