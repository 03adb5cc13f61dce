"""The library's two kernels for Hopper, each launched on a small product with tiles that do not divide it."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:imports]
from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels.common.arguments import INTERPRETED
from kernels.common.counters import arrival_counters, workspace, shared_key
from kernels.matmul.epilogue import Epilogue, Launch, descriptor_factory, known_step
from kernels.matmul.epilogue import matmul_activated, matmul_finished, matmul_known, matmul_tile
from kernels.matmul.hopper import descriptor
from kernels.common.sizes import next_power_of_2
# --8<-- [end:imports]

from kernels.matmul.hopper import matmul_hopper
# --8<-- [start:also]
from kernels.matmul.narrow import matmul_narrow
# --8<-- [end:also]

# --8<-- [start:hopper]
device = "cuda" if torch.cuda.is_available() else "cpu"
a = torch.randint(-4, 5, (200, 136), device=device).half()
b = torch.randint(-4, 5, (136, 328), device=device).half()
c, bias = torch.empty(200, 328, device=device).half(), torch.arange(328, device=device).half()
expected = (a.float() @ b.float() + bias).half()
sides = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP_M": 8, "num_warps": 4, "num_stages": 3}
finish = Epilogue(bias=bias)
for way in ({"DESCRIPTOR_STORE": True}, {"DESCRIPTOR_STORE": False}):
    launch = matmul_hopper(a, b, c, finish, "tf32", sides | way | {"programs": 4})
    launch(a, b, c.zero_(), finish)
    print(torch.equal(c, expected))
    #> True
    #> True
# --8<-- [end:hopper]

# --8<-- [start:narrow]
few, sides = a[:10], {"WIDE": 64, "NARROW": 16, "BLOCK_K": 64, "num_warps": 4, "num_stages": 3}
for parts in (1, 2):
    c = torch.zeros(10, 328, device=device).half()
    launch = matmul_narrow(few, b, c, finish, "tf32", sides | {"parts": parts})
    launch(few, b, c, finish)
    print(parts, torch.equal(c, expected[:10]))
    #> 1 True
    #> 2 True
# --8<-- [end:narrow]
