"""Time slots that take requests from a queue, a launch for each batch, and one program for each request in one launch."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark, keep
from snippets.cuda.compare import sound
from snippets.serving.slots import by_batches, by_slots, requests

SLOTS = 2 * torch.cuda.get_device_properties(0).multi_processor_count
benchmark, figures = Benchmark(), {"slots": SLOTS, "failed": {}}
for name in ("shuffled", "even"):
    x, starts = requests(8 * SLOTS, 200, "cuda", name == "even")
    count = starts.numel() - 1
    ways = {
        "batches": lambda: by_batches(x, starts, SLOTS),
        "queue": lambda: by_slots(x, starts, SLOTS, count),
        "each": lambda: by_batches(x, starts, count),
    }
    expected = ways["each"]()
    steps = x.view(-1, x.shape[1]).double()
    last = steps[starts[1:] - 1] + sum(
        torch.where((starts[1:] - 1 - back >= starts[:-1])[:, None], steps[(starts[1:] - 1 - back).clamp(min=0)], 0.0) * 0.5**back
        for back in range(1, 40)
    )
    ways, failed = sound(ways, last, x.dtype)
    figures["failed"] |= {f"{name} {way}": why for way, why in failed.items()}
    benchmark.case("served", "fwd", name, x.dtype, x.nbytes, x.numel(), ways, expected)
keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
