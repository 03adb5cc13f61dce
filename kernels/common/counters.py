"""What the programs of one launch share so that the last of them can finish for all: a counter, and what each has found.

A launch leaves its counters at zero, as it found them. Launches of one stream run one after another, so they share their
counters and their scratch memory, which is allocated once. A launch that a CUDA graph records may be replayed on any
stream: it gets counters that no other launch ever gets, and memory of the graph's own.
"""

import torch
import triton

RECORDED = 65536  # counters of a GPU that are kept for launches recorded into graphs
ARRIVED: dict[tuple[int, int], torch.Tensor] = {}
FINDINGS: dict[tuple[int, int], torch.Tensor] = {}
UNUSED: dict[int, torch.Tensor] = {}


def shared_key(x: torch.Tensor) -> tuple[int, int] | None:
    """The GPU and the stream of a launch; None if it may not share anything."""
    if not x.is_cuda or torch.cuda.is_current_stream_capturing():
        return None
    device = x.get_device()
    return device, triton.runtime.driver.active.get_current_stream(device)


def arrival_counters(x: torch.Tensor, count: int, key: tuple[int, int] | None) -> torch.Tensor:
    """At least `count` counters that stand at zero, one for each group of programs that wait for the last of them.

    `key` is the `shared_key` of `x`. To find it takes the host a while, and a launch needs it twice.
    """
    if key is None:
        return recorded_arrivals(x, count)
    counters = ARRIVED.get(key)
    if counters is None or counters.numel() < count:
        counters = ARRIVED[key] = torch.zeros(count if count > 1024 else 1024, dtype=torch.int32, device=x.device)
        if key[0] not in UNUSED:
            UNUSED[key[0]] = torch.zeros(RECORDED, dtype=torch.int32, device=x.device)
            torch.cuda.synchronize(x.device)  # a graph may run on a stream that does not wait for this one
    return counters


def recorded_arrivals(x: torch.Tensor, count: int) -> torch.Tensor:
    """Counters for one launch alone. Those set aside need no launch that clears them each time a graph runs."""
    unused = UNUSED.get(x.get_device())
    if unused is None or unused.shape[0] < count:
        return torch.zeros(count, dtype=torch.int32, device=x.device)
    UNUSED[x.get_device()] = unused[count:]
    return unused[:count]


def workspace(x: torch.Tensor, count: int, key: tuple[int, int] | None) -> torch.Tensor:
    """Room for at least `count` numbers of float32 that the programs of one launch leave for the last of them."""
    if key is None or count > 2**18:
        return torch.empty(count, dtype=torch.float32, device=x.device)
    found = FINDINGS.get(key)
    if found is None or found.numel() < count:
        found = FINDINGS[key] = torch.empty(count if count > 2**14 else 2**14, dtype=torch.float32, device=x.device)
    return found
