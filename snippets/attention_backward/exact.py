"""Attention and its gradients in float64, with the matrix of all weights: what a kernel is held against."""

# --8<-- [start:exact]
import torch


def exact(q, k, v, dout, is_causal=False):
    """The output, the log-sum-exp, and the gradients of the three."""
    q, k, v = (x.detach().double().requires_grad_() for x in (q, k, v))
    scores = q @ k.mT * q.shape[-1] ** -0.5
    if is_causal:
        later = torch.ones_like(scores, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    out = torch.softmax(scores, dim=-1) @ v
    gradients = torch.autograd.grad(out, (q, k, v), dout.double())
    return out.detach(), scores.logsumexp(-1).detach(), *gradients


def relative_error(found, right):
    return ((found.double() - right).norm() / right.norm()).item()
# --8<-- [end:exact]


if __name__ == "__main__":
    q, k, v, dout = torch.randn(4, 2, 5, 4)
    out, lse, dq, dk, dv = exact(q, k, v, dout, is_causal=True)
    assert relative_error(out[:, 0], v[:, 0].double()) < 1e-12
    print("the first query sees one key and returns its value")
