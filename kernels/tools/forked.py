"""Ranks without a GPU: processes of the CPU that share memory, in place of GPUs that share a link."""
# --8<-- [start:forked]
import multiprocessing

import torch

PATIENCE = 60  # seconds


def shared(*shape, dtype=torch.float32):
    """Zeros that lie at one address in all processes which are started afterwards."""
    return torch.zeros(*shape, dtype=dtype).share_memory_()


def places(rows):
    """The address of each row."""
    return torch.tensor([row.data_ptr() for row in rows])


def in_processes(world, run):
    """Call run(rank) in a process for each rank, all at once, and wait for them."""
    torch.set_num_threads(1)  # a pool of threads does not survive a fork
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=run, args=(rank,), daemon=True) for rank in range(world)]
    for child in children:
        child.start()
    for child in children:
        child.join(PATIENCE)
    if lost := [rank for rank, child in enumerate(children) if child.exitcode != 0]:
        raise RuntimeError(f"ranks {lost} did not end well")
# --8<-- [end:forked]
