"""What the questions of the lesson ask, worked out: each line is the answer to one."""
import torch


def take(m, s, block):
    """The largest number and the sum after one more block of a row."""
    larger = torch.maximum(m, block.max())
    return larger, s * torch.exp(m - larger) + torch.exp(block - larger).sum()


m, s = take(torch.tensor(2.0), torch.tensor(3.0), torch.tensor([5.0]))
print(f"rescaled: {s.item():.2f}")

print(f"first: {torch.exp(torch.tensor(-float('inf')) - 4).item()}")

row = torch.randn(2**20)
parts = []
for part in row.chunk(4):
    start = torch.tensor(-float("inf")), torch.tensor(0.0)
    parts.append(take(*start, part))
largest = max(m for m, _ in parts)
total = sum(s * torch.exp(m - largest) for m, s in parts)
assert torch.isclose(largest + total.log(), row.logsumexp(0))
print(f"parts: {sum(map(len, parts))}")
