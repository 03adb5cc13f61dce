"""FlexAttention called eagerly and compiled: what each launches, how long it takes, and that they agree."""
# needs: cuda
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark, keep
from snippets.inductor.captured import calls_of, captured, kernels_of, launched


# --8<-- [start:flex]
def causal(batch, head, query, key):
    return query >= key


q, k, v = torch.randn(3, 1, 16, 4096, 128, device="cuda").bfloat16().unbind()
mask = create_block_mask(causal, None, None, 4096, 4096, device="cuda")
compiled, result, program = captured(flex_attention, q, k, v, None, mask)
# --8<-- [end:flex]
expected = F.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True)
eager_kernels = launched(lambda: flex_attention(q, k, v, block_mask=mask))
compiled_kernels = launched(lambda: compiled(q, k, v, None, mask))
print(f"eager: {len(eager_kernels)} kernels, compiled: {len(compiled_kernels)}, written as {[m for m, _ in kernels_of(program)]}")
benchmark = Benchmark()
ways = {
    "compile": lambda: compiled(q, k, v, None, mask),
    "eager": lambda: flex_attention(q, k, v, block_mask=mask),
    "sdpa": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
}
shape, flops = "1x16x4096x128", 2 * 16 * 4096 * 4096 * 128
benchmark.case("inductor_flex_causal", "fwd", shape, q.dtype, 4 * q.nbytes, flops, ways, expected)
figures = {"eager": len(eager_kernels), "compiled": len(compiled_kernels), "calls": calls_of(program)}
keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
