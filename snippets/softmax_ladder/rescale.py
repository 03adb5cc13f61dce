"""The running maximum and the running sum of one row, taken in blocks of three."""

# --8<-- [start:rescale]
import torch

x = torch.tensor([1.0, 3.0, 2.0, 6.0, 4.0, 5.0, 0.0, 1.0, 7.0])
m, s = -torch.inf, 0.0
for block in x.split(3):
    new_m = max(m, block.max().item())
    rescale = torch.tensor(m - new_m).exp().item()
    s = s * rescale + (block - new_m).exp().sum().item()
    m = new_m
    print(f"{block.tolist()}: m = {m:.0f}, old sum times {rescale:.4f}, s = {s:.4f}")
    #> [1.0, 3.0, 2.0]: m = 3, old sum times 0.0000, s = 1.5032
    #> [6.0, 4.0, 5.0]: m = 6, old sum times 0.0498, s = 1.5781
    #> [0.0, 1.0, 7.0]: m = 7, old sum times 0.3679, s = 1.5839

print(f"seen whole: m = {x.max():.0f}, s = {(x - x.max()).exp().sum():.4f}")
#> seen whole: m = 7, s = 1.5839
# --8<-- [end:rescale]
