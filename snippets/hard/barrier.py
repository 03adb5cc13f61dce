"""A barrier for all programs of a launch: what it needs, what it costs, and what happens when not all programs are there."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import ctypes

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark, alternate, capture, keep, quantiles


# --8<-- [start:barrier]
@triton.jit
def wait_for_all(arrived_ptr, target, PATIENCE: tl.constexpr):
    """Say that this program is here, and wait until `target` programs have said so. Gives up after PATIENCE looks."""
    tl.debug_barrier()  # all warps of this program have done what comes before
    here = tl.atomic_add(arrived_ptr, 1) + 1  # publishes it: acquire and release, for the whole GPU
    looks = 0
    while (here < target) & (looks < PATIENCE):
        here = tl.atomic_add(arrived_ptr, 0)
        looks += 1
    tl.debug_barrier()  # no warp reads what others wrote before one has seen them all
    return here >= target


@triton.jit
def one_launch_kernel(x_ptr, out_ptr, parts_ptr, state_ptr, n, BLOCK: tl.constexpr, PARTS: tl.constexpr, PATIENCE: tl.constexpr):
    # This program divides its share of x by the sum of all of x.
    program, programs = tl.program_id(0), tl.num_programs(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(program * BLOCK, n, programs * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(parts_ptr + program, tl.sum(total, axis=0))
    if wait_for_all(state_ptr, programs, PATIENCE):
        which = tl.arange(0, PARTS)
        parts = tl.load(parts_ptr + which, mask=which < programs, other=0.0)
        scale = 1 / tl.sum(parts, axis=0)
        for start in range(program * BLOCK, n, programs * BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + offsets, mask=offsets < n)
            tl.store(out_ptr + offsets, x * scale, mask=offsets < n)
    else:
        tl.atomic_add(state_ptr + 1, 1)  # count those that gave up
# --8<-- [end:barrier]


# --8<-- [start:launches]
@triton.jit
def first_launch_kernel(x_ptr, parts_ptr, n, BLOCK: tl.constexpr):
    # This program adds up its share of x.
    program, programs = tl.program_id(0), tl.num_programs(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(program * BLOCK, n, programs * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(parts_ptr + program, tl.sum(total, axis=0))


@triton.jit
def second_launch_kernel(x_ptr, out_ptr, parts_ptr, n, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    # This program divides its share of x by the sum of all parts.
    program, programs = tl.program_id(0), tl.num_programs(0)
    which = tl.arange(0, PARTS)
    scale = 1 / tl.sum(tl.load(parts_ptr + which, mask=which < programs, other=0.0), axis=0)
    for start in range(program * BLOCK, n, programs * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n)
        tl.store(out_ptr + offsets, x * scale, mask=offsets < n)
# --8<-- [end:launches]


@triton.jit
def meetings_kernel(state_ptr, ROUNDS: tl.constexpr, PATIENCE: tl.constexpr):
    # This program meets all others, ROUNDS times.
    programs = tl.num_programs(0)
    for meeting in range(ROUNDS):
        if not wait_for_all(state_ptr, programs * (meeting + 1), PATIENCE):
            tl.atomic_add(state_ptr + 1, 1)


@triton.jit
def nothing_kernel(state_ptr):
    # This program does nothing.
    pass


# --8<-- [start:call]
PATIENCE = 100_000


def in_one_launch(x, programs, cooperative=False, most=1024):
    """x divided by its sum, and the counts of programs that arrived and that gave up."""
    out, parts = torch.empty_like(x), torch.empty(programs, device=x.device)
    state = torch.zeros(2, dtype=torch.int32, device=x.device)
    sizes = {"BLOCK": 4096, "PARTS": most, "PATIENCE": PATIENCE}
    options = {"launch_cooperative_grid": True} if cooperative else {}
    one_launch_kernel[(programs,)](x, out, parts, state, x.numel(), **sizes, **options)
    return out, state


def in_two_launches(x, programs):
    out, parts = torch.empty_like(x), torch.empty(programs, device=x.device)
    first_launch_kernel[(programs,)](x, parts, x.numel(), BLOCK=4096)
    second_launch_kernel[(programs,)](x, out, parts, x.numel(), BLOCK=4096, PARTS=1024)
    return out


torch.manual_seed(0)
multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
x = torch.rand(2**20, device="cuda")
out, state = in_one_launch(x, multiprocessors)
print("right:", torch.allclose(out.double(), x.double() / x.double().sum(), rtol=1e-4))
#> right: True
print("gave up:", state[1].item())
#> gave up: 0
# --8<-- [end:call]


def resident(kernel):
    """How many programs of a compiled kernel the whole GPU holds at once, as the driver says."""
    found, function = ctypes.c_int(), ctypes.c_void_p(kernel.function)
    threads, shared = 32 * kernel.metadata.num_warps, ctypes.c_size_t(kernel.metadata.shared)
    driver = ctypes.CDLL("libcuda.so.1")
    status = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(ctypes.byref(found), function, threads, shared)
    assert status == 0, f"the driver answers with error {status}"
    return found.value * multiprocessors


# --8<-- [start:too_many]
sizes = {"BLOCK": 4096, "PARTS": 8192, "PATIENCE": PATIENCE}
made = one_launch_kernel[(1,)](x, out, x[:1].clone(), state, x.numel(), **sizes)
at_once = resident(made)
too_many = 2 * at_once
gave_up = in_one_launch(x, too_many, most=8192)[1][1].item()
print(f"{at_once} programs fit at once; of {too_many} gave up: {gave_up}")
try:
    in_one_launch(x, too_many, cooperative=True, most=8192)
    refused = None
except RuntimeError as error:
    refused = str(error).strip().splitlines()[-1]
torch.cuda.synchronize()
print("asked for a cooperative launch:", refused or "launched all the same")
# --8<-- [end:too_many]

benchmark = Benchmark()
figures = {"fit": at_once, "asked": too_many, "gave_up": gave_up, "refused": refused, "patience": PATIENCE}
programs = min(4 * multiprocessors, at_once)
for n in (2**16, 2**22, 2**26):
    x = torch.rand(n, device="cuda")
    ways = {"two_launches": lambda: in_two_launches(x, programs), "eager": lambda: x / x.sum()}
    ways |= {"barrier": lambda: in_one_launch(x, programs)[0]}
    ways |= {"barrier_cooperative": lambda: in_one_launch(x, programs, True)[0]}
    benchmark.case("divide_by_sum", "fwd", str(n), x.dtype, 2 * x.nbytes, 2 * n, ways, x.double() / x.double().sum())

# One barrier's share: a launch with a hundred of them less one with a single one, in a graph.
state = torch.zeros(2, dtype=torch.int32, device="cuda")


def meet(programs, rounds):
    state.zero_()
    meetings_kernel[(programs,)](state, ROUNDS=rounds, PATIENCE=PATIENCE)


def launch_again(times):
    for _ in range(times):
        nothing_kernel[(multiprocessors,)](state)


figures["barrier_us"] = {}
for programs in (multiprocessors // 4, multiprocessors, 4 * multiprocessors):
    calls = [lambda rounds=rounds, programs=programs: meet(programs, rounds) for rounds in (1, 101)]
    for function in calls:
        function()
        assert state[1].item() == 0, "a program gave up"
    one, many = (quantiles(times)[1] for times in alternate([capture(function) or function for function in calls]))
    figures["barrier_us"][str(programs)] = round((many - one) * 10, 3)
for function in (calls := [lambda times=times: launch_again(times) for times in (1, 101)]):
    function()
one, many = (quantiles(times)[1] for times in alternate([capture(function) or function for function in calls]))
figures["launch_us"] = round((many - one) * 10, 3)
print(figures)
keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
