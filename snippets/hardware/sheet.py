"""Print this machine's GPU sheet: what it is, what it reaches, where the library's kernels land on it."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep

# --8<-- [start:sheet]
from kernels.tools.hardware import hardware_sheet, sheet_text

found = hardware_sheet()
print(sheet_text(found))
# --8<-- [end:sheet]
landed = {f"{row['op']}_{row['direction']}_{row['shape']}": row for row in found["kernels"]}
keep(figures=found | {"kernels": landed})
