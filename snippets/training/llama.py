"""A small Llama whose operations can be exchanged: PyTorch's own, or the library's."""

import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:imports]
from collections.abc import Callable
from typing import NamedTuple

import torch.nn.functional as F
from torch import nn

from kernels.linear_cross_entropy import linear_cross_entropy
from kernels.norm.add_rms_norm import add_rms_norm
from kernels.rotary_embedding import rotary_embedding
from kernels.activations import swiglu
# --8<-- [end:imports]

# --8<-- [start:plain]
EPS = 1e-5


def plain_add_norm(x, residual, weight):
    total = x + residual
    return F.rms_norm(total, total.shape[-1:], weight, EPS), total


def plain_rotate(q, k, cos, sin):
    def turned(x):
        one, other = x.chunk(2, -1)
        return torch.cat((one * cos - other * sin, other * cos + one * sin), -1)

    return turned(q), turned(k)


def plain_gate(gate, up):
    return F.silu(gate) * up


def plain_loss(x, weight, target):
    return F.cross_entropy(F.linear(x, weight).float(), target)
# --8<-- [end:plain]


# --8<-- [start:parts]
class Parts(NamedTuple):
    """What the model asks for between its matrix products."""

    add_norm: Callable
    rotate: Callable
    gate: Callable
    loss: Callable


def our_add_norm(x, residual, weight):
    return add_rms_norm(x, residual, weight, EPS)


PLAIN = Parts(plain_add_norm, plain_rotate, plain_gate, plain_loss)
OURS = Parts(our_add_norm, rotary_embedding, swiglu, linear_cross_entropy)
# --8<-- [end:parts]


# --8<-- [start:model]
class Block(nn.Module):
    def __init__(self, hidden, heads, kv_heads, feed):
        super().__init__()
        self.heads, self.width = (heads, kv_heads, kv_heads), hidden // heads
        self.first, self.second = (nn.Parameter(torch.ones(hidden)) for _ in "12")
        self.qkv = nn.Linear(hidden, sum(self.heads) * self.width, bias=False)
        self.out = nn.Linear(hidden, hidden, bias=False)
        self.gate_up = nn.Linear(hidden, 2 * feed, bias=False)
        self.down = nn.Linear(feed, hidden, bias=False)

    def forward(self, x, residual, cos, sin, parts):
        x, residual = parts.add_norm(x, residual, self.first)
        x = self.qkv(x).unflatten(-1, (-1, self.width)).transpose(1, 2)
        q, k, v = x.split(self.heads, 1)
        q, k = parts.rotate(q, k, cos, sin)
        x = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = self.out(x.transpose(1, 2).flatten(2))
        x, residual = parts.add_norm(x, residual, self.second)
        return self.down(parts.gate(*self.gate_up(x).chunk(2, -1))), residual


class Llama(nn.Module):
    def __init__(self, classes, hidden, heads, kv_heads, feed, layers):
        super().__init__()
        self.embedding = nn.Embedding(classes, hidden)
        self.blocks = nn.ModuleList(Block(hidden, heads, kv_heads, feed) for _ in range(layers))
        self.last = nn.Parameter(torch.ones(hidden))
        self.head = nn.Linear(hidden, classes, bias=False)
        self.width = hidden // heads

    def forward(self, tokens, target, parts):
        """The mean loss of predicting `target`, one class a token."""
        x = self.embedding(tokens)
        steps = torch.arange(0, self.width, 2, device=x.device) / self.width
        positions = torch.arange(tokens.shape[1], device=x.device)
        angles = positions[:, None] / 500_000**steps
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        residual = torch.zeros_like(x)
        for block in self.blocks:
            x, residual = block(x, residual, cos, sin, parts)
        x, _ = parts.add_norm(x, residual, self.last)
        return parts.loss(x.flatten(0, 1), self.head.weight, target.flatten())
# --8<-- [end:model]


if __name__ == "__main__":
    print(f"{sum(p.numel() for p in Llama(300, 32, 4, 2, 48, 2).parameters()):,} parameters")
    #> 34,720 parameters
