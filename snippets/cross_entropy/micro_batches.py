"""A mean of means is not the mean, where the batches count different numbers of tokens."""

import torch

# --8<-- [start:micro_batches]
import torch.nn.functional as F

logits = torch.zeros(4, 10)
logits[0, 0] = 100.0  # right, and certain: a loss of zero
target = torch.tensor([0, -100, 6, 7])  # the second is padding, which does not count
halves = (slice(0, 2), slice(2, 4))

whole = F.cross_entropy(logits, target)
means = [F.cross_entropy(logits[half], target[half]) for half in halves]
print(f"whole {whole:.3f}, mean of the halves {sum(means) / 2:.3f}")
#> whole 1.535, mean of the halves 1.151

sums = [F.cross_entropy(logits[half], target[half], reduction="sum") for half in halves]
counted = (target != -100).sum()
print(f"sum of the halves, divided by {counted}: {sum(sums) / counted:.3f}")
#> sum of the halves, divided by 3: 1.535
# --8<-- [end:micro_batches]
