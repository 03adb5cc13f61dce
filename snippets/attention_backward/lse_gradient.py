"""The exercise's solution: a gradient of the log-sum-exp is taken off delta, and nothing else changes."""

# --8<-- [start:lse_gradient]
import torch


def forward(q, k, v):
    scores = q @ k.T / 2  # 2 is the root of 4
    lse = scores.logsumexp(-1, keepdim=True)
    return torch.exp(scores - lse) @ v, lse


q, k, v, dout = torch.randn(4, 6, 4, dtype=torch.float64)
dlse = torch.randn(6, 1, dtype=torch.float64)
inputs = [x.requires_grad_() for x in (q, k, v)]
out, lse = forward(*inputs)
expected = torch.autograd.grad((out, lse), inputs, (dout, dlse))

with torch.no_grad():
    delta = (dout * out).sum(-1, keepdim=True) - dlse
    p = torch.exp(q @ k.T / 2 - lse)
    ds = p * (dout @ v.T - delta)
    found = ds @ k / 2, ds.T @ q / 2, p.T @ dout
for ours, right in zip(found, expected, strict=True):
    torch.testing.assert_close(ours, right)
print("all three gradients, with one of the log-sum-exp coming in")
#> all three gradients, with one of the log-sum-exp coming in
# --8<-- [end:lse_gradient]
