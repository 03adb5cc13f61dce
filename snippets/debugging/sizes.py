"""Right for rows of 1024, wrong for rows of 1000."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from snippets.debugging.suspect import scale_rows, scale_rows_reference


# --8<-- [start:sizes]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
for n_columns in (1024, 1000):
    x = 1 + torch.rand(8, n_columns, device=device)
    weight = 1 + torch.rand(n_columns, device=device)
    right = torch.allclose(scale_rows(x, weight), scale_rows_reference(x, weight), atol=1e-4)
    print(f"{n_columns} columns: {'right' if right else 'wrong'}")
    #> 1024 columns: right
    #> 1000 columns: wrong
# --8<-- [end:sizes]
