"""Attention of one query over two halves of its keys, apart, and the two answers joined into one."""

# --8<-- [start:join]
import torch

q = torch.randn(8, dtype=torch.float64)
k, v = torch.randn(2, 100, 8, dtype=torch.float64)
outs, lses = [], []
for part in torch.arange(100).split(50):
    scores = k[part] @ q
    outs.append(torch.softmax(scores, dim=0) @ v[part])  # as if there were no other keys
    lses.append(scores.logsumexp(0))

shares = torch.softmax(torch.stack(lses), dim=0)  # each part's share of all weights
joined = shares @ torch.stack(outs)
torch.testing.assert_close(joined, torch.softmax(k @ q, dim=0) @ v)
print("joined, the parts are the whole")
#> joined, the parts are the whole
# --8<-- [end:join]
