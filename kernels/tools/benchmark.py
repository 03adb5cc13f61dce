"""The one harness behind every time on the site.

Implementations of one operation take turns in one process, on the same random inputs, with the L2 cache flushed
before every call. Each is checked against an expected result before it is timed. The two ceilings of the machine,
a large copy and a large matrix product, are timed in the same run.
"""

import json
import os
from collections.abc import Callable

import torch

DTYPES = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.float8_e4m3fn: "fp8"}
TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float8_e4m3fn: 1.6e-2}
FLUSH_BYTES = 256 * 2**20


def quantiles(times: list[float]) -> list[float]:
    """The 20th, 50th and 80th percentile of a list of times, in its unit."""
    values = torch.tensor(times, dtype=torch.float64)
    return [round(value, 6) for value in torch.quantile(values, torch.tensor([0.2, 0.5, 0.8], dtype=torch.float64)).tolist()]


def alternate(functions: list[Callable], seconds: float = 0.25) -> list[list[float]]:
    """Call the functions in turn, with a cold L2 cache each time; return each one's times in milliseconds.

    The times are the GPU's own, between an event before the call and one after it. The calls are queued without
    waiting, so a call costs host time only where the host takes longer than the GPU does for call and flush. Every
    round starts with another function, and there are as many rounds as fit into `seconds` for the slowest, from 20
    to 200.
    """
    flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")

    def measure(rounds: int) -> list[list[float]]:
        events: list[list[tuple]] = [[] for _ in functions]
        for done in range(rounds):
            for turn in range(len(functions)):
                which = (done + turn) % len(functions)
                start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                flush.zero_()
                start.record()
                functions[which]()
                end.record()
                events[which].append((start, end))
        torch.cuda.synchronize()
        return [[start.elapsed_time(end) for start, end in pairs] for pairs in events]

    # The first rounds only warm up and tell how long a round takes.
    slowest = max(quantiles(times)[1] for times in measure(5))
    return measure(max(20, min(200, int(seconds * 1e3 / slowest))))


def capture(function: Callable) -> Callable | None:
    """Record a call into a CUDA graph and return its replay; None where it cannot be captured."""
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
            function()
    except RuntimeError:
        torch.cuda.synchronize()
        return None
    return graph.replay


def keep(**contents) -> None:
    """Put something into the record of this run, if the run is recorded: BLOCKWISE_RECORD then names a file."""
    path = os.environ.get("BLOCKWISE_RECORD")
    if path:
        with open(path, "w") as file:
            json.dump(contents, file)


class Benchmark:
    """Times cases one after another, prints a table, and keeps the raw quantiles for a record."""

    def __init__(self):
        # Graphs are captured on the stream that the inputs were made on, which must not be the default one.
        torch.cuda.set_stream(torch.cuda.Stream())
        torch.manual_seed(0)
        self.measurements: list[dict] = []
        self.ceilings = {"copy": self.copy_ceiling(), "matmul": self.matmul_ceiling()}
        print(f"{torch.cuda.get_device_name()}: copy {self.rate(self.ceilings['copy'], 'bytes') / 1e9:.0f} GB/s, ", end="")
        print(f"matmul {self.rate(self.ceilings['matmul'], 'flops') / 1e12:.0f} TFLOP/s")

    @staticmethod
    def rate(measured: dict, quantity: str) -> float:
        return measured[quantity] / (measured["ms"][1] * 1e-3)

    @staticmethod
    def copy_ceiling() -> dict:
        x = torch.randn(2**28, device="cuda")
        out = torch.empty_like(x)
        return {"bytes": 2 * x.nbytes, "ms": quantiles(alternate([lambda: out.copy_(x)])[0])}

    @staticmethod
    def matmul_ceiling() -> dict:
        a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        out = torch.empty_like(a)
        return {"flops": 2 * 8192**3, "ms": quantiles(alternate([lambda: torch.mm(a, b, out=out)])[0])}

    def case(
        self,
        op: str,
        direction: str,
        shape: str,
        dtype: torch.dtype,
        moved: int,
        flops: int | None,
        implementations: dict[str, Callable[[], torch.Tensor]],
        expected: torch.Tensor,
        configuration: dict | None = None,
    ) -> None:
        """Check and time the implementations of one case.

        Args:
            op: The operation's name.
            direction: `fwd` or `bwd`.
            shape: The shape as text, such as `8192x4096`.
            dtype: The storage type of the inputs.
            moved: The fewest bytes that the operation can move.
            flops: Its floating-point operations, or None where the count means nothing.
            implementations: Functions without arguments, by name; each returns the result.
            expected: What every one must return, within the tolerance of `dtype`.
            configuration: How `blockwise` served this case.
        """
        for name, function in implementations.items():
            error = ((function().double() - expected.double()).norm() / expected.double().norm()).item()
            if not error < TOLERANCE[dtype]:
                raise AssertionError(f"{op} {direction} {shape} {DTYPES[dtype]}: {name} is wrong, relative error {error:.2e}")
        calls = alternate(list(implementations.values()))
        timings = [(name, "call", times) for name, times in zip(implementations, calls, strict=True)]
        # Where the fastest call is short, it may be mostly the launch: all are timed without Python, too.
        if min(quantiles(times)[1] for times in calls) < 0.2:
            replays = {name: replay for name, function in implementations.items() if (replay := capture(function))}
            timings += [(name, "graph", times) for name, times in zip(replays, alternate(list(replays.values())), strict=True)]
        for name, timing, times in timings:
            ms = quantiles(times)
            row: dict = {"op": op, "direction": direction, "shape": shape, "dtype": DTYPES[dtype], "implementation": name}
            row |= {"timing": timing, "ms": ms, "bytes": moved, "flops": flops}
            row |= {"configuration": configuration if name == "blockwise" else None}
            self.measurements.append(row)
            title = f"{op} {direction} {shape:>14} {DTYPES[dtype]} {timing:5} {name:12}"
            print(f"{title} {ms[1] * 1e3:9.1f} us {moved / ms[1] / 1e6:6.0f} GB/s", flush=True)

    def finish(self) -> None:
        """Keep what was measured."""
        keep(ceilings=self.ceilings, measurements=self.measurements)


class Replayed(Benchmark):
    """Replays a case from a graph also where each call is long: with a gradient to come it may be the host that makes it so."""

    def case(self, *arguments) -> None:
        before = len(self.measurements)
        super().case(*arguments)
        calls = {row["implementation"]: row for row in self.measurements[before:]}
        moved, implementations = arguments[4], arguments[6]
        if moved < 2**30 and all(row["timing"] == "call" for row in calls.values()):
            replays = {name: replay for name, function in implementations.items() if (replay := capture(function))}
            for name, times in zip(replays, alternate(list(replays.values())), strict=True):
                self.measurements.append(calls[name] | {"timing": "graph", "ms": quantiles(times)})
