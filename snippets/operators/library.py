"""The library's functions, one by one: in a compiled graph, forward and backward, and what a call costs the host."""
# needs: cuda
import statistics
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton

from kernels.add import add
from kernels.tools.benchmark import keep
from kernels.cross_entropy import cross_entropy
from kernels.dropout import dropout
from kernels.activations import geglu
from kernels.activations import gelu
from kernels.norm import layer_norm
from kernels.layer_norm_linear import layer_norm_linear
from kernels.matmul import matmul
from kernels.operators.register import operator_in_graph
from kernels.operators.cross_entropy import cross_entropy_in_graph
from kernels.operators.dropout import dropout_in_graph
from kernels.operators.elements import add_in_graph, geglu_in_graph, gelu_in_graph, swiglu_in_graph
from kernels.operators.products import layer_norm_linear_in_graph, matmul_in_graph
from kernels.operators.rotary_embedding import rotary_embedding_in_graph
from kernels.operators.rows import layer_norm_in_graph, rms_norm_in_graph, softmax_in_graph
from kernels.norm import rms_norm
from kernels.rotary_embedding import rotary_embedding
from kernels.softmax import softmax
from kernels.activations import swiglu
from snippets.inductor.captured import queued_us


def of(*shape, scale=1.0):
    return torch.randn(*shape, device="cuda").bfloat16() * scale


x, y, w, b = of(64, 256), of(64, 256), of(256), of(256)
square, target = of(256, 256, scale=1 / 16), torch.randint(0, 256, (64,), device="cuda")
q, k, tables = of(1, 8, 64, 64), of(1, 2, 64, 64), (of(64, 32), of(64, 32))
CASES = {
    "add": (add, add_in_graph, (x, y)),
    "gelu": (gelu, gelu_in_graph, (x, b)),
    "swiglu": (swiglu, swiglu_in_graph, (x, y)),
    "geglu": (geglu, geglu_in_graph, (x, y)),
    "dropout": (dropout, dropout_in_graph, (x, 0.1, 7)),
    "softmax": (softmax, softmax_in_graph, (x,)),
    "layer_norm": (layer_norm, layer_norm_in_graph, (x, w, b)),
    "rms_norm": (rms_norm, rms_norm_in_graph, (x, w)),
    "cross_entropy": (cross_entropy, cross_entropy_in_graph, (x, target)),
    "rotary_embedding": (rotary_embedding, rotary_embedding_in_graph, (q, k, *tables)),
    "matmul": (matmul, matmul_in_graph, (x, square, b, "gelu")),
    "layer_norm_linear": (layer_norm_linear, layer_norm_linear_in_graph, (x, w, b, square, b)),
}


def launches_of(call):
    """What a call launches: the kernels, their arguments and their options."""
    launches, run = [], triton.runtime.JITFunction.run

    def noted(kernel, *arguments, grid, **options):
        launches.append((kernel[grid], arguments, {key: value for key, value in options.items() if key != "warmup"}))
        return run(kernel, *arguments, grid=grid, **options)

    triton.runtime.JITFunction.run = noted
    call()
    triton.runtime.JITFunction.run = run
    return launches


def bare(call):
    """The launches that a call makes, with the allocation of what they write, and nothing else of it."""
    # Two calls, both of whose tensors are alive: what lies elsewhere in the second was allocated for the call.
    first, launches = launches_of(call), launches_of(call)
    given = [[t for _, arguments, _ in each for t in arguments if torch.is_tensor(t)] for each in (first, launches)]
    fresh = {t.data_ptr(): t for before, t in zip(*given, strict=True) if t.data_ptr() != before.data_ptr()}.values()

    def launch():
        for tensor in fresh:
            torch.empty_like(tensor)
        for kernel, arguments, options in launches:
            kernel(*arguments, **options)

    return launch


def gradients(function, arguments):
    floats = [torch.is_tensor(a) and a.is_floating_point() and all(a is not table for table in tables) for a in arguments]
    leaves = [a.detach().requires_grad_() if wanted else a for a, wanted in zip(arguments, floats, strict=True)]
    results = function(*leaves)
    results = results if isinstance(results, tuple) else (results,)
    torch.manual_seed(1)
    weights = [torch.randn_like(result) for result in results]
    return results, torch.autograd.grad(results, [leaf for leaf, wanted in zip(leaves, floats, strict=True) if wanted], weights)


def off_by(found, expected):
    """The largest relative error of several tensors, by their norms."""
    return max(((a.double() - b.double()).norm() / b.double().norm()).item() for a, b in zip(found, expected, strict=True))


WAYS = ("bare", "function", "public", "operator")
visits = {name: [] for name in CASES}
with torch.no_grad():
    for _ in range(5):  # so that slow moments of the host fall on all functions alike
        for name, (function, in_graph, arguments) in CASES.items():
            calls = [lambda f=f, a=arguments: f(*a) for f in (function, operator_in_graph(function, in_graph), in_graph)]
            visits[name].append(queued_us(bare(calls[0]), *calls))
kept = {}
print("microseconds        bare launch  function  in kernels  over it  operator  compiled | plain function compiles")
for name, (function, in_graph, arguments) in CASES.items():
    public = operator_in_graph(function, in_graph)
    kept[name] = {way: statistics.median(us) for way, us in zip(WAYS, zip(*visits[name], strict=True), strict=True)}
    torch.compiler.reset()
    with torch.no_grad():
        compiled = torch.compile(public, fullgraph=True)
        (kept[name]["compiled"],) = queued_us(lambda c=compiled, a=arguments: c(*a))
    torch.compiler.reset()
    expected, found = gradients(function, arguments), gradients(torch.compile(public, fullgraph=True), arguments)
    kept[name]["off_forward"], kept[name]["off_backward"] = (off_by(*pair) for pair in zip(found, expected, strict=True))
    assert max(kept[name]["off_forward"], kept[name]["off_backward"]) < 1.6e-2, (name, kept[name])
    torch.compiler.reset()
    try:
        gradients(torch.compile(function, fullgraph=True), arguments)
        kept[name]["plain"] = "yes"
    except Exception as error:
        kept[name]["plain"] = f"{type(error).__name__}: " + " ".join(str(error).split())[:120]
    t = kept[name]
    print(f"{name:18}{t['bare']:>13.1f}{t['function']:>10.1f}{t['public']:>12.1f}{t['public'] - t['bare']:>9.1f}", end="")
    print(f"{t['operator']:>10.1f}{t['compiled']:>10.1f} | {t['plain']}")
kept["most_over"] = max(entry["public"] - entry["bare"] for entry in kept.values())
print(f"at most {kept['most_over']:.1f} over the bare launch")
keep(figures=kept)
