"""A mean of means is not the mean, where the batches count different numbers of tokens."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:micro_batches]
from kernels.cross_entropy import cross_entropy

device = "cuda" if torch.cuda.is_available() else "cpu"
logits = torch.zeros(4, 10, device=device)
logits[0, 0] = 100.0  # right, and certain: a loss of zero
target = torch.tensor([0, 5, 6, 7], device=device)
target[1] = -100  # padding, which does not count

whole = cross_entropy(logits, target)
halves = [cross_entropy(logits[part], target[part]) for part in (slice(0, 2), slice(2, 4))]
print(f"whole {whole.item():.3f}, mean of the halves {sum(halves).item() / 2:.3f}")
#> whole 1.535, mean of the halves 1.151

sums = [
    cross_entropy(logits[part], target[part], reduction="sum")
    for part in (slice(0, 2), slice(2, 4))
]
counted = (target != -100).sum().item()
print(f"sum of the halves by {counted}: {sum(sums).item() / counted:.3f}")
#> sum of the halves by 3: 1.535
# --8<-- [end:micro_batches]
