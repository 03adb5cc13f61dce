"""The two loops of the kernel that is written for FlexAttention: over blocks in part, and over whole ones."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from snippets.flex_attention.written import part_of, written_kernel

# --8<-- [start:loops]
document = torch.arange(1024, device="cuda") // 300


def same_document(batch, head, query, key):
    return document[query] == document[key]


text = written_kernel(None, same_document)
print(part_of(text, "tl.static_assert(SPARSE_Q", "# Define strides"), end="\n\n")
print(part_of(text, "# ~~~~~~~~~~~~~~ normal blocks", "# [Note] Handle"))
# --8<-- [end:loops]
