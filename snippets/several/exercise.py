"""The exercise: what a reduce-scatter must give, in PyTorch."""
import torch

# --8<-- [start:exercise]
torch.manual_seed(0)
x = torch.randn(4, 1000)  # a row for each rank
shares = x.sum(0).chunk(4)  # rank r keeps shares[r]
print([len(share) for share in shares])
#> [250, 250, 250, 250]
# --8<-- [end:exercise]
