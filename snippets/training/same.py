"""A step of a tiny Llama both ways: the same loss and the same gradients."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

from snippets.training.llama import OURS, PLAIN, Llama

# --8<-- [start:same]
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = Llama(classes=300, hidden=32, heads=4, kv_heads=2, feed=48, layers=2).to(device)
tokens = torch.randint(0, 300, (2, 17)).to(device)
given, wanted = tokens[:, :-1], tokens[:, 1:]
results = []
for parts in (PLAIN, OURS):
    loss = model(given, wanted, parts)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    results.append((loss, *gradients))
torch.testing.assert_close(results[1], results[0], rtol=1e-3, atol=1e-4)
print(f"{len(gradients)} gradients alike, and a loss of {loss.item():.2f} both ways")
#> 15 gradients alike, and a loss of 5.85 both ways
# --8<-- [end:same]
