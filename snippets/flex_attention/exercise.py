"""The exercise: a sliding window whose tokens also see the first few, which is asked for as an or of two masks."""

# --8<-- [start:solution]
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

tokens, width = 512, 16


def window_and_first(batch, head, query, key):
    return (query >= key) & ((query - key < 64) | (key < 4))


q, k, v = torch.randn(3, 1, 2, tokens, width, dtype=torch.float64).unbind()
mask = create_block_mask(window_and_first, None, None, tokens, tokens, device="cpu", BLOCK_SIZE=64)
result = flex_attention(q, k, v, block_mask=mask)

ones = torch.ones(tokens, tokens, dtype=torch.bool)
allowed = ones.tril() & ones.triu(-63)
allowed[:, :4] |= ones.tril()[:, :4]
scores = (q @ k.mT / width**0.5).masked_fill(~allowed, float("-inf"))
torch.testing.assert_close(result, torch.softmax(scores, dim=-1) @ v)

for row in mask.to_dense()[0, 0].tolist():
    print("".join("#" if some else "." for some in row))
    #> #.......
    #> ##......
    #> ###.....
    #> #.##....
    #> #..##...
    #> #...##..
    #> #....##.
    #> #.....##
# --8<-- [end:solution]
