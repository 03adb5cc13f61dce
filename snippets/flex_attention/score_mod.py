"""Three changes of a score for FlexAttention, each held against matrices in float64; the learned one with its gradient."""

# --8<-- [start:imports]
import torch
from torch.nn.attention.flex_attention import flex_attention
# --8<-- [end:imports]

from snippets.flex_attention.variants import alibi_of, relative_of, soft_cap_of, written_out

# --8<-- [start:scores]
heads, tokens, longest = 2, 96, 31
slopes = torch.tensor([0.5, 0.25], dtype=torch.float64)
bias = torch.randn(heads, longest + 1, dtype=torch.float64, requires_grad=True)

query, key = torch.arange(tokens)[:, None], torch.arange(tokens)
distance = query - key
SCORES = {  # for each: the function, and the same for a matrix of scores
    "ALiBi": (alibi_of(slopes), lambda scores: scores - slopes.view(heads, 1, 1) * distance),
    "relative bias": (relative_of(bias), lambda scores: scores + bias[:, distance.clamp(0, longest)]),
    "soft cap": (soft_cap_of(2.0), lambda scores: 2 * torch.tanh(scores / 2)),
}
# --8<-- [end:scores]

# --8<-- [start:check]
q, k, v = torch.randn(3, 2, heads, tokens, 16, dtype=torch.float64).unbind()
for name, (score_mod, change) in SCORES.items():
    wanted = written_out(q, k, v, change=change)
    torch.testing.assert_close(flex_attention(q, k, v, score_mod=score_mod), wanted, rtol=1e-12, atol=1e-12)
    print(f"{name}: agrees")
    #> ALiBi: agrees
    #> relative bias: agrees
    #> soft cap: agrees
# --8<-- [end:check]

# --8<-- [start:gradient]
weight = torch.randn_like(q)
score_mod, change = SCORES["relative bias"]
found, = torch.autograd.grad((flex_attention(q, k, v, score_mod=score_mod) * weight).sum(), bias)
wanted, = torch.autograd.grad((written_out(q, k, v, change=change) * weight).sum(), bias)
torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)
print(f"a gradient for each of {found.numel()} biases")
#> a gradient for each of 64 biases
# --8<-- [end:gradient]

# --8<-- [start:leaves]
try:
    flex_attention(q.requires_grad_(), k, v)
except NotImplementedError as error:
    print(str(error).split(". ")[0])
    #> FlexAttention does not support backward on CPU
# --8<-- [end:leaves]
