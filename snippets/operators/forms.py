"""One kernel and its gradient in five forms, and what each of them can do inside PyTorch."""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

from kernels.tools.benchmark import keep
from snippets.inductor.captured import launched, queued_us
from snippets.operators.situations import SITUATIONS, failure, graphs_of, verdict

# --8<-- [start:raw]
import torch
import torch.nn.functional as F

from kernels.activations.gelu import gelu_backward_kernel, gelu_kernel


def grid_of(x):
    return ((x.numel() + 1023) // 1024,)


def raw(x):
    y = torch.empty_like(x)
    gelu_kernel[grid_of(x)](x, y, x.numel(), KIND="tanh", BLOCK=1024)
    return y


def raw_backward(x, dy):
    dx = torch.empty_like(x)
    gelu_backward_kernel[grid_of(x)](x, dy, dx, x.numel(), KIND="tanh", BLOCK=1024)
    return dx
# --8<-- [end:raw]


# --8<-- [start:function]
class Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return raw(x)

    @staticmethod
    def backward(ctx, dy):
        return raw_backward(*ctx.saved_tensors, dy.contiguous())


def function(x):
    return Gelu.apply(x)
# --8<-- [end:function]


# --8<-- [start:gradient]
def keep_x(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def gradient_by(backward):
    """A gradient formula for an operator, by another operator."""
    return lambda ctx, dy: backward(*ctx.saved_tensors, dy.contiguous())
# --8<-- [end:gradient]


# --8<-- [start:triton_op]
@torch.library.triton_op("forms::by_triton", mutates_args=())
def by_triton(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    kernel = torch.library.wrap_triton(gelu_kernel)
    kernel[grid_of(x)](x, y, x.numel(), KIND="tanh", BLOCK=1024)
    return y


@torch.library.triton_op("forms::by_triton_backward", mutates_args=())
def by_triton_backward(x: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    dx = torch.empty_like(x)
    kernel = torch.library.wrap_triton(gelu_backward_kernel)
    kernel[grid_of(x)](x, dy, dx, x.numel(), KIND="tanh", BLOCK=1024)
    return dx


by_triton.register_autograd(gradient_by(by_triton_backward), setup_context=keep_x)
# --8<-- [end:triton_op]


# --8<-- [start:custom_op]
@torch.library.custom_op("forms::custom", mutates_args=())
def custom(x: torch.Tensor) -> torch.Tensor:
    return raw(x)


@torch.library.custom_op("forms::custom_backward", mutates_args=())
def custom_backward(x: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    return raw_backward(x, dy)


custom.register_fake(torch.empty_like)
custom_backward.register_fake(lambda x, dy: torch.empty_like(x))
custom.register_autograd(gradient_by(custom_backward), setup_context=keep_x)
# --8<-- [end:custom_op]


# --8<-- [start:library]
forms = torch.library.Library("forms", "FRAGMENT")
forms.define("library(Tensor x) -> Tensor")
forms.define("library_backward(Tensor x, Tensor dy) -> Tensor")
for key in ("CUDA", "CPU"):
    forms.impl("library", raw, key)
    forms.impl("library_backward", raw_backward, key)
library, library_backward = torch.ops.forms.library.default, torch.ops.forms.library_backward.default
torch.library.register_fake("forms::library", torch.empty_like, lib=forms)
torch.library.register_fake("forms::library_backward", lambda x, dy: torch.empty_like(x), lib=forms)
torch.library.register_autograd("forms::library", gradient_by(library_backward), setup_context=keep_x, lib=forms)
# --8<-- [end:library]


# --8<-- [start:switch]
def switch(x):
    """Eagerly the form that costs least, in a graph the one that every part of PyTorch understands."""
    if torch.compiler.is_compiling():
        return library(x)
    return function(x) if torch.is_grad_enabled() and x.requires_grad else raw(x)
# --8<-- [end:switch]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
FORMS = {"raw": raw, "function": function, "library": library, "custom_op": custom, "switch": switch}
if device == "cuda":  # the interpreter knows nothing of wrap_triton
    FORMS["triton_op"] = by_triton


def plain(x):
    return F.gelu(x, approximate="tanh")


x = torch.randn(64, 100, device=device)
for form in FORMS.values():
    torch.testing.assert_close(form(x), plain(x))
for form in [form for form in FORMS.values() if form is not raw]:
    ours, theirs = (torch.autograd.grad(f(leaf).sum(), leaf)[0] for f in (form, plain) for leaf in [x.clone().requires_grad_()])
    torch.testing.assert_close(ours, theirs)
torch.library.opcheck(custom, (x.clone().requires_grad_(),))
torch.library.opcheck(library, (x.clone().requires_grad_(),))
print("all agree")
#> all agree
# --8<-- [end:check]

if device == "cuda":
    FORMS["plain"] = plain
    x, small = torch.randn(1024, 1024, device="cuda"), torch.randn(1024, device="cuda")
    if len(sys.argv) == 3:  # one form in one situation
        print(verdict(sys.argv[2], FORMS[sys.argv[1]], plain, x))
        sys.exit()
    kept = {name: {"us": us} for name, us in zip(FORMS, queued_us(*(lambda f=f: f(small) for f in FORMS.values())), strict=True)}
    leaves = {name: small.clone().requires_grad_() for name in FORMS if name != "raw"}
    for name, us in zip(leaves, queued_us(*(lambda n=n: FORMS[n](leaves[n]) for n in leaves)), strict=True):
        kept[name]["us_with_gradient"] = us
    compiled = {name: torch.compile(lambda x, f=form: f(x), dynamic=False) for name, form in FORMS.items()}
    works = [name for name in FORMS if not failure(lambda n=name: compiled[n](small))]
    for name, us in zip(works, queued_us(*(lambda n=n: compiled[n](small) for n in works)), strict=True):
        kept[name]["us_compiled"] = us
    for name, form in FORMS.items():
        torch.compiler.reset()
        between = torch.compile(lambda x, form=form: form(x * 2) + 1, dynamic=False)
        kept[name]["failure"] = failure(lambda c=between: torch.testing.assert_close(c(x), plain(x * 2) + 1))
        kept[name]["kernels"] = [] if kept[name]["failure"] else launched(lambda c=between: c(x))
        kept[name]["graphs"] = graphs_of(form, x)
    for name, operator in (("triton_op", by_triton), ("custom_op", custom), ("library", library)):
        torch.library.opcheck(operator, (x[:4].clone().requires_grad_(),))
        kept[name]["opcheck"] = True

    def apart(name):
        """A form with fake tensors, in a process of its own: a kernel that runs off leaves a process without its GPU."""
        child = subprocess.run([sys.executable, __file__, name, "fake tensors"], capture_output=True, text=True)
        return (child.stdout or child.stderr).strip().splitlines()[-1]

    with ThreadPoolExecutor(4) as pool:
        faked = dict(zip(FORMS, pool.map(apart, FORMS), strict=True))
    for name, form in FORMS.items():
        kept[name]["situations"] = {
            situation: faked[name] if situation == "fake tensors" else verdict(situation, form, plain, x)
            for situation in SITUATIONS
        }
    for name, found in kept.items():
        in_graph = f"{found.get('us_compiled')} us compiled, {len(found['kernels'])} kernels for form(x * 2) + 1"
        print(f"\n{name}: {found['us']} us, {in_graph}")
        print(*(f"    {situation:18} {said}" for situation, said in found["situations"].items()), sep="\n")
    keep(figures=kept)
