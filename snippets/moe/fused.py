"""The whole mixture in steps, with the copies that lie between them; and the library's, which makes none of them."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:imports]
from torch.nn.functional import silu

from kernels.moe.moe import moe, moe_reference
# --8<-- [end:imports]
from snippets.moe.grouped import grouped


# --8<-- [start:steps]
def by_steps(x, logits, w_gate, w_up, w_down, k):
    chosen, experts = logits.topk(k, dim=1)  # [tokens, k]
    pairs = experts.flatten().argsort(stable=True)
    counts = (experts.flatten()[:, None] == torch.arange(logits.shape[1], device=x.device)).sum(0)
    starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)]).int()
    rows = x[pairs // k]  # a copy of x, k times as long
    gated = silu(grouped(rows, w_gate, starts)) * grouped(rows, w_up, starts)
    parts = torch.empty(pairs.numel(), x.shape[1], device=x.device)
    parts[pairs] = grouped(gated, w_down, starts)  # back in the order of the tokens
    weights = torch.softmax(chosen, dim=1)
    return (parts.view(x.shape[0], k, -1) * weights[:, :, None]).sum(1)
# --8<-- [end:steps]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
x, logits = torch.randn(64, 32, device=device), torch.randn(64, 8, device=device)
w_gate, w_up = torch.randn(2, 8, 48, 32, device=device) * 32**-0.5
w_down = torch.randn(8, 32, 48, device=device) * 48**-0.5
given = (x, logits, w_gate, w_up, w_down)
for way in (by_steps, moe):
    print(way.__name__, torch.allclose(way(*given, k=2), moe_reference(*given, k=2), atol=1e-4))
    #> by_steps True
    #> moe True
# --8<-- [end:check]
