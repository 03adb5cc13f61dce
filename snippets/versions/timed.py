"""Time the library, and every configuration that four products may have, with the Triton at hand: for the page on versions."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch.nn.functional as F

from kernels.activations import gelu, swiglu
from kernels.add import add
from kernels.attention import attention
from kernels.matmul import matmul
from kernels.matmul.search import search_candidates, search_one
from kernels.norm import layer_norm, rms_norm
from kernels.reductions import sum
from kernels.softmax import softmax
from kernels.tools.benchmark import Benchmark, keep

BF16, FP32 = torch.bfloat16, torch.float32
attended = F.scaled_dot_product_attention


def causal(x):
    return attended(x, x, x, is_causal=True)


def made(*shape, dtype=BF16):
    return torch.randn(shape, device="cuda").to(dtype)


CASES = [
    ("add", (2**27,), FP32, lambda x: add(x, x), lambda x: x + x),
    ("gelu", (2**27,), BF16, gelu, F.gelu),
    ("swiglu", (8192, 8192), BF16, lambda x: swiglu(x, x), lambda x: F.silu(x) * x),
    ("softmax", (8192, 781), FP32, softmax, lambda x: x.softmax(-1)),
    ("softmax", (8192, 4096), BF16, softmax, lambda x: x.softmax(-1)),
    ("softmax", (4096, 32768), BF16, softmax, lambda x: x.softmax(-1)),
    ("layer_norm", (8192, 4096), BF16, layer_norm, lambda x: F.layer_norm(x, x.shape[1:])),
    ("rms_norm", (8192, 8192), BF16, rms_norm, lambda x: F.rms_norm(x, x.shape[1:])),
    ("sum", (2**27,), FP32, sum, torch.sum),
    ("matmul", (1024, 1024), BF16, lambda x: matmul(x, x), lambda x: x @ x),
    ("matmul", (4096, 4096), BF16, lambda x: matmul(x, x), lambda x: x @ x),
    ("matmul", (8192, 8192), BF16, lambda x: matmul(x, x), lambda x: x @ x),
    ("attention", (2, 16, 4096, 128), BF16, lambda x: attention(x, x, x), lambda x: attended(x, x, x)),
    ("attention_causal", (2, 16, 4096, 64), BF16, lambda x: attention(x, x, x, is_causal=True), causal),
    ("attention_causal", (2, 16, 4096, 128), BF16, lambda x: attention(x, x, x, is_causal=True), causal),
]
benchmark = Benchmark()
for op, shape, dtype, ours, theirs in CASES:
    x = made(*shape, dtype=dtype).abs() if ours is sum else made(*shape, dtype=dtype)  # no sum near zero
    functions = {"blockwise": lambda: ours(x), "eager": lambda: theirs(x)}
    # The bytes are those of the input, for the line that is printed; of this record only times are shown.
    benchmark.case(op, "fwd", "x".join(map(str, shape)), dtype, x.nbytes, None, functions, theirs(x))

tried = {}
for m, k, n in ((4096, 4096, 4096), (1024, 1024, 1024), (512, 8192, 512), (16, 8192, 8192)):
    shape, a, b = f"{m}x{k}x{n}", made(m, k), made(k, n)
    tried[shape] = [search_one(*candidate, a, b, a @ b) for candidate in search_candidates(a, b)]
    best = sorted((one for one in tried[shape] if one["ms"]), key=lambda one: one["ms"])[0]
    print(f"{shape}: {len(tried[shape])} tried, fastest {best['kernel']} {best['configuration']}", flush=True)
keep(ceilings=benchmark.ceilings, timed=benchmark.measurements, tried=tried)
