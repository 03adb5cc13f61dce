"""Time ways to one result beside each other: checked, by turns, with a cold cache, against the least time of their bytes."""
import sys

import torch

from kernels.tools.benchmark import Benchmark, alternate, capture, quantiles


def beside(ways, expected, moved, tolerance=1e-5):
    """Print and return the time of each way, and how near it is to a copy of as many bytes."""
    if sys.argv[1:]:
        under_the_profiler(ways[sys.argv[1]])
    torch.cuda.set_stream(torch.cuda.Stream())  # on the default one no graph is captured
    torch.cuda.synchronize()
    for name, way in ways.items():
        error = (way().double() - expected.double()).norm() / expected.double().norm()
        assert error < tolerance, f"{name} is wrong, relative error {error:.1e}"
    copy = Benchmark.rate(Benchmark.copy_ceiling(), "bytes")
    calls = [capture(way) or way for way in ways.values()]
    found = {"copy_gbps": copy / 1e9, "least_us": moved / copy * 1e6, "bytes": moved}
    print(f"{'least time':12}{found['least_us']:10.1f} us for {moved / 1e6:,.1f} MB")
    for name, times in zip(ways, alternate(calls), strict=True):
        us = quantiles(times)[1] * 1e3
        found[name] = {"us": us, "share": found["least_us"] / us}
        print(f"{name:12}{us:10.1f} us{found[name]['share']:8.0%} of the copy's rate")
    return found


def under_the_profiler(way):
    """Let Nsight Compute watch one call, and leave."""
    way()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    way()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()
    sys.exit(0)
