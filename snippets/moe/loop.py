"""A mixture of experts as it is first written: a loop over the experts, each of which picks its tokens."""
# --8<-- [start:imports]
import torch
from torch.nn.functional import silu
# --8<-- [end:imports]


# --8<-- [start:loop]
def mixture(x, logits, w_gate, w_up, w_down, k):
    """Every token through the k experts of its largest logits, in the mean that a softmax of those logits gives."""
    chosen, experts = logits.topk(k, dim=1)  # [tokens, k]
    weights = torch.softmax(chosen, dim=1)
    y = torch.zeros_like(x)
    for expert in range(logits.shape[1]):
        tokens, slots = torch.where(experts == expert)
        rows = x[tokens]
        gated = silu(rows @ w_gate[expert].T) * (rows @ w_up[expert].T)
        part = gated @ w_down[expert].T
        y.index_add_(0, tokens, part * weights[tokens, slots, None])
    return y
# --8<-- [end:loop]


# --8<-- [start:inputs]
def drawn(tokens, experts, width, hidden, device):
    """Tokens, logits that favor some experts, and weights, each as a linear layer keeps it."""
    torch.manual_seed(0)
    x = torch.randn(tokens, width, device=device)
    logits = torch.randn(tokens, experts, device=device) + torch.randn(experts, device=device)
    w_gate, w_up = (torch.randn(experts, hidden, width, device=device) * width**-0.5 for _ in range(2))
    return x, logits, w_gate, w_up, torch.randn(experts, width, hidden, device=device) * hidden**-0.5
# --8<-- [end:inputs]


if __name__ == "__main__":
    # --8<-- [start:run]
    inputs = drawn(64, 8, 32, 48, "cpu")
    y = mixture(*inputs, k=2)
    _, experts = inputs[1].topk(2, dim=1)
    print("tokens of each expert:", torch.bincount(experts.flatten(), minlength=8).tolist())
    #> tokens of each expert: [2, 36, 11, 2, 9, 25, 25, 18]
    # --8<-- [end:run]
