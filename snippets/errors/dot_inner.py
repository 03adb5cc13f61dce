"""A product of two tiles, or of a tile and a vector, whose sides do not meet."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:wrong]
@triton.jit
def scores_kernel(q_ptr, k_ptr, scores_ptr, ROWS: tl.constexpr, D: tl.constexpr):
    rows = tl.arange(0, ROWS)
    places = rows[:, None] * D + tl.arange(0, D)[None, :]
    q = tl.load(q_ptr + places)
    k = tl.load(k_ptr + places)
    scores = tl.dot(q, k)  # the mistake
    tl.store(scores_ptr + rows[:, None] * ROWS + rows[None, :], scores)


q, k = (torch.rand(16, 32, device=device).half() for _ in range(2))
scores = torch.empty(16, 16, device=device)
said = error_of(lambda: scores_kernel[(1,)](q, k, scores, ROWS=16, D=32))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_vector]
@triton.jit
def vector_kernel(a_ptr, x_ptr, y_ptr, ROWS: tl.constexpr, D: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, D)
    a = tl.load(a_ptr + rows[:, None] * D + columns[None, :])
    x = tl.load(x_ptr + columns)
    tl.store(y_ptr + rows, tl.dot(a, x))  # the mistake


x, y = torch.rand(32, device=device).half(), torch.empty(16, device=device)
said = error_of(lambda: vector_kernel[(1,)](q, x, y, ROWS=16, D=32))
# --8<-- [end:wrong_vector]
print(said)


# --8<-- [start:right]
@triton.jit
def scores_kernel(q_ptr, k_ptr, scores_ptr, ROWS: tl.constexpr, D: tl.constexpr):
    rows = tl.arange(0, ROWS)
    places = rows[:, None] * D + tl.arange(0, D)[None, :]
    q = tl.load(q_ptr + places)
    k = tl.load(k_ptr + places)
    scores = tl.dot(q, tl.trans(k))
    tl.store(scores_ptr + rows[:, None] * ROWS + rows[None, :], scores)


scores_kernel[(1,)](q, k, scores, ROWS=16, D=32)
print(torch.allclose(scores, q.float() @ k.float().T, rtol=1e-4))
#> True
# --8<-- [end:right]


# --8<-- [start:right_vector]
@triton.jit
def vector_kernel(a_ptr, x_ptr, y_ptr, ROWS: tl.constexpr, D: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, D)
    a = tl.load(a_ptr + rows[:, None] * D + columns[None, :]).to(tl.float32)
    x = tl.load(x_ptr + columns)
    tl.store(y_ptr + rows, tl.sum(a * x[None, :], axis=1))


vector_kernel[(1,)](q, x, y, ROWS=16, D=32)
print(torch.allclose(y, q.float() @ x.float(), rtol=1e-4))
#> True
# --8<-- [end:right_vector]
