"""What limits a kernel: the questions of *Why is my kernel slow?* as arithmetic on what was measured. It needs no GPU."""

# --8<-- [start:imports]
from math import ceil
from typing import NamedTuple

# --8<-- [end:imports]

# Each end of the tree: what it says, and the section that shows it executed.
LEAVES = {
    "launch-bound": ("The host needs longer to launch it than the GPU to run it.", "profiling-slow-launch/#launch-bound"),
    "host-bound": ("The GPU is idle for most of the call, waiting for the host.", "profiling-slow-launch/#host-bound"),
    "at the copy's rate": ("It moves its bytes as fast as a copy: only fewer bytes help.", "profiling-slow-memory/#at-the-limit"),
    "at the product's rate": ("It multiplies as fast as the library.", "matmul-ladder-left/"),
    "not all touched": ("It beats the copy, so it does not touch all of its tensors.", "profiling-roofline/#how-it-counts"),
    "too few programs": ("It has fewer programs than multiprocessors.", "profiling-slow-launch/#too-few-programs"),
    "tail": ("Its last wave leaves most multiprocessors idle.", "profiling-slow-launch/#tail"),
    "spills": ("Its registers spill to memory.", "profiling-slow-compute/#spills"),
    "tensor cores idle": ("It multiplies without the tensor cores.", "profiling-slow-compute/#tensor-cores-idle"),
    "uncoalesced": ("Much more passes the L2 cache than its tensors hold.", "profiling-slow-memory/#uncoalesced"),
    "order": ("Memory is read for the same bytes again.", "profiling-slow-memory/#order"),
    "too little under way": (
        "Nothing above explains it: look for bytes that are read again or in a bad order, then for too few under way.",
        "profiling-slow-memory/#too-few-bytes-in-flight",
    ),
}


# --8<-- [start:figures]
class Figures(NamedTuple):
    """What was measured of a kernel; times are in microseconds."""

    us: float  # on the GPU
    host_us: float  # on the host, for one launch
    idle: float  # of the whole call, the share in which the GPU does nothing
    memory_us: float  # its bytes at the copy's rate
    product_us: float  # its operations at the product's rate, 0 if there are none
    programs: int
    multiprocessors: int
    waves: float  # programs, by how many run at once
    spilled: int
    dots: bool  # whether it multiplies tiles
    tensor_cores: bool  # whether it does so with the tensor cores
    memory_again: float = 1  # bytes counted in memory, by those of its tensors
    cache_again: float = 1  # bytes counted in the L2 cache, by those of its tensors
# --8<-- [end:figures]


# --8<-- [start:limiter]
# Two bytes a thread are 64 bytes for a warp. The L2 cache passes pieces of 32 bytes: 64 in all, or 96 where the first byte
# lies inside a piece. With every other element left out it passes 128, and no place to begin at explains that.
MISALIGNED = 3 / 2


def limiter(f: Figures) -> str:
    """The first question of the tree that is answered with yes."""
    share = max(f.memory_us, f.product_us) / f.us
    answers = {
        "launch-bound": f.host_us > f.us,
        "host-bound": f.idle > 0.5,
        "not all touched": f.memory_us > 1.15 * f.us,
        "at the copy's rate": share > 0.8 and f.memory_us >= f.product_us,
        "at the product's rate": share > 0.8,
        "too few programs": f.programs < f.multiprocessors,
        "tail": f.waves > 1 and f.waves / ceil(f.waves) < 0.75,
        "spills": f.spilled > 0,
        "tensor cores idle": f.dots and not f.tensor_cores,
        "uncoalesced": f.cache_again > MISALIGNED * f.memory_again,
        "order": f.memory_again > 1.3,
    }
    return next((name for name, yes in answers.items() if yes), "too little under way")
# --8<-- [end:limiter]


def touched(shape: tuple[int, ...], strides: tuple[int, ...], element_bytes: int) -> int:
    """The bytes of a tensor, an expanded dimension counted once."""
    count = 1
    for size, stride in zip(shape, strides, strict=True):
        count *= size if stride or not size else 1
    return count * element_bytes


def waves(programs: int, multiprocessors: int, resident: int) -> float:
    """How often the GPU is filled with programs, the last time perhaps in part."""
    return programs / (multiprocessors * max(1, resident))


def occupancy(resident: int, num_warps: int, threads: int) -> float:
    """The share of a multiprocessor's warps that its resident programs have; `threads` is the most it can hold."""
    return resident * num_warps * 32 / threads


def verdict(figures: Figures) -> list[str]:
    """The end of the tree in two lines: what it says, and where that is shown."""
    said, page = LEAVES[limiter(figures)]
    return [f"limited: {limiter(figures)}. {said}", f"see: deeper/{page}"]
