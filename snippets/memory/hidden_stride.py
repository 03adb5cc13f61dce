"""A row and a column of one matrix hold the same number of bytes: how many have to be fetched for each?"""

# --8<-- [start:stride]
import torch

x = torch.zeros(1024, 1024)
for name, part in (("a row", x[0]), ("a column", x[:, 0])):
    addresses = torch.arange(1024) * part.stride(0) * 4
    sectors = (addresses // 32).unique().numel()
    print(f"{name}: {part.nbytes:,} bytes wanted, {32 * sectors:,} fetched")
    #> a row: 4,096 bytes wanted, 4,096 fetched
    #> a column: 4,096 bytes wanted, 32,768 fetched
# --8<-- [end:stride]
