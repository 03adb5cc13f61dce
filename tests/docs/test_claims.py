"""What the pages say of the tools in words, tried here in a process that nothing else has touched."""

import os
import subprocess
import sys

STORE = """
import torch
import triton
import triton.language as tl


@triton.jit
def store_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets))


x = torch.tensor([2.9999, 1.0])
y = torch.empty(2, dtype=torch.bfloat16)
store_kernel[(1,)](x, y, BLOCK=2)
print(y.tolist(), x.bfloat16().tolist())
"""


def test_the_interpreter_cuts_off_where_it_stores_bfloat16(tmp_path):
    (tmp_path / "store.py").write_text(STORE)
    variables = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run([sys.executable, "store.py"], cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert done.stdout.split("\n")[0] == "[2.984375, 1.0] [3.0, 1.0]", done.stdout + done.stderr
