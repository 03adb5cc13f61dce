"""Two functions of positions change attention: what becomes of a score, and whether it counts. Eager, on any machine."""

# --8<-- [start:functions]
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

tokens, width = 256, 16
document = torch.arange(tokens) // 90  # three documents lie in one row


def soft_cap(score, batch, head, query, key):
    """What becomes of a score."""
    return 20 * torch.tanh(score / 20)


def same_document(batch, head, query, key):
    """Whether a score counts."""
    return (query >= key) & (document[query] == document[key])
# --8<-- [end:functions]


# --8<-- [start:call]
q, k, v = torch.randn(3, 1, 2, tokens, width).unbind()
mask = create_block_mask(same_document, None, None, tokens, tokens, device="cpu", BLOCK_SIZE=32)
result = flex_attention(q, k, v, score_mod=soft_cap, block_mask=mask)
# --8<-- [end:call]

# --8<-- [start:check]
query, key = torch.arange(tokens)[:, None], torch.arange(tokens)
scores = q @ k.mT / width**0.5
scores = 20 * torch.tanh(scores / 20)
allowed = (query >= key) & (document[:, None] == document)
scores = scores.masked_fill(~allowed, float("-inf"))
torch.testing.assert_close(result, torch.softmax(scores, dim=-1) @ v)
# --8<-- [end:check]
print("flex_attention and the matrices agree")
#> flex_attention and the matrices agree
