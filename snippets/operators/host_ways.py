"""What could make a call cheaper for the host: one layer norm, launched in every way that there is, without and with gradient."""
# needs: cuda
import statistics
import sys

import torch
import torch.nn.functional as F

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.norm.backward import norm_backward_kernel
from kernels.norm.forward import norm_kernel
from kernels.norm.layer_norm import layer_norm
from kernels.norm.partials import norm_partials_kernel
from kernels.operators.register import operator_in_graph
from kernels.operators.rows import layer_norm_in_graph
from kernels.tools.benchmark import capture, keep
from snippets.cuda.compare import sound
from snippets.inductor.captured import queued_us
from snippets.operators.host_extension import built, hand_over

torch.cuda.set_stream(torch.cuda.Stream())  # a graph is not captured on the default stream
torch.manual_seed(0)
x, dy = torch.randn(2, 64, 256, device="cuda").bfloat16().unbind()
weight, bias = torch.randn(2, 256, device="cuda").bfloat16().unbind()
leaves = [tensor.clone().requires_grad_() for tensor in (x, weight, bias)]
public = operator_in_graph(layer_norm, layer_norm_in_graph)


def step(function):
    """Forward and backward, as a training step has them."""
    return torch.autograd.grad(function(*leaves), leaves, dy)


def launches_with(call):
    """What a call launches: the compiled kernel, the grid, and the constants by name."""
    found, run = [], triton.runtime.JITFunction.run

    def noted(kernel, *arguments, grid, **options):
        compiled = run(kernel, *arguments, grid=grid, **options)
        found.append((compiled, grid, {name: value for name, value in options.items() if name != "warmup"}))
        return compiled

    triton.runtime.JITFunction.run = noted
    call()
    triton.runtime.JITFunction.run = run
    return found


((compiled, grid, META),) = launches_with(lambda: public(x, weight, bias))
trained = launches_with(lambda: step(public))
_, (_, backward_grid, BACKWARD), (_, add_grid, ADD) = trained

# --8<-- [start:raw]
LENGTHS, EPS = (32, 32, 64, 32), 1e-5  # strides and columns in vectors of eight, and the rows


def raw(x, weight, bias):
    y = torch.empty_like(x)
    norm_kernel[grid](x, weight, bias, y, None, None, *LENGTHS, EPS, **META)
    return y
# --8<-- [end:raw]


# --8<-- [start:few]
@triton.jit
def host_few_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, COLUMNS: tl.constexpr, ROWS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
    columns = tl.arange(0, COLUMNS)[None, :]  # [1, COLUMNS]
    x = tl.load(x_ptr + rows * COLUMNS + columns).to(tl.float32)  # [ROWS, COLUMNS]
    x -= tl.sum(x, axis=1, keep_dims=True) / COLUMNS
    rstd = tl.rsqrt(tl.sum(x * x, axis=1, keep_dims=True) / COLUMNS + 1e-5)  # [ROWS, 1]
    y = x * rstd * tl.load(weight_ptr + columns).to(tl.float32) + tl.load(bias_ptr + columns).to(tl.float32)
    tl.store(y_ptr + rows * COLUMNS + columns, y)


def few(x, weight, bias):
    y = torch.empty_like(x)
    host_few_kernel[grid](x, weight, bias, y, 256, 4, num_warps=1)
    return y
# --8<-- [end:few]


# --8<-- [start:compiled]
CONSTANTS = tuple(META[name] for name in norm_kernel.arg_names if name in META)


def by_compiled(x, weight, bias):
    y = torch.empty_like(x)
    compiled[(*grid, 1, 1)](x, weight, bias, y, None, None, *LENGTHS, EPS, *CONSTANTS)
    return y
# --8<-- [end:compiled]


# --8<-- [start:direct]
stream_of, device = triton.runtime.driver.active.get_current_stream, x.device.index


def direct(kernel, compiled, grid, options):
    """A launch without binder, key and hooks: for arguments that are exactly like those it was compiled for."""
    constants = tuple(options[name] for name in kernel.arg_names if name in options)
    run, function, packed, grid = compiled.run, compiled.function, compiled.packed_metadata, (*grid, 1, 1)[:3]

    def launch(*arguments):
        run(*grid, stream_of(device), function, packed, None, None, None, *arguments, *constants)

    return launch


launch_norm = direct(norm_kernel, compiled, grid, META)


def by_run(x, weight, bias):
    y = torch.empty_like(x)
    launch_norm(x, weight, bias, y, None, None, *LENGTHS, EPS)
    return y
# --8<-- [end:direct]


def by_addresses(x, weight, bias):
    """The C function under `run`, of Triton 3.6, with addresses in the place of tensors."""
    y = torch.empty_like(x)
    own = (False, False, None, None, compiled.packed_metadata, None, None, None)
    addresses = (x.data_ptr(), weight.data_ptr(), bias.data_ptr(), y.data_ptr(), None, None)
    compiled.run.launch(*grid, 1, 1, stream_of(device), compiled.function, *own, *addresses, *LENGTHS, EPS, *CONSTANTS)
    return y


# --8<-- [start:remembered]
REMEMBERED = {}


def remembered(x, weight, bias):
    y = torch.empty_like(x)
    aligned = (x.data_ptr() | weight.data_ptr() | bias.data_ptr()) % 16 == 0
    key = (x.shape, x.stride(), x.dtype, weight.dtype, bias.dtype, x.device, aligned)
    launch = REMEMBERED.get(key)
    if launch is None:  # the first call of its kind takes the way through Triton, which compiles what is absent
        made = norm_kernel[grid](x, weight, bias, y, None, None, *LENGTHS, EPS, **META)
        REMEMBERED[key] = direct(norm_kernel, made, grid, META)
        return y
    launch(x, weight, bias, y, None, None, *LENGTHS, EPS)
    return y
# --8<-- [end:remembered]


# --8<-- [start:bare]
def function_of(launch_forward, launch_backward, launch_add):
    """A bare autograd.Function: allocations, launches, and what the backward pass needs kept."""

    class Bare(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight, bias):
            y, rstd = torch.empty_like(x), torch.empty(64, dtype=torch.float32, device=x.device)
            mean = torch.empty_like(rstd)
            launch_forward(x, weight, bias, y, mean, rstd, *LENGTHS, EPS)
            ctx.save_for_backward(x, weight, mean, rstd)
            return y

        @staticmethod
        def backward(ctx, dy):
            x, weight, mean, rstd = ctx.saved_tensors
            dx, dweight, dbias = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(weight)
            partials = [torch.empty(8 * 256, dtype=torch.float32, device=x.device) for _ in range(2)]
            launch_backward(x, weight, dy, mean, rstd, dx, *partials, 32, 32, 32, 64, 32)
            launch_add(*partials, dweight, dbias, 8, 256)
            return dx, dweight, dbias

    return Bare.apply


bare = function_of(
    lambda *arguments: norm_kernel[grid](*arguments, **META),
    lambda *arguments: norm_backward_kernel[backward_grid](*arguments, **BACKWARD),
    lambda *arguments: norm_partials_kernel[add_grid](*arguments, **ADD),
)
KERNELS = (norm_kernel, norm_backward_kernel, norm_partials_kernel)
bare_direct = function_of(*(direct(kernel, *found) for kernel, found in zip(KERNELS, trained, strict=True)))
# --8<-- [end:bare]


def replayed(call):
    """A call recorded once: its replay, which writes to the same tensors every time, or None."""
    kept = []
    replay = capture(lambda: kept.append(call()))
    return replay and (lambda: (replay(), kept[-1])[1])


def eager(x, weight, bias):
    return F.layer_norm(x, (256,), weight, bias)


FORMS = {"eager": eager, "library": public, "operator": layer_norm_in_graph, "raw": raw}
FORMS |= {"few": few, "compiled": by_compiled, "run": by_run, "addresses": by_addresses, "remembered": remembered}
TRAINED = {"eager": eager, "library": public, "operator": layer_norm_in_graph, "bare": bare, "bare_direct": bare_direct}
extension, reason = built()
if extension:
    hand_over(extension, [compiled, *(made for made, *_ in trained)])
    FORMS["extension"] = lambda x, weight, bias: extension.norm(x, weight, bias, EPS)
    TRAINED["extension"] = lambda x, weight, bias: extension.norm_with_gradient(x, weight, bias, EPS)
left_out = {"extension": reason} if reason else {}
calls = {name: lambda f=form: f(x, weight, bias) for name, form in FORMS.items()}
steps = {name: lambda f=form: step(f) for name, form in TRAINED.items()}
for ways, way in ((calls, lambda: raw(x, weight, bias)), (steps, lambda: step(bare))):
    replay = replayed(way)
    if replay:
        ways["graph"] = replay
    else:
        left_out["graph"] = "it could not be captured"
expected = (public(x, weight, bias), torch.cat([part.flatten() for part in step(public)]))
calls, failed = sound(calls, expected[0], x.dtype)
flat = {name: lambda f=way: torch.cat([part.flatten() for part in f()]) for name, way in steps.items()}
right, failed_steps = sound(flat, expected[1], x.dtype)
steps = {name: steps[name] for name in right}
left_out |= failed | {f"{name}, with gradient": why for name, why in failed_steps.items()}
assert {"eager", "library", "raw"} <= calls.keys() and {"eager", "library", "bare"} <= steps.keys(), left_out
forward = {name: lambda f=form: f(*leaves) for name, form in TRAINED.items() if name in steps}
calls["allocation"] = lambda: torch.empty_like(x)


def medians(calls):
    """Microseconds of the host's for each call, over three visits, so that a slow moment falls on no single one."""
    visits = zip(*(queued_us(*calls.values()) for _ in range(3)), strict=True)
    return {name: statistics.median(times) for name, times in zip(calls, visits, strict=True)}


with torch.no_grad():
    kept = {"call": medians(calls)}
kept |= {"forward": medians(forward), "step": medians(steps)}
# --8<-- [start:hooks]
hooks = triton.knobs.runtime.launch_enter_hook, triton.knobs.runtime.launch_exit_hook
triton.knobs.runtime.launch_enter_hook = triton.knobs.runtime.launch_exit_hook = None
# --8<-- [end:hooks]
with torch.no_grad():
    kept["call"] |= {f"{name}, no hooks": us for name, us in medians({name: calls[name] for name in ("raw", "library")}).items()}
kept["step"] |= {f"{name}, no hooks": us for name, us in medians({name: steps[name] for name in ("bare", "library")}).items()}
triton.knobs.runtime.launch_enter_hook, triton.knobs.runtime.launch_exit_hook = hooks
for part, against in (("call", "raw"), ("forward", "bare"), ("step", "bare")):
    print(f"\nmicroseconds, {part:16} host   beside {against}")
    for name, us in kept[part].items():
        print(f"{name:26}{us:>8.1f}{us - kept[part][against]:>+9.1f}{us / kept[part][against]:>8.2f}")
for name, why in left_out.items():
    print(f"{name} left out: {why}")
keep(figures={**kept, "left_out": left_out})
