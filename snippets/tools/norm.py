"""RMSNorm, forward and backward, with every tool: PyTorch, its compiler, Triton and CUDA C++; lines, builds, times of one run."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:imports]
import torch.nn.functional as F
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark, keep
from snippets.cuda.compare import build, call, code_lines, sound, triton_build
from snippets.tools.norm_source import NORM_CUDA


# --8<-- [start:pytorch]
def pytorch_norm(x, weight):
    return F.rms_norm(x, x.shape[-1:], weight, 1e-6)
# --8<-- [end:pytorch]


# --8<-- [start:triton]
@triton.jit
def tool_norm_kernel(x_ptr, weight_ptr, y_ptr, rstd_ptr, n_columns, BLOCK: tl.constexpr):
    # This program has one row.
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / n_columns + 1e-6)
    tl.store(rstd_ptr + row, rstd)
    tl.store(y_ptr + row * n_columns + columns, x * rstd * weight, mask=mask)


@triton.jit
def tool_norm_backward_kernel(
    x_ptr, weight_ptr, dy_ptr, rstd_ptr, dx_ptr, parts_ptr, n_rows, n_columns, BLOCK: tl.constexpr
):
    # This program has every num_programs-th row, and one row of the weight gradient's parts.
    program = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    part = tl.zeros((BLOCK,), tl.float32)
    for row in range(program, n_rows, tl.num_programs(0)):
        offsets = row * n_columns + columns
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        normal, g = x * rstd, dy * weight
        dx = (g - normal * (tl.sum(g * normal, axis=0) / n_columns)) * rstd
        part += dy * normal
        tl.store(dx_ptr + offsets, dx, mask=mask)
    tl.store(parts_ptr + program * n_columns + columns, part, mask=mask)


class TritonNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        y, rstd = torch.empty_like(x), torch.empty(x.shape[0], device=x.device)
        block = triton.next_power_of_2(x.shape[1])
        tool_norm_kernel[(x.shape[0],)](x, weight, y, rstd, x.shape[1], BLOCK=block, num_warps=8)
        ctx.save_for_backward(x, weight, rstd)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, rstd = ctx.saved_tensors
        dx, dy = torch.empty_like(x), dy.contiguous()
        programs, block = min(264, x.shape[0]), triton.next_power_of_2(x.shape[1])
        parts = torch.empty(programs, x.shape[1], device=x.device)
        given = x, weight, dy, rstd, dx, parts
        tool_norm_backward_kernel[(programs,)](*given, *x.shape, BLOCK=block, num_warps=8)
        return dx, parts.sum(0).to(weight.dtype)
# --8<-- [end:triton]


LIBRARY = None


# --8<-- [start:cuda_function]
class CudaNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        y, rstd = torch.empty_like(x), torch.empty(x.shape[0], device=x.device)
        call(LIBRARY.launch, x, weight, y, rstd, *x.shape)
        ctx.save_for_backward(x, weight, rstd)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, rstd = ctx.saved_tensors
        dx, dy = torch.empty_like(x), dy.contiguous()
        programs = min(264, x.shape[0])
        parts = torch.empty(programs, x.shape[1], device=x.device)
        call(LIBRARY.launch_backward, x, weight, dy, rstd, dx, parts, programs, *x.shape)
        return dx, parts.sum(0).to(weight.dtype)
# --8<-- [end:cuda_function]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
x, dy = (torch.randn(30, 200, device=device) for _ in range(2))
leaves = x.requires_grad_(), torch.randn(200, device=device, requires_grad=True)
y = TritonNorm.apply(*leaves)
expected = pytorch_norm(*leaves)
found = [y, *torch.autograd.grad(y, leaves, dy)]
wanted = [expected, *torch.autograd.grad(expected, leaves, dy)]
print([torch.allclose(*pair, atol=1e-4) for pair in zip(found, wanted, strict=True)])
#> [True, True, True]
# --8<-- [end:check]

lines = {"eager": code_lines(pytorch_norm), "cuda": code_lines(NORM_CUDA, CudaNorm)}
lines |= {"compile": lines["eager"] + 1, "triton": code_lines(tool_norm_kernel, tool_norm_backward_kernel, TritonNorm)}
print("lines of code:", lines)
figures = {"lines": lines}
if device == "cuda":
    import torch._functorch.config

    torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here
    benchmark = Benchmark()
    LIBRARY, figures["cuda"] = build(NORM_CUDA)
    rows, columns = 16384, 4096
    x, dy = (torch.randn(rows, columns, device="cuda").bfloat16() for _ in range(2))
    weight = torch.randn(columns, device="cuda").bfloat16()
    rstd, parts = torch.empty(rows, device="cuda"), torch.empty(264, columns, device="cuda")
    given = x, weight, dy, rstd, x, parts, rows, columns
    figures["triton"] = triton_build(tool_norm_backward_kernel, *given, BLOCK=4096, num_warps=8)
    forward = triton_build(tool_norm_kernel, x, weight, x, rstd, columns, BLOCK=4096, num_warps=8)
    figures["triton"]["build_seconds"] = round(figures["triton"]["build_seconds"] + forward["build_seconds"], 3)
    leaves = [value.clone().requires_grad_() for value in (x, weight)]
    functions = {"eager": pytorch_norm, "compile": torch.compile(pytorch_norm, dynamic=False), "triton": TritonNorm.apply}
    if LIBRARY:
        functions["cuda"] = CudaNorm.apply
    else:
        print("skipped: the CUDA C++ build of RMSNorm,", figures["cuda"]["skipped"])
    exact = [value.double().requires_grad_() for value in (x, weight)]
    normal = pytorch_norm(*exact)
    dx, dweight = torch.autograd.grad(normal, exact, dy.double())
    parts_of = {
        "forward": (lambda f: f(*leaves).detach(), normal.detach()),
        "dx": (lambda f: torch.autograd.grad(f(*leaves), leaves, dy)[0], dx),
        "dweight": (lambda f: torch.autograd.grad(f(*leaves), leaves, dy)[1], dweight),
    }
    figures["failed"] = {}
    for part, (take, expected) in parts_of.items():
        _, failed = sound({name: lambda f=f: take(f) for name, f in functions.items()}, expected, x.dtype)
        figures["failed"] |= {f"{part} {name}": why for name, why in failed.items()}
        functions = {name: f for name, f in functions.items() if name not in failed}
    ways = {name: lambda f=f: parts_of["dx"][0](f) for name, f in functions.items()}
    benchmark.case("tool_norm", "bwd", f"{rows}x{columns}", x.dtype, 5 * x.nbytes, 14 * x.numel(), ways, dx)
    print(figures)
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
else:
    keep(figures=figures)
