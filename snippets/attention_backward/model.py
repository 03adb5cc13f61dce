"""A small GPT trained on PyTorch's own source, with PyTorch's attention and with kernels.attention, eagerly and compiled."""
# needs: cuda
import os
import sys
from pathlib import Path

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # without it cuBLAS may sum in another order the next time

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import time

import torch.utils.deterministic
from torch.nn.attention import SDPBackend, sdpa_kernel

from kernels.attention import attention
from kernels.operators.attention import attention_in_graph
from kernels.operators.register import operator_in_graph
from kernels.tools.benchmark import keep


# --8<-- [start:model]
class Block(torch.nn.Module):
    def __init__(self, width, heads, attend):
        super().__init__()
        self.heads, self.attend = heads, attend
        self.norm_1, self.norm_2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm_1(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)  # each [batch, heads, length, head], nothing copied
        mixed = self.attend(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm_2(x))))


class Model(torch.nn.Module):
    def __init__(self, attend, symbols=128, length=512, width=384, heads=6, layers=4):
        super().__init__()
        self.embed = torch.nn.Embedding(symbols, width)
        self.place = torch.nn.Parameter(torch.randn(length, width) / 50)
        blocks = [Block(width, heads, attend) for _ in range(layers)]
        self.body = torch.nn.Sequential(*blocks, torch.nn.LayerNorm(width), torch.nn.Linear(width, symbols))

    def forward(self, tokens):
        return self.body(self.embed(tokens) + self.place)
# --8<-- [end:model]


# --8<-- [start:train]
def batches(steps, rows=32, length=512):
    """Pieces of the source of torch.nn.functional, character by character."""
    path = Path(torch.nn.functional.__file__)
    text = path.read_text(encoding="ascii", errors="ignore").encode()
    text = torch.tensor(list(text), device="cuda")
    generator = torch.Generator().manual_seed(1)
    for _ in range(steps):
        first = torch.randint(len(text) - length, (rows, 1), generator=generator)
        yield text[first.cuda() + torch.arange(length + 1, device="cuda")]


def train(attend, compiled=False, steps=250):
    torch.manual_seed(0)
    model = Model(attend).cuda()
    run = torch.compile(model, fullgraph=True) if compiled else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    rising = torch.optim.lr_scheduler.LinearLR(optimizer, 0.01, total_iters=100)
    losses = []
    for text in batches(steps):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            logits = run(text[:, :-1]).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits.float(), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rising.step()
        losses.append(loss.detach())
    return torch.stack(losses).double().cpu()
# --8<-- [end:train]


# --8<-- [start:run]
def plain(q, k, v, is_causal):
    with sdpa_kernel(SDPBackend.MATH):  # the matrix of weights, in memory
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal)


torch.use_deterministic_algorithms(True)  # of PyTorch's own, and of kernels.attention
torch.utils.deterministic.fill_uninitialized_memory = False
in_graphs = operator_in_graph(attention, attention_in_graph)  # what `kernels.attention` is
trainings = {
    "eager": (torch.nn.functional.scaled_dot_product_attention, False),
    "plain": (plain, False),
    "blockwise": (attention, False),
    "compiled": (in_graphs, True),
}
losses, seconds = {}, {}
for name, (attend, compiled) in trainings.items():
    started = time.perf_counter()
    losses[name] = train(attend, compiled)
    seconds[name] = time.perf_counter() - started
    last = losses[name][-20:].mean()
    print(f"{name:9} loss {losses[name][0]:.4f} at first, {last:.4f} over the last 20 steps")
for name in ("plain", "blockwise", "compiled"):
    apart = (losses[name] - losses["eager"]).abs()
    print(f"{name:9} at most {apart.max():.4f} from PyTorch's attention, {apart.mean():.4f} in the mean")
again = train(attention, steps=50)
same = torch.equal(again, losses["blockwise"][:50])
print("fifty steps again, with kernels.attention:", "the same bits" if same else "other bits")
# --8<-- [end:run]
figures = {name: [round(value, 6) for value in curve.tolist()] for name, curve in losses.items()}
for name, curve in losses.items():
    apart = (curve - losses["eager"]).abs()
    figures |= {f"{name}_off": apart.max().item(), f"{name}_mean_off": apart.mean().item()}
    figures |= {f"{name}_first": curve[0].item(), f"{name}_last": curve[-20:].mean().item()}
assert figures["blockwise_last"] < 0.7 * figures["blockwise_first"]
keep(figures=figures | {"same": same, "seconds": seconds, "steps": len(losses["eager"])})
