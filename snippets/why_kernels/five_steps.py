"""Softmax as five PyTorch operations, and how much of the matrix each of them reads and writes."""

# --8<-- [start:steps]
import torch

x = torch.randn(1000, 4000)

largest = x.amax(dim=-1, keepdim=True)  # one number a row
shifted = x - largest
powers = shifted.exp()
total = powers.sum(dim=-1, keepdim=True)  # one number a row
y = powers / total

torch.testing.assert_close(y, torch.softmax(x, dim=-1))
# --8<-- [end:steps]

# --8<-- [start:passes]
steps = {
    "max": ([x], largest),
    "subtract": ([x, largest], shifted),
    "exp": ([shifted], powers),
    "sum": ([powers], total),
    "divide": ([powers, total], y),
}
passes = 0
for name, (inputs, output) in steps.items():
    read = sum(tensor.nbytes for tensor in inputs) / x.nbytes
    written = output.nbytes / x.nbytes
    passes += read + written
    print(f"{name:8} reads {read:.1f}, writes {written:.1f}")
    #> max      reads 1.0, writes 0.0
    #> subtract reads 1.0, writes 1.0
    #> exp      reads 1.0, writes 1.0
    #> sum      reads 1.0, writes 0.0
    #> divide   reads 1.0, writes 1.0
print(f"{passes:.1f} passes in all")
#> 8.0 passes in all
# --8<-- [end:passes]
