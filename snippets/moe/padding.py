"""How many rows tiles multiply for each row that there is, where experts are chosen evenly, unevenly, or one by all."""
# --8<-- [start:imports]
import torch
# --8<-- [end:imports]

from kernels.tools.benchmark import keep


# --8<-- [start:rows]
def multiplied(sizes, block_m):
    """The rows of all tiles over the rows that experts have."""
    tiles = -(-sizes // block_m)
    return (tiles.sum() * block_m / sizes.sum()).item()


def sizes_of(kind, tokens, experts, k):
    """How many tokens each expert gets."""
    torch.manual_seed(0)
    logits = torch.randn(tokens, experts)
    if kind == "uneven":
        logits += torch.randn(experts)
    if kind == "one by all":
        logits[:, 0] += 100
    return torch.bincount(logits.topk(k, dim=1).indices.flatten(), minlength=experts)


figures = {}
for kind in ("even", "uneven", "one by all"):
    for tokens in (16, 256, 4096):
        sizes = sizes_of(kind, tokens, 128, 8)
        for block_m in (16, 64, 128):
            figures[f"{kind} {tokens} {block_m}"] = multiplied(sizes, block_m)
        figures[f"{kind} {tokens} largest"] = int(sizes.max())
print(f"{len(figures)} figures, the least {min(figures.values()):.2f}")
#> 36 figures, the least 1.03
# --8<-- [end:rows]
keep(figures=figures)
