"""Python's debugger inside a kernel, under the interpreter; its commands are typed by the program itself."""
import io
import os
import pdb
import re

import torch

os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
print("Triton's interpreter runs the kernel on the CPU, whether there is a GPU or not.")

# --8<-- [start:imports]
import io
import pdb

import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:step]
commands = "p x\np tl.sum(x * x, axis=0)\nnext\np mean\ncontinue\n"
screen = io.StringIO()
debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=screen, nosigint=True)


@triton.jit
def mean_of_squares(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_columns + columns, mask=columns < n_columns, other=0.0)
    if row == 1:
        debugger.set_trace()  # in a script of your own: breakpoint()
    mean = tl.sum(x * x, axis=0) / BLOCK
    tl.store(out_ptr + row, mean)


x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
out = torch.empty(2)
mean_of_squares[(2,)](x, out, 3, BLOCK=4)
# --8<-- [end:step]
shown = re.sub(r"> \S*\(\d+\)", "> ", screen.getvalue())  # without the file and the line
for command in commands.splitlines():  # as a terminal shows it, with what was typed
    shown = shown.replace("(Pdb) ", f"(pdb) {command}\n", 1)
print(shown)
assert out.tolist() == [3.5, 19.25]
