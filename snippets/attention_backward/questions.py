"""What the questions of the lesson ask, worked out: each line is the answer to one."""
import torch
from torch.utils.flop_counter import FlopCounterMode

L, D, TILE = 32, 8, 4
q, k, v, dout = torch.randn(4, L, D)
lse = (q @ k.T).logsumexp(1, keepdim=True)
delta = torch.zeros(L, 1)


def keys_step(dk, dv, queries, keys):
    p = torch.exp(q[queries] @ k[keys].T - lse[queries])
    ds = p * (dout[queries] @ v[keys].T - delta[queries])
    return dk + ds.T @ q[queries], dv + p.T @ dout[queries]


def queries_step(dq, queries, keys):
    p = torch.exp(q[queries] @ k[keys].T - lse[queries])
    ds = p * (dout[queries] @ v[keys].T - delta[queries])
    return dq + ds @ k[keys]


tile = torch.arange(TILE)
with FlopCounterMode(display=False) as counted:
    keys_step(torch.zeros(TILE, D), torch.zeros(TILE, D), tile, tile)
    queries_step(torch.zeros(TILE, D), tile, tile)
print(f"products: {counted.get_total_flops() // (2 * TILE * TILE * D)}")

kept = {"out": torch.softmax(q @ k.T, dim=1) @ v, "lse": lse}
print(f"kept: {sum(x.numel() for x in kept.values()) // L - D} beside its row")

is_open = torch.ones(L, L).tril().bool()
tiles = is_open.view(L // TILE, TILE, L // TILE, TILE).any(3).any(1)  # [queries, keys]
print(f"causal: {tiles[:, 2].sum()} and {tiles[2].sum()}")
