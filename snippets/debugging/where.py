"""Where a wrong result is wrong: in which rows, in which columns, and by what factor."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from snippets.debugging.suspect import scale_rows, scale_rows_reference

device = "cuda" if torch.cuda.is_available() else "cpu"
x = 1 + torch.rand(8, 1000, device=device)
weight = 1 + torch.rand(1000, device=device)


# --8<-- [start:where]
def where_wrong(y, expected):
    wrong = ~torch.isclose(y, expected, atol=1e-4)  # NaN counts as wrong
    rows, columns = wrong.any(dim=1), wrong.any(dim=0)
    factor = (y / expected)[wrong]
    return (
        f"{int(wrong.sum())} of {wrong.numel()} elements",
        f"in {int(rows.sum())} of {len(rows)} rows, {int(columns.sum())} of {len(columns)} columns",
        f"by factors from {factor.min():.4f} to {factor.max():.4f}",
    )


y = scale_rows(x, weight)
for line in where_wrong(y, scale_rows_reference(x, weight)):
    print(line)
    #> 8000 of 8000 elements
    #> in 8 of 8 rows, 1000 of 1000 columns
    #> by factors from 1.0119 to 1.0119
# --8<-- [end:where]
