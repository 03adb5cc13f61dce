"""Four masks for FlexAttention, each held against a matrix that is built another way, in float64."""

# --8<-- [start:imports]
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
# --8<-- [end:imports]

from snippets.flex_attention.variants import causal, documents_of, prefix_of, window_of, written_out

# --8<-- [start:masks]
tokens, span, prefix = 192, 40, 50
lengths = [70, 22, 100]  # three documents in one row
document = torch.repeat_interleave(torch.arange(3), torch.tensor(lengths))

ones = torch.ones(tokens, tokens, dtype=torch.bool)
blocks = torch.block_diag(*[torch.ones(n, n) for n in lengths]).bool()
before = ones.tril()
before_or_prefix = before.clone()
before_or_prefix[:, :prefix] = True
MASKS = {  # for each: the function, and the matrix that it has to be
    "causal": (causal, before),
    "sliding window": (window_of(span), before & ones.triu(1 - span)),
    "documents": (documents_of(document), before & blocks),
    "prefix": (prefix_of(prefix), before_or_prefix),
}
# --8<-- [end:masks]

# --8<-- [start:check]
q, k, v = torch.randn(3, 2, 2, tokens, 16, dtype=torch.float64).unbind()
for name, (mask_mod, allowed) in MASKS.items():
    mask = create_block_mask(mask_mod, None, None, tokens, tokens, device="cpu", BLOCK_SIZE=32)
    result = flex_attention(q, k, v, block_mask=mask)
    torch.testing.assert_close(result, written_out(q, k, v, allowed), rtol=1e-12, atol=1e-12)
    print(f"{name:14} {int(allowed.sum()):5} of {tokens**2} scores count")
    #> causal         18528 of 36864 scores count
    #> sliding window  6900 of 36864 scores count
    #> documents       7788 of 36864 scores count
    #> prefix         19753 of 36864 scores count
# --8<-- [end:check]
