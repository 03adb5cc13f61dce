"""Time kernels.rotary_embedding, forward and backward, beside PyTorch, torch.compile, Liger-Kernel and flash-attn."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config

from kernels.tools.benchmark import Replayed
from kernels.rotary_embedding import rotary_embedding
from kernels.rotary_embedding.rotary_embedding import rotary_embedding_reference

try:
    from liger_kernel.transformers.functional import liger_rope
except ImportError:
    print("liger-kernel is not installed: it is left out")
    liger_rope = None
try:
    from flash_attn.ops.triton.rotary import apply_rotary
except ImportError:
    print("flash-attn is not installed: it is left out")
    apply_rotary = None

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here
# Batches, tokens, heads of the queries, heads of the keys, numbers in a head.
SHAPES = [(2, 4096, 32, 8, 128), (1, 1024, 32, 8, 128), (4, 8192, 32, 8, 128), (1, 32768, 16, 16, 64)]
SHAPES += [(2, 4001, 20, 20, 80), (1024, 1, 32, 8, 128), (1, 131072, 8, 1, 128)]


def heads_of(batches, tokens, heads, width):
    """As a projection leaves them: all heads of a token side by side, seen as [B, H, S, D]."""
    x = torch.randn(batches, tokens, heads, width, device="cuda", dtype=torch.bfloat16)
    return x.transpose(1, 2)


def copy_of(x):
    return x.transpose(1, 2).clone().transpose(1, 2)


def flash(q, k, cos, sin):
    return tuple(apply_rotary(x.transpose(1, 2), cos, sin).transpose(1, 2) for x in (q, k))


benchmark = Replayed()
for batches, tokens, n_q, n_k, width in SHAPES:
    torch.compiler.reset()
    q, dq = heads_of(batches, tokens, n_q, width), heads_of(batches, tokens, n_q, width)
    k, dk = heads_of(batches, tokens, n_k, width), heads_of(batches, tokens, n_k, width)
    frequencies = 10000.0 ** -torch.linspace(0, 1, width // 2, device="cuda")
    angles = torch.outer(torch.arange(tokens, device="cuda"), frequencies)
    half = angles.cos().bfloat16(), angles.sin().bfloat16()
    # The others expect each half of the table twice, and so does a model that was written for them.
    whole = tuple(torch.cat((table, table), -1)[None] for table in half)
    functions = {
        "blockwise": (rotary_embedding, half),
        "blockwise_whole": (rotary_embedding, whole),
        "eager": (rotary_embedding_reference, whole),
        "compile": (torch.compile(rotary_embedding_reference, dynamic=False), whole),
    }
    if (batches, tokens) == (2, 4096):
        mode = "max-autotune-no-cudagraphs"
        functions["compile_max"] = (torch.compile(rotary_embedding_reference, dynamic=False, mode=mode), whole)
    if liger_rope:
        functions["liger"] = (liger_rope, whole)
    if apply_rotary:
        functions["flash_triton"] = (flash, half)

    shape = f"B{batches}S{tokens}H{n_q}/{n_k}D{width}"
    moved, flops = 2 * (q.nbytes + k.nbytes), 3 * (q.numel() + k.numel())
    expected = rotary_embedding_reference(q.float(), k.float(), *(table.float() for table in whole))
    # Liger-Kernel turns its inputs in place, so it gets some of its own.
    own = {name: (copy_of(q), copy_of(k)) if name == "liger" else (q, k) for name in functions}
    for function, table in functions.values():
        torch.testing.assert_close(function(copy_of(q), copy_of(k), *table)[1].float(), expected[1], rtol=2e-2, atol=6e-2)
    forward = {
        name: lambda f=f, inputs=own[name], table=table: f(*inputs, *table)[0]
        for name, (f, table) in functions.items()
    }
    benchmark.case("rope", "fwd", shape, q.dtype, moved, flops, forward, expected[0])

    leaves = q.float().requires_grad_(), k.float().requires_grad_()
    outputs = rotary_embedding_reference(*leaves, *(table.float() for table in whole))
    expected = torch.autograd.grad(outputs, leaves, (dq.float(), dk.float()))
    backward = {}
    for name, (function, table) in functions.items():
        if name == "flash_triton":
            continue  # its files hold no backward pass of their own
        inputs = tuple(x.detach().requires_grad_() for x in (copy_of(q), copy_of(k)))
        # Liger-Kernel turns its inputs in place, which no leaf allows; the gradient is that of the products, without them.
        inputs = tuple(x * 1 for x in inputs) if name == "liger" else inputs
        outputs = function(*inputs, *table)
        given = (copy_of(dq), copy_of(dk))
        found = torch.autograd.grad(outputs, inputs, (copy_of(dq), copy_of(dk)), retain_graph=True)
        torch.testing.assert_close(found[1].float(), expected[1], rtol=2e-2, atol=6e-2)
        backward[name] = lambda o=outputs, i=inputs, d=given: torch.autograd.grad(o, i, d, retain_graph=True)[0]
    benchmark.case("rope", "bwd", shape, q.dtype, moved, flops, backward, expected[0])
benchmark.finish()
