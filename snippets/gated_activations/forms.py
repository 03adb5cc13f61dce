"""GELU by the error function and by its approximation: how far they are apart."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:forms]
from kernels.activations import gelu

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.linspace(-6, 6, 12001, device=device)
apart = (gelu(x) - gelu(x, approximate="tanh")).abs()
print(f"at most {apart.max():.4f} apart, at x = {x[apart.argmax()].abs():.1f}")
#> at most 0.0005 apart, at x = 2.7
# --8<-- [end:forms]
