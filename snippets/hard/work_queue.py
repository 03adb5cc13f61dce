"""Rows of very different lengths: one program a row, a fixed share for each program, or a queue that programs serve."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark, keep
from snippets.cuda.compare import sound


# --8<-- [start:row]
@triton.jit
def row_total(x_ptr, starts_ptr, out_ptr, row, BLOCK: tl.constexpr):
    """Add up one row, which goes from one start to the next."""
    start, end = tl.load(starts_ptr + row), tl.load(starts_ptr + row + 1)  # int64
    total = tl.zeros((BLOCK,), tl.float32)
    for at in range(start, end, BLOCK):
        offsets = at + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < end, other=0.0)
    tl.store(out_ptr + row, tl.sum(total, axis=0))
# --8<-- [end:row]


# --8<-- [start:shares]
@triton.jit
def row_each_kernel(x_ptr, starts_ptr, out_ptr, BLOCK: tl.constexpr):
    # This program has one row.
    row_total(x_ptr, starts_ptr, out_ptr, tl.program_id(0).to(tl.int64), BLOCK)


@triton.jit
def share_kernel(x_ptr, starts_ptr, out_ptr, n_rows, BLOCK: tl.constexpr):
    # This program has every num_programs-th row, whatever their lengths.
    for row in range(tl.program_id(0), n_rows, tl.num_programs(0)):
        row_total(x_ptr, starts_ptr, out_ptr, row, BLOCK)
# --8<-- [end:shares]


# --8<-- [start:queue]
@triton.jit
def queue_kernel(x_ptr, starts_ptr, out_ptr, next_ptr, n_rows, BLOCK: tl.constexpr):
    # This program takes the next row that nobody has taken, until there is none.
    row = tl.atomic_add(next_ptr, 1)
    while row < n_rows:
        row_total(x_ptr, starts_ptr, out_ptr, row, BLOCK)
        row = tl.atomic_add(next_ptr, 1)
# --8<-- [end:queue]


# --8<-- [start:check]
def totals(way, x, starts, programs):
    n_rows = starts.shape[0] - 1
    out = torch.empty(n_rows, device=x.device)
    if way == "row_each":
        row_each_kernel[(n_rows,)](x, starts, out, BLOCK=1024)
    elif way == "share":
        share_kernel[(programs,)](x, starts, out, n_rows, BLOCK=1024)
    else:
        next_row = torch.zeros(1, dtype=torch.int32, device=x.device)
        queue_kernel[(programs,)](x, starts, out, next_row, n_rows, BLOCK=1024)
    return out


def ragged(n_rows, longest, device):
    """Random rows, of which one in sixteen is long, and where each begins."""
    lengths = torch.randint(1, longest // 16, (n_rows,), device=device)
    lengths[::16] = torch.randint(1, longest, lengths[::16].shape, device=device)
    starts = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
    return torch.randn(int(starts[-1]), device=device), starts, lengths


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
x, starts, lengths = ragged(20, 8192, device)
expected = torch.stack([row.sum() for row in x.split(lengths.tolist())])
for way in ("row_each", "share", "queue"):
    print(way, torch.allclose(totals(way, x, starts, 4), expected, atol=1e-3))
    #> row_each True
    #> share True
    #> queue True
# --8<-- [end:check]

if device == "cuda":
    benchmark, figures = Benchmark(), {"failed": {}}
    programs = 4 * torch.cuda.get_device_properties(0).multi_processor_count
    figures["programs"] = programs
    # Long rows stand where a fixed share meets them again and again, and where it does not.
    for name, n_rows, longest in (("unlucky", 2**15, 2**16), ("shuffled", 2**15, 2**16), ("even", 2**15, 2**12)):
        x, starts, lengths = ragged(n_rows, longest, "cuda")
        if name != "unlucky":
            lengths = lengths[torch.randperm(n_rows, device="cuda")]
        if name == "even":
            lengths = torch.full_like(lengths, longest)
        starts = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
        x = torch.randn(int(starts[-1]), device="cuda")
        expected = torch.segment_reduce(x.double(), "sum", lengths=lengths)
        ways = {way: lambda way=way: totals(way, x, starts, programs) for way in ("row_each", "share", "queue")}
        ways["eager"] = lambda: torch.segment_reduce(x, "sum", lengths=lengths, unsafe=True)
        ways, failed = sound(ways, expected, x.dtype)
        figures["failed"] |= {f"{name} {way}": why for way, why in failed.items()}
        benchmark.case("ragged_sum", "fwd", name, x.dtype, x.nbytes, x.numel(), ways, expected)
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
