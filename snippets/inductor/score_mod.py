"""FlexAttention, called eagerly on a CPU: a score_mod, a sliding window, and the blocks that a mask lets it skip."""

# --8<-- [start:window]
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

tokens, width = 256, 16


def sliding_window(batch, head, query, key):
    """Which scores count: those of this token and of the 31 before it."""
    return (query >= key) & (query - key < 32)


def nearer_is_better(score, batch, head, query, key):
    """What becomes of a score: it shrinks with the distance."""
    return score - 0.1 * (query - key)


q, k, v = torch.randn(3, 1, 2, tokens, width).unbind()
mask = create_block_mask(sliding_window, None, None, tokens, tokens, device="cpu", BLOCK_SIZE=32)
result = flex_attention(q, k, v, score_mod=nearer_is_better, block_mask=mask)
# --8<-- [end:window]

# --8<-- [start:check]
query, key = torch.arange(tokens)[:, None], torch.arange(tokens)
scores = q @ k.mT / width**0.5 - 0.1 * (query - key)
scores = scores.masked_fill(~sliding_window(0, 0, query, key), float("-inf"))
torch.testing.assert_close(result, torch.softmax(scores, dim=-1) @ v)
# --8<-- [end:check]

# --8<-- [start:blocks]
blocks = mask.to_dense()[0, 0]
for row in blocks.tolist():
    print("".join("#" if some else "." for some in row))
    #> #.......
    #> ##......
    #> .##.....
    #> ..##....
    #> ...##...
    #> ....##..
    #> .....##.
    #> ......##
# --8<-- [end:blocks]
