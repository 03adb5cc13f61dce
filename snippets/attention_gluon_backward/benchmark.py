"""Time the steps in Gluon, the library's kernels, cuDNN and PyTorch's flash attention backward, alternating, each checked first.

`together_late` and `together_pages` are the kernel of together.py with one page of dS and with two, one head after another.
`blockwise_same` is the library's pair of kernels, which gives the same bits every time; `eager_same` is PyTorch's way to that.
"""
# needs: sm_90
# counters: groups added together blockwise_same eager cudnn
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    print("needs: sm_90 (a GPU of compute capability 9.0)")
    sys.exit(2)

import torch.nn.functional as F
import torch.utils.deterministic
from torch.nn.attention import SDPBackend, sdpa_kernel

from kernels.attention import attention
from kernels.tools.benchmark import Benchmark, keep
from snippets.attention_backward.exact import exact, relative_error
from snippets.attention_gluon_backward.added import added_backward
from snippets.attention_gluon_backward.groups import groups_backward
from snippets.attention_gluon_backward.together import together_backward


def exact_heads(q, k, v, dout, is_causal):
    """Head by head, because a matrix of weights in float64 is large."""
    heads = [exact(*(x[b, h] for x in (q, k, v, dout)), is_causal) for b in range(q.shape[0]) for h in range(q.shape[1])]
    return [torch.stack(each).view(*q.shape[:2], *each[0].shape) for each in zip(*heads, strict=True)]


def way_back(function, q, k, v, dout):
    """The backward pass alone, as PyTorch calls it."""
    inputs = [x.detach().requires_grad_() for x in (q, k, v)]
    result = function(*inputs)
    return lambda: torch.autograd.grad(result, inputs, dout, retain_graph=True)


def by_backend(backend, is_causal):
    def function(q, k, v):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

    return function


def same_every_time(way):
    def run():
        torch.use_deterministic_algorithms(True)
        gradients = way()
        torch.use_deterministic_algorithms(False)
        return gradients

    return run


def ways_of(q, k, v, out, lse, dout, is_causal):
    inputs = (q, k, v, out, lse, dout, is_causal)
    flash = way_back(by_backend(SDPBackend.FLASH_ATTENTION, is_causal), q, k, v, dout)
    return {
        "groups": lambda: groups_backward(*inputs),
        "added": lambda: added_backward(*inputs),
        "together_late": lambda: together_backward(*inputs, pages=1, together=1),
        "together_pages": lambda: together_backward(*inputs, together=1),
        "together": lambda: together_backward(*inputs),
        "blockwise": way_back(lambda q, k, v: attention(q, k, v, is_causal=is_causal), q, k, v, dout),
        "blockwise_same": way_back(
            lambda q, k, v: attention(q, k, v, is_causal=is_causal, deterministic=True), q, k, v, dout
        ),
        "eager": flash,
        "eager_same": same_every_time(flash),
        "cudnn": way_back(by_backend(SDPBackend.CUDNN_ATTENTION, is_causal), q, k, v, dout),
    }


torch.utils.deterministic.fill_uninitialized_memory = False
torch.manual_seed(0)
if sys.argv[1:]:  # the profiler watches one way a run, causal, after a call that compiles
    q, k, v, dout = (torch.randn(4, 16, 4096, 128, device="cuda", dtype=torch.bfloat16) for _ in range(4))
    out, lse = attention(q, k, v, is_causal=True, return_lse=True)
    way = ways_of(q, k, v, out, lse, dout, True)[sys.argv[1]]
    way()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    way()
    torch.cuda.profiler.stop()
else:
    benchmark, failed, again = Benchmark(), {}, {}
    for shape in ((4, 16, 4096, 128), (1, 16, 16384, 128)):
        for op, is_causal in (("attention_gluon_backward", False), ("attention_gluon_backward_causal", True)):
            q, k, v, dout = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(4))
            out, lse, *right = exact_heads(q, k, v, dout, is_causal)
            timed, name = {}, "x".join(map(str, shape))
            for way_name, way in ways_of(q, k, v, out.bfloat16(), lse.float(), dout, is_causal).items():
                first = way()
                off = max(map(relative_error, first, right))
                if off < 1.6e-2:
                    timed[way_name] = lambda way=way: way()[0]
                    again[f"{op} {name} {way_name}"] = all(map(torch.equal, first, way()))
                else:
                    failed[f"{op} {name} {way_name}"] = f"{off:.1e}"
            flops = (5 if is_causal else 10) * q.numel() * shape[2]
            benchmark.case(op, "bwd", name, q.dtype, 8 * q.nbytes, flops, timed, right[0])
            del out, lse, right, timed
    same = {
        way: all(bits for case, bits in again.items() if case.endswith(f" {way}"))
        for way in ("together", "blockwise", "blockwise_same", "eager", "eager_same", "cudnn")
    }
    print("failed:", failed or "none")
    print("the same bits twice:", *(way for way, bits in same.items() if bits))
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"failed": failed, "same": same})
