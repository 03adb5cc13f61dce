"""Bias, GELU and dropout in one kernel: checked on any machine and, on a GPU, timed as part of an MLP's first half."""
# counters: eager compile blockwise
import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import torch.nn.functional as F
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark


# --8<-- [start:kernel]
@triton.jit
def bias_gelu_dropout_kernel(
    x_ptr, bias_ptr, y_ptr, n_columns, p, seed, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    offsets = row * n_columns + columns

    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    x += tl.load(bias_ptr + columns, mask=mask).to(tl.float32)
    x = 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))
    keep = tl.rand(seed, offsets) >= p  # a number from 0 to 1 for every element
    x = tl.where(keep, x * (1 / (1 - p)), 0.0)
    tl.store(y_ptr + offsets, x, mask=mask)


def bias_gelu_dropout(x, bias, p, seed):
    y = torch.empty_like(x)
    rows, n_columns = x.shape
    grid = (rows, triton.cdiv(n_columns, 1024))
    bias_gelu_dropout_kernel[grid](x, bias, y, n_columns, p, seed, BLOCK=1024)
    return y
# --8<-- [end:kernel]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
x, bias = torch.randn(30, 3000, device=device), torch.randn(3000, device=device)
y = bias_gelu_dropout(x, bias, 0.1, seed=42)
torch.testing.assert_close(y, torch.where(y != 0, F.gelu(x + bias) / 0.9, 0.0))
print(f"dropped: {(y == 0).float().mean():.2f}")
#> dropped: 0.10
print(
    "the same seed, the same mask:",
    torch.equal(y, bias_gelu_dropout(x, bias, 0.1, seed=42)),
)
#> the same seed, the same mask: True
print(
    "another seed, the same mask:",
    torch.equal(y, bias_gelu_dropout(x, bias, 0.1, seed=43)),
)
#> another seed, the same mask: False
# --8<-- [end:check]


# --8<-- [start:four]
@triton.jit
def four_at_once_kernel(
    x_ptr, bias_ptr, y_ptr, n_columns, p, threshold, seed, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    offsets = row * n_columns + columns

    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    x += tl.load(bias_ptr + columns, mask=mask).to(tl.float32)
    x = 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))
    program = row * tl.num_programs(1) + tl.program_id(1)
    draws = program * (BLOCK // 4) + tl.arange(0, BLOCK // 4)  # [BLOCK / 4]
    a, b, c, d = tl.randint4x(seed, draws)
    bits = tl.join(tl.join(a, c), tl.join(b, d)).reshape(BLOCK)
    keep = (bits & 0x7FFFFFFF) >= threshold
    x = tl.where(keep, x * (1 / (1 - p)), 0.0)
    tl.store(y_ptr + offsets, x, mask=mask)


def four_at_once(x, bias, p, seed):
    y = torch.empty_like(x)
    rows, n_columns = x.shape
    grid = (rows, triton.cdiv(n_columns, 2048))
    threshold = int(p * 2**31)
    four_at_once_kernel[grid](
        x, bias, y, n_columns, p, threshold, seed, BLOCK=2048
    )
    return y


y = four_at_once(x, bias, 0.1, seed=42)
torch.testing.assert_close(y, torch.where(y != 0, F.gelu(x + bias) / 0.9, 0.0))
shares = [f"{(y[:, lane::4] == 0).float().mean():.2f}" for lane in range(4)]
print("dropped in each fourth of the elements:", *shares)
#> dropped in each fourth of the elements: 0.10 0.10 0.10 0.10
# --8<-- [end:four]


# --8<-- [start:ways]
def eager(x, norm_weight, norm_bias, weight, bias):
    x = F.layer_norm(x, x.shape[-1:], norm_weight, norm_bias)
    return F.dropout(F.gelu(F.linear(x, weight, bias)), 0.1)


def with_kernel(x, norm_weight, norm_bias, weight, bias):
    x = F.layer_norm(x, x.shape[-1:], norm_weight, norm_bias)
    return four_at_once(F.linear(x, weight), bias, 0.1, seed=42)


WAYS = {
    "eager": eager,
    "compile": torch.compile(eager, dynamic=False),
    "blockwise": with_kernel,
}
# --8<-- [end:ways]


def tail(x, bias):
    return F.dropout(F.gelu(x + bias), 0.1)


class Checked:
    """A result with what makes it comparable in float64; only the check before the timing calls that."""

    def __init__(self, y, finish):
        self.y, self.finish = y, finish

    def double(self):
        return self.finish(self.y.double())


def case(benchmark, op, shape, moved, flops, expected, ways, unfinished):
    def undo_dropout(y):
        assert abs((y == 0).float().mean().item() - 0.1) < 0.01, "the share of dropped elements is wrong"
        return torch.where(y == 0, expected, 0.9 * y)

    finish = dict.fromkeys(ways, undo_dropout) | {name: end for name, (_, end) in unfinished.items()}
    ways = ways | {name: way for name, (way, _) in unfinished.items()}
    functions = {name: lambda way=way, end=finish[name]: Checked(way(), end) for name, way in ways.items()}
    benchmark.case(op, "fwd", shape, torch.bfloat16, moved, flops, functions, expected)


def made(n):
    """Random inputs for 8192 tokens of 4096 numbers and a hidden layer of n."""
    shapes = [(8192, 4096), (4096,), (4096,), (n, 4096), (n,)]
    inputs = [torch.randn(shape, device="cuda") for shape in shapes]
    inputs[3] /= 64
    return [value.bfloat16() for value in inputs]


if device == "cuda" and sys.argv[1:]:
    inputs = made(16384)
    WAYS[sys.argv[1]](*inputs)  # compiles what there is to compile; only the next call is watched
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    WAYS[sys.argv[1]](*inputs)
    torch.cuda.profiler.stop()
elif device == "cuda":
    benchmark = Benchmark()
    for n in (4096, 16384):
        torch.compiler.reset()
        x, norm_weight, norm_bias, weight, bias = inputs = made(n)
        normal = F.layer_norm(x, (4096,), norm_weight, norm_bias)
        hidden = F.linear(normal, weight)
        expected = F.gelu(hidden.double() + bias.double())
        moved, flops = x.nbytes + weight.nbytes + hidden.nbytes, 2 * weight.numel() * 8192
        ways = {name: lambda way=way: way(*inputs) for name, way in WAYS.items()}
        parts = {
            "norm_linear": (lambda: F.linear(F.layer_norm(x, (4096,), norm_weight, norm_bias), weight, bias), F.gelu),
            "linear": (lambda: F.linear(normal, weight, bias), F.gelu),
            "product": (lambda: F.linear(normal, weight), lambda y: F.gelu(y + bias.double())),
        }
        case(benchmark, "mlp_half", f"8192x4096x{n}", moved, flops, expected, ways, parts)
        for rows in (16, 8192):
            part, biased = hidden[:rows], (hidden + bias)[:rows]
            compiled = torch.compile(tail, dynamic=False)
            ways = {
                "eager": lambda: tail(part, bias),
                "eager_two": lambda: F.dropout(F.gelu(biased), 0.1),
                "compile": lambda: compiled(part, bias),
                "one_by_one": lambda: bias_gelu_dropout(part, bias, 0.1, seed=42),
                "blockwise": lambda: four_at_once(part, bias, 0.1, seed=42),
            }
            case(benchmark, "mlp_tail", f"{rows}x{n}", 2 * part.nbytes, None, expected[:rows], ways, {})
    benchmark.finish()
