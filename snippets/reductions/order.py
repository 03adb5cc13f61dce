"""Three numbers, added in two orders."""
# --8<-- [start:order]
import torch

a, b, c = torch.tensor([1e8, -1e8, 1.0])  # float32
print("(a + b) + c is", ((a + b) + c).item())
#> (a + b) + c is 1.0
print("a + (b + c) is", (a + (b + c)).item())
#> a + (b + c) is 0.0
# --8<-- [end:order]
