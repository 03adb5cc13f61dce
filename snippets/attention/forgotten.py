"""What goes wrong: the sum of exponentials is rescaled, and the weighted sum of values is not."""
# --8<-- [start:forgotten]
import torch


def walk(q, k, v, rescale_values):
    m, s, total = torch.tensor(-torch.inf), 0.0, torch.zeros(v.shape[1])
    for keys, values in zip(k.split(4), v.split(4), strict=True):
        scores = keys @ q
        new_m = torch.maximum(m, scores.max())
        weights, rescale = (scores - new_m).exp(), (m - new_m).exp()
        s = s * rescale + weights.sum()
        total = total * (rescale if rescale_values else 1.0) + weights @ values
        m = new_m
    return total / s


torch.manual_seed(0)
q, k, v = torch.randn(8), torch.randn(64, 8), torch.randn(64, 8)
falling = (k @ q).argsort(descending=True)
for name, order in {"falling": falling, "rising": falling.flip(0)}.items():
    expected = torch.softmax(k[order] @ q, dim=0) @ v[order]
    for rescale_values in (True, False):
        right = torch.allclose(walk(q, k[order], v[order], rescale_values), expected, atol=1e-5)
        print(f"scores {name}, values rescaled: {rescale_values}, right: {right}")
        #> scores falling, values rescaled: True, right: True
        #> scores falling, values rescaled: False, right: True
        #> scores rising, values rescaled: True, right: True
        #> scores rising, values rescaled: False, right: False
# --8<-- [end:forgotten]
