"""Time every rung in one run beside the portable kernel, the library, cuDNN and PyTorch's flash backend, each checked."""
# needs: sm_90
# counters: portable groups behind turns persistent blockwise cudnn flash long_persistent long_one_head long_all_heads
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    print("needs: sm_90 (a GPU of compute capability 9.0)")
    sys.exit(2)

import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from kernels.attention import attention
from kernels.attention.launch import AttentionMask, launch_forward
from kernels.attention.plan import attention_plan
from kernels.tools.benchmark import Benchmark, keep
from snippets.attention_gluon.behind import behind_attention
from snippets.attention_gluon.groups import exact_attention, groups_attention, wrong_rows
from snippets.attention_gluon.persistent import persistent_attention
from snippets.attention_gluon.turns import turns_attention


def portable(q, k, v, causal):
    """The library's kernel in plain Triton, with the tiles that it would take without Gluon."""
    out, lse = torch.empty_like(q), torch.empty(q.shape[:3], device="cuda")
    mask, tile = AttentionMask(right=0 if causal else -1), attention_plan(q, k, False).forward
    launch_forward(q, k, v, out, lse, None, None, mask, None, tile)
    return out


def by_backend(backend, q, k, v, causal):
    with sdpa_kernel([backend]):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def ways_of(q, k, v, causal):
    """Each way to compute it, as a function that returns the output of shape [heads, length, 128]."""
    heads = [x.flatten(0, 1) for x in (q, k, v)]

    def persistent(**options):
        return lambda: persistent_attention(*heads, causal, **options)

    def whole(run):
        return lambda: run(q, k, v, causal).flatten(0, 1)

    return {
        "portable": whole(portable),
        "groups": lambda: groups_attention(*heads, causal),
        "behind": lambda: behind_attention(*heads, causal),
        "turns": lambda: turns_attention(*heads, causal),
        "persistent": persistent(),
        "one_head": persistent(together=1),
        "all_heads": persistent(together=q.shape[0] * q.shape[1]),
        "piece_each": persistent(stay=False),
        "three_stages": persistent(stages=3),
        "even_registers": persistent(registers=(168, 168)),
        "blockwise": whole(attention),
        "cudnn": whole(lambda *given: by_backend(SDPBackend.CUDNN_ATTENTION, *given)),
        "flash": whole(lambda *given: by_backend(SDPBackend.FLASH_ATTENTION, *given)),
    }


def normal(batches, length):
    return torch.randn(3, batches, 16, length, 128, device="cuda", dtype=torch.bfloat16).unbind()


torch.manual_seed(0)
if sys.argv[1:]:  # the profiler watches one way a run, causal, after a call that compiles
    name = sys.argv[1].removeprefix("long_")
    sides = (1, 16384) if name != sys.argv[1] else (4, 4096)
    way = ways_of(*normal(*sides), True)[name]
    way()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    way()
    torch.cuda.profiler.stop()
else:
    benchmark, failed = Benchmark(), {}
    for batches, length in ((4, 4096), (1, 16384)):
        q, k, v = normal(batches, length)
        for op, causal in (("attention_gluon", False), ("attention_gluon_causal", True)):
            expected, right = exact_attention(*(x.flatten(0, 1) for x in (q, k, v)), causal), {}
            for name, way in ways_of(q, k, v, causal).items():
                try:
                    off = wrong_rows(way(), expected)
                    if off:
                        failed[f"{op} {length} {name}"] = f"{off} rows are wrong"
                    else:
                        right[name] = way
                except Exception as error:
                    failed[f"{op} {length} {name}"] = f"{type(error).__name__}: {error}"[:200]
            pairs = length * (length + 1) // 2 if causal else length * length
            flops, shape = 4 * batches * 16 * pairs * 128, f"{batches}x16x{length}x128"
            benchmark.case(op, "fwd", shape, q.dtype, 4 * q.nbytes, flops, right, expected)
    print("failed:", failed or "none")
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"failed": failed})
