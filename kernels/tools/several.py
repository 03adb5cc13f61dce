"""Run a program on every GPU of a machine, a process each, and give them memory that all of their kernels reach.

Not part of the public interface. The processes, the collectives and the memory are PyTorch's. Nothing here waits without a
limit, and nothing uses NVLink's multicast.
"""

import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

LIMIT_SECONDS = 40
# The sums that a switch makes by itself are another subject: what is compared here are links.
WITHOUT_MULTICAST = {"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1", "NVSHMEM_DISABLE_NVLS": "1"}


# --8<-- [start:together]
def together(main: Callable[[int, int], None], backend: str = "nccl") -> None:
    """Call main(rank, world) in a process for each GPU. Started plainly, the program starts torchrun first."""
    if "RANK" not in os.environ:
        os.environ.setdefault("PYTHONPATH", os.getcwd())  # for a program of a checkout, started by its module's name
        torchrun = ["-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1", "--nproc-per-node=gpu"]
        os.execv(sys.executable, [sys.executable, *torchrun, *sys.argv])  # this process becomes torchrun
    os.environ.update(WITHOUT_MULTICAST)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # when torchrun dies, so does this process
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = None
    if backend == "nccl":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group(backend, timeout=timedelta(seconds=LIMIT_SECONDS), device_id=device)
    try:
        main(rank, world)
        dist.barrier()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)  # at once: a farewell to the others would wait for them, and torchrun tells them
    dist.destroy_process_group()
# --8<-- [end:together]


# --8<-- [start:symmetric]
def symmetric(shape: tuple[int, ...], dtype: torch.dtype) -> tuple[torch.Tensor, Any, torch.Tensor]:
    """Zeros of this rank that kernels of all ranks reach, PyTorch's handle for them, and where each rank's lie.

    Every rank calls it, with the same shape; it waits for all of them.
    """
    import torch.distributed._symmetric_memory as symm_mem

    rank, world, here = dist.get_rank(), dist.get_world_size(), torch.cuda.current_device()
    if far := [peer for peer in range(world) if peer != here and not torch.cuda.can_device_access_peer(here, peer)]:
        raise RuntimeError(f"GPU {here} cannot reach the memory of {far}: no link and no shared bus that the driver allows")
    asked: list[Any] = [None] * world
    dist.all_gather_object(asked, (shape, dtype))
    if asked != asked[:1] * world:
        raise ValueError(f"symmetric: expected the same shape and dtype on every rank, got {asked}")
    mine = symm_mem.empty(*shape, dtype=dtype, device=torch.device("cuda", here)).zero_()
    group: Any = dist.group.WORLD
    handle = symm_mem.rendezvous(mine, group.group_name)
    places = [handle.get_buffer(peer, shape, dtype).data_ptr() for peer in range(world)]
    assert places[rank] == mine.data_ptr()
    torch.cuda.synchronize()
    dist.barrier()  # until all are zero
    return mine, handle, torch.tensor(places, device="cuda")
# --8<-- [end:symmetric]


# --8<-- [start:timed]
def slowest(milliseconds: float) -> float:
    """The longest of all ranks' times: an operation ends where its last rank ends."""
    time = torch.tensor(milliseconds, device="cuda")
    dist.all_reduce(time, dist.ReduceOp.MAX)
    return time.item()


def timed_together(functions: dict[str, Callable[[], Any]], rounds: int = 30) -> dict[str, float]:
    """The median milliseconds of each function, called in turns on all ranks at once; of the slowest rank."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(rounds + 5):
        for name, function in functions.items():
            events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            dist.barrier()  # the ranks begin together
            torch.cuda.synchronize()
            events[0].record()
            function()
            events[1].record()
            torch.cuda.synchronize()
            if turn >= 5:  # the first ones warm up
                times[name].append(events[0].elapsed_time(events[1]))
    return {name: slowest(torch.tensor(found).median().item()) for name, found in times.items()}


def replayed(function: Callable[[], Any], calls: int = 10) -> Callable[[], None]:
    """So many calls in a row as a CUDA graph, which costs the host one launch."""
    for _ in range(2):
        function()
    torch.cuda.synchronize()
    dist.barrier()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):  # NCCL's watchdog is another thread
        for _ in range(calls):
            function()
    return graph.replay
# --8<-- [end:timed]
