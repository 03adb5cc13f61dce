"""What chance allows a mask of dropout, and what the library's mask does."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:chance]
import math

from kernels.dropout import dropout

device = "cuda" if torch.cuda.is_available() else "cpu"
n, p = 2**16, 0.25
kept = dropout(torch.ones(n, device=device), p, seed=7) != 0
spread = math.sqrt(n * p * (1 - p))  # the standard deviation of the count


def off(count, expected, spread):
    return f"{(count - expected) / spread:+.1f} standard deviations"


dropped = int((~kept).sum())
print("dropped:", dropped, "of", int(n * p), off(dropped, n * p, spread))
#> dropped: 16284 of 16384 -0.9 standard deviations

both = int((~kept[1:] & ~kept[:-1]).sum())
pairs = (n - 1) * p * p  # their count varies a little more than a count of independent things
spread = math.sqrt(pairs * (1 + 2 * p - 3 * p * p))
print("two neighbors:", both, "of", int(pairs), off(both, pairs, spread))
#> two neighbors: 3993 of 4095 -1.4 standard deviations

other = dropout(torch.ones(n, device=device), p, seed=8) != 0
both = int((~kept & ~other).sum())
spread = math.sqrt(n * p * p * (1 - p * p))
print("two seeds:", both, "of", int(n * p * p), off(both, n * p * p, spread))
#> two seeds: 4088 of 4096 -0.1 standard deviations
# --8<-- [end:chance]
