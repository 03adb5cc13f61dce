"""A kernel registered as a custom operator: a graph holds it, and it has a gradient."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:kernel]
import torch
import triton
import triton.language as tl


@triton.jit
def softsign_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x / (1 + tl.abs(x)), mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:operator]
@torch.library.custom_op("lesson::softsign", mutates_args=())
def softsign(x: torch.Tensor) -> torch.Tensor:
    x = x.contiguous()
    y = torch.empty_like(x)
    softsign_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y


@softsign.register_fake
def softsign_fake(x):
    return torch.empty_like(x, memory_format=torch.contiguous_format)
# --8<-- [end:operator]


# --8<-- [start:graph]
device = "cuda" if torch.cuda.is_available() else "cpu"
graphs = []


def keeping(graph, inputs):
    graphs.append(graph.graph)
    return graph.forward


def layer(x):
    return softsign(x * 2) + 1


x = torch.randn(1000, device=device)
result = torch.compile(layer, backend=keeping, fullgraph=True)(x)
torch.testing.assert_close(result, torch.nn.functional.softsign(x * 2) + 1)
for node in graphs[0].nodes:
    print(f"{node.op:13} {node.target if node.op != 'call_function' else node.target.__name__}")
    #> placeholder   L_x_
    #> call_function mul
    #> call_function softsign.default
    #> call_function add
    #> output        output
# --8<-- [end:graph]


# --8<-- [start:gradient]
def setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def backward(ctx, dy):
    (x,) = ctx.saved_tensors
    return dy / (1 + x.abs()) ** 2


softsign.register_autograd(backward, setup_context=setup)

leaf = x.clone().requires_grad_()
torch.library.opcheck(softsign, (leaf,))
ours, theirs = (torch.autograd.grad(f(leaf).sum(), leaf)[0] for f in (softsign, torch.nn.functional.softsign))
torch.testing.assert_close(ours, theirs)
# --8<-- [end:gradient]


# --8<-- [start:triton_op]
@torch.library.triton_op("lesson::softsign_in_sight", mutates_args=())
def softsign_in_sight(x: torch.Tensor) -> torch.Tensor:
    x = x.contiguous()
    y = torch.empty_like(x)
    kernel = torch.library.wrap_triton(softsign_kernel)
    kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
# --8<-- [end:triton_op]


if device == "cuda":  # the interpreter knows nothing of wrap_triton
    torch.testing.assert_close(softsign_in_sight(x), softsign(x))
