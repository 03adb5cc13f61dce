"""The recipe: a kernel as an operator that compiles, differentiates, exports and batches, and is cheap to call eagerly."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:define]
import re

import torch

from kernels.softmax.softmax import softmax_row, softmax_row_backward

recipe = torch.library.Library("recipe", "FRAGMENT")
recipe.define("softmax(Tensor x) -> Tensor")
recipe.define("softmax_backward(Tensor y, Tensor dy) -> Tensor")


def checked(x):
    if x.ndim != 2 or x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise TypeError(f"x: expected a matrix of floats, got {x.dtype} of shape {tuple(x.shape)}")
    return x
# --8<-- [end:define]


# --8<-- [start:run]
def run(x):
    x = checked(x).contiguous()
    return softmax_row(x, torch.empty_like(x))


def run_backward(y, dy):
    return softmax_row_backward(y, dy.contiguous(), torch.empty_like(y))


for key in ("CUDA", "CPU"):  # the CPU is for the interpreter
    recipe.impl("softmax", run, key)
    recipe.impl("softmax_backward", run_backward, key)
# --8<-- [end:run]


# --8<-- [start:fake]
@torch.library.register_fake("recipe::softmax", lib=recipe)
def fake(x):
    return torch.empty_like(checked(x), memory_format=torch.contiguous_format)


@torch.library.register_fake("recipe::softmax_backward", lib=recipe)
def fake_backward(y, dy):
    return torch.empty_like(y)
# --8<-- [end:fake]


# --8<-- [start:gradient]
def setup(ctx, inputs, output):
    ctx.save_for_backward(output)


def backward(ctx, dy):
    return torch.ops.recipe.softmax_backward(*ctx.saved_tensors, dy)


torch.library.register_autograd("recipe::softmax", backward, setup_context=setup, lib=recipe)
# --8<-- [end:gradient]


# --8<-- [start:batch]
@torch.library.register_vmap("recipe::softmax", lib=recipe)
def batched(info, in_dims, x):
    x = x.movedim(in_dims[0], 0)
    y = torch.ops.recipe.softmax(x.reshape(-1, x.shape[-1]))
    return y.view(x.shape), 0
# --8<-- [end:batch]


# --8<-- [start:public]
class RowSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = run(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        return run_backward(*ctx.saved_tensors, dy)


def row_softmax(x):
    """Softmax of every row of a matrix; in a graph one operator, eagerly a launch."""
    if torch.compiler.is_compiling():
        return torch.ops.recipe.softmax(x)
    return RowSoftmax.apply(x) if torch.is_grad_enabled() and x.requires_grad else run(x)
# --8<-- [end:public]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
backend = "inductor" if torch.cuda.is_available() else "aot_eager"
x = torch.randn(8, 300, device=device, requires_grad=True)
torch.library.opcheck(torch.ops.recipe.softmax.default, (x,))


def head(softmax, x):
    return (softmax(x * 2) + 1).square()


def ours(x):
    return head(row_softmax, x)


compiled = torch.compile(ours, fullgraph=True, backend=backend)
expected = torch.autograd.grad(head(lambda x: torch.softmax(x, -1), x).sum(), x)
for function in (ours, compiled):
    torch.testing.assert_close(torch.autograd.grad(function(x).sum(), x), expected)


class Head(torch.nn.Module):
    def forward(self, x):
        return ours(x)


exported = torch.export.export(Head(), (x,))
torch.testing.assert_close(exported.module()(x), ours(x))
stack = torch.randn(3, 8, 300, device=device)
torch.testing.assert_close(torch.vmap(torch.ops.recipe.softmax)(stack), torch.softmax(stack, -1))
print("checked, compiled, differentiated, exported and batched")
#> checked, compiled, differentiated, exported and batched
# --8<-- [end:check]

# --8<-- [start:refused]
torch.compiler.reset()
try:
    torch.compile(ours, fullgraph=True, backend=backend)(torch.ones(3, 4, dtype=torch.int32, device=device))
except Exception as error:
    print(re.search(r"x: expected[^']*", str(error)).group())
    #> x: expected a matrix of floats, got torch.int32 of shape (3, 4)
# --8<-- [end:refused]
