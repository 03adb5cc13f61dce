"""The gradients of attention by hand, a tile of keys at a time, from the output and the log-sum-exp alone."""

# --8<-- [start:forward]
import torch

L, D = 6, 4
q, k, v, dout = torch.randn(4, L, D, dtype=torch.float64)
scale = D**-0.5

for x in (q, k, v):
    x.requires_grad_()
scores = q @ k.T * scale
out = torch.softmax(scores, dim=-1) @ v
lse = scores.logsumexp(-1, keepdim=True)
expected = torch.autograd.grad(out, (q, k, v), dout)
q, k, v, out, lse = (x.detach() for x in (q, k, v, out, lse))
del scores  # from here on there is no matrix of L by L
# --8<-- [end:forward]

# --8<-- [start:backward]
delta = (dout * out).sum(-1, keepdim=True)  # [L, 1]: all that a query keeps of its row
dq, dk, dv = (torch.zeros_like(x) for x in (q, k, v))
for tile in torch.arange(L).split(2):
    p = torch.exp(q @ k[tile].T * scale - lse)  # [L, 2], the weights again
    dp = dout @ v[tile].T
    ds = p * (dp - delta)
    dv[tile] = p.T @ dout
    dk[tile] = ds.T @ q * scale
    dq += ds @ k[tile] * scale

for name, found, right in zip("qkv", (dq, dk, dv), expected, strict=True):
    torch.testing.assert_close(found, right)
    print(f"d{name}: as autograd has it")
    #> dq: as autograd has it
    #> dk: as autograd has it
    #> dv: as autograd has it
# --8<-- [end:backward]
