"""The most memory that attention takes beyond its inputs, by PyTorch's allocator: written out, and in one kernel."""
# needs: cuda
import sys

import torch
import torch.nn.functional as F

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from torch.nn.attention import SDPBackend, sdpa_kernel

from kernels.tools.benchmark import keep


def plain(q, k, v):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return torch.softmax(scores, dim=-1) @ v


def peak(function, *tensors):
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    function(*tensors)
    return torch.cuda.max_memory_allocated() - before


ways = {"plain": plain, "one kernel": F.scaled_dot_product_attention}
found = {}
for length in (1024, 2048, 4096, 8192, 16384):
    q, k, v = torch.randn(3, 1, 16, length, 128, device="cuda", dtype=torch.bfloat16)
    for name, way in ways.items():
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            way(q[:, :1], k[:, :1], v[:, :1])  # what is loaded at the first call is no part of it
            found[name, length] = peak(way, q, k, v)
        print(f"{length:6} tokens, {name:10}: {found[name, length] / 2**20:9,.1f} MiB")

keys = {"plain": "plain", "one kernel": "flash"}
keep(figures={name: {f"s{length}": found[word, length] for w, length in found if w == word} for word, name in keys.items()})
