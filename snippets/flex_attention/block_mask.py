"""The block masks of four masks: which blocks are full, in part or empty, counted, and counted again without FlexAttention."""

# --8<-- [start:imports]
import torch
from torch.nn.attention.flex_attention import create_block_mask

from kernels.tools.benchmark import keep
# --8<-- [end:imports]
from snippets.flex_attention.variants import causal, documents_of, prefix_of, window_of

# --8<-- [start:block_mask]
tokens, block = 1024, 64
document = torch.bucketize(torch.arange(tokens), torch.tensor([200, 328, 640, 896]), right=True)
MASKS = {
    "causal": causal,
    "window": window_of(200),
    "documents": documents_of(document),
    "prefix": prefix_of(256),
}


def states_of(mask):
    """A letter for each block: f is computed whole, p in part, and . is skipped."""
    rows = [["."] * (tokens // block) for _ in range(tokens // block)]
    for letter, counts, indices in (
        ("p", mask.kv_num_blocks, mask.kv_indices),
        ("f", mask.full_kv_num_blocks, mask.full_kv_indices),
    ):
        for row, count, listed in zip(rows, counts[0, 0].tolist(), indices[0, 0].tolist(), strict=True):
            for column in listed[:count]:
                row[column] = letter
    return ["".join(row) for row in rows]


kept = {}
for name, mask_mod in MASKS.items():
    mask = create_block_mask(mask_mod, None, None, tokens, tokens, device="cpu", BLOCK_SIZE=block)
    rows = states_of(mask)
    whole, part, empty = ("".join(rows).count(letter) for letter in "fp.")
    print(f"{name:9} {whole:3} full, {part:2} in part, {empty:3} empty: {mask.sparsity():.1f}% skipped")
    #> causal    120 full, 16 in part, 120 empty: 46.9% skipped
    #> window     29 full, 41 in part, 186 empty: 72.7% skipped
    #> documents  16 full, 26 in part, 214 empty: 83.6% skipped
    #> prefix    130 full, 12 in part, 114 empty: 44.5% skipped
    kept[name] = {"rows": rows, "whole": whole, "part": part, "empty": empty, "sparsity": mask.sparsity()}
# --8<-- [end:block_mask]

# --8<-- [start:counted]
query, key = torch.arange(tokens)[:, None], torch.arange(tokens)
for name, mask_mod in MASKS.items():
    counting = mask_mod(0, 0, query, key).view(tokens // block, block, tokens // block, block).sum((1, 3))
    letters = [["." if n == 0 else "f" if n == block**2 else "p" for n in row] for row in counting.tolist()]
    assert ["".join(row) for row in letters] == kept[name]["rows"], name
    kept[name]["scores"] = int(counting.sum())
# --8<-- [end:counted]
keep(figures=kept)
print(create_block_mask(MASKS["documents"], None, None, tokens, tokens, device="cpu", BLOCK_SIZE=block).to_string())
