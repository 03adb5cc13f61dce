"""On a GPU: how long the reader's function takes, beside PyTorch's."""

from collections.abc import Callable

import torch

from kernels.labs.cases import Task


def against_peer(fn: Callable, task: Task) -> str:
    """A sentence with both times on one large input; nothing for tasks that are not timed."""
    if task.peer is None or task.large is None:
        return ""
    from triton.testing import do_bench

    inputs = list(task.large().values())
    shape = task.peer(*inputs).shape
    out = torch.empty(shape, device="cuda")
    own = do_bench(lambda: fn(*inputs, out), return_mode="median")
    peer = do_bench(lambda: task.peer(*inputs), return_mode="median")
    sizes = ", ".join(" by ".join(map(str, value.shape)) for value in inputs)
    ratio = f"{peer / own:.0%} of PyTorch's speed"
    return f"\n  {torch.cuda.get_device_name()}, inputs {sizes}: {own:.3f} ms, PyTorch {peer:.3f} ms ({ratio})."
