"""Where a float32 stops counting."""
# --8<-- [start:full]
import torch

for largest in (2**24 - 1, 2**24):
    count = torch.tensor(float(largest))  # float32
    print(f"{largest:,} and one more is {(count + 1).item():,.0f}")
    #> 16,777,215 and one more is 16,777,216
    #> 16,777,216 and one more is 16,777,216
# --8<-- [end:full]
