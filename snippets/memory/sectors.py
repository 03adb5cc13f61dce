"""Memory is fetched in sectors of 32 bytes: how many do the 32 lanes of a warp touch?"""

# --8<-- [start:sectors]
import torch

for stride in (1, 2, 4, 8, 16, 32):
    addresses = torch.arange(32) * stride * 4  # 32 lanes, float32
    sectors = (addresses // 32).unique().numel()
    print(f"stride {stride:2}: {sectors:2} sectors, {32 * sectors:4} bytes for 128")
    #> stride  1:  4 sectors,  128 bytes for 128
    #> stride  2:  8 sectors,  256 bytes for 128
    #> stride  4: 16 sectors,  512 bytes for 128
    #> stride  8: 32 sectors, 1024 bytes for 128
    #> stride 16: 32 sectors, 1024 bytes for 128
    #> stride 32: 32 sectors, 1024 bytes for 128
# --8<-- [end:sectors]
