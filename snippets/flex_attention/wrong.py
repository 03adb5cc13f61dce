"""What goes wrong with FlexAttention: a mask as minus infinity, a block mask of another length, an if, and two swapped names."""

# --8<-- [start:minus_infinity]
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

tokens, width = 128, 16
q, k, v = torch.randn(3, 1, 2, tokens, width).unbind()


def causal(batch, head, query, key):
    return query >= key


def causal_score(score, batch, head, query, key):
    return torch.where(query >= key, score, -float("inf"))


mask = create_block_mask(causal, None, None, tokens, tokens, device="cpu", BLOCK_SIZE=32)
right = flex_attention(q, k, v, block_mask=mask)
torch.testing.assert_close(flex_attention(q, k, v, score_mod=causal_score), right)
print(f"blocks: {int(mask.to_dense().sum())} of {mask.to_dense().numel()} with the mask, all of them with the score_mod")
#> blocks: 10 of 16 with the mask, all of them with the score_mod
# --8<-- [end:minus_infinity]

# --8<-- [start:length]
try:
    flex_attention(q[:, :, :96], k[:, :, :96], v[:, :, :96], block_mask=mask)
except ValueError as error:
    print(str(error).split(" but ")[1].split(". ")[0])
    #> got q_len=96 and kv_len=96
# --8<-- [end:length]


# --8<-- [start:branch]
def with_if(score, batch, head, query, key):
    return score if query >= key else -float("inf")


try:
    flex_attention(q, k, v, score_mod=with_if)
except Exception as error:
    print(type(error).__name__)
    #> Unsupported
# --8<-- [end:branch]


# --8<-- [start:swapped]
def swapped(batch, head, key, query):  # the third is the query, whatever you call it
    return query >= key


other = create_block_mask(swapped, None, None, tokens, tokens, device="cpu", BLOCK_SIZE=32)
print("finite:", flex_attention(q, k, v, block_mask=other).isfinite().all().item())
#> finite: True
# --8<-- [end:swapped]
assert not torch.allclose(flex_attention(q, k, v, block_mask=other), right)
