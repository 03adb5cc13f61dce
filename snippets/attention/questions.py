"""What the questions of the lesson ask, worked out: each line is the answer to one."""
import torch


def walk(q, k, v, block):
    """Attention of one query, and how many numbers are carried from block to block."""
    m, s, total = torch.tensor(-torch.inf), torch.tensor(0.0), torch.zeros(v.shape[1])
    for keys, values in zip(k.split(block), v.split(block), strict=True):
        scores = keys @ q
        new_m = torch.maximum(m, scores.max())
        weights, rescale = (scores - new_m).exp(), (m - new_m).exp()
        m, s, total = new_m, s * rescale + weights.sum(), total * rescale + weights @ values
    return total / s, m.numel() + s.numel() + total.numel()


sizes = []
for length in (4096, 8192):
    q = torch.empty(16, length, 128, dtype=torch.bfloat16, device="meta")
    sizes.append((q @ q.transpose(-1, -2)).nbytes)
print(f"doubled: {sizes[1] // sizes[0]}")

torch.manual_seed(0)
q, k, v = torch.randn(64), torch.randn(300, 64), torch.randn(300, 64)
out, carried = walk(q / 8, k, v, 32)
print(f"carried: {carried}")

shuffled = torch.randperm(300)
same = torch.allclose(walk(q / 8, k[shuffled], v[shuffled], 32)[0], out, atol=1e-5)
print(f"shuffled: {'same' if same else 'other'}")
