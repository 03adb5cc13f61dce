"""On a GPU: how long the reader's function takes, beside PyTorch's."""

from collections.abc import Callable

import torch

from kernels.labs.tasks.cases import Inputs

# How far the two results may lie apart, as a share of their size: PyTorch's may be rounded to bfloat16.
APART = 1e-2


def against_peer(fn: Callable, peer: Callable[..., torch.Tensor], large: Inputs) -> tuple[bool, str]:
    """Whether both give the same for one large input, and a sentence with both times."""
    from triton.testing import do_bench

    inputs = list(large.values())
    expected = peer(*inputs)
    out = torch.full(expected.shape, torch.nan, device="cuda")
    fn(*inputs, out)
    sizes = " and ".join(" by ".join(map(str, value.shape)) for value in inputs)
    of = f"inputs of {sizes} in {str(inputs[0].dtype).removeprefix('torch.')}"
    if not (out - expected).norm() <= APART * expected.norm():
        return False, (
            f"Small inputs come out right, and {of} do not.\n\nUsually: an offset that passed 2^31 and wrapped around, or more "
            "programs or lanes than a launch or a block can have. Widen first: `tl.program_id(0).to(tl.int64)`."
        )
    own, theirs = (do_bench(call, return_mode="median") for call in (lambda: fn(*inputs, out), lambda: peer(*inputs)))
    name = torch.cuda.get_device_name()
    return True, f"{name}, {of}: {own:.3f} ms. PyTorch takes {theirs:.3f} ms: you have {theirs / own:.0%} of its speed."
