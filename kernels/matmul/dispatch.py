"""The kernels that serve matrix products, by the names that a plan gives them, and the way from a product to its launch.

What a launch passes besides the matrices follows from their shapes, strides and alignment. It is found once and kept, because
the host would need longer for it than a small product takes.
"""

from collections.abc import Callable

import torch

from kernels.matmul.epilogue import Epilogue, Launch
from kernels.matmul.gluon import matmul_gluon
from kernels.matmul.hopper import matmul_hopper
from kernels.matmul.narrow import matmul_narrow
from kernels.matmul.plan import MatmulPlan, aligned_copy, matmul_kind, matmul_plan
from kernels.matmul.split import matmul_split
from kernels.matmul.tiled import matmul_tiled

MATMUL_KERNELS: dict[str, Callable[..., Launch]] = {
    "tiled": matmul_tiled,
    "split": matmul_split,
    "hopper": matmul_hopper,
    "gluon": matmul_gluon,
    "narrow": matmul_narrow,
}
LAUNCHES: dict[tuple, Launch] = {}
MOST_LAUNCHES = 4096


def prepare_launch(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, finish: Epilogue, plan: MatmulPlan) -> Launch:
    """The launch of a plan for matrices like these."""
    copies, copied = plan.copies, [aligned_copy(x) if copy else x for x, copy in zip((a, b), plan.copies, strict=True)]
    precision = "ieee" if matmul_kind(a.dtype) == "ieee" else "tf32"
    launch = MATMUL_KERNELS[plan.kernel](*copied, c, finish, precision, plan.configuration)
    if not any(copies):
        return launch
    return lambda a, b, c, finish: launch(aligned_copy(a) if copies[0] else a, aligned_copy(b) if copies[1] else b, c, finish)


def matmul_launch(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, finish: Epilogue) -> None:
    """Write `a @ b`, finished, to the contiguous matrix `c`."""
    key = (
        a.shape, a.stride(), b.shape, b.stride(), a.data_ptr() % 16, b.data_ptr() % 16, a.get_device(),
        matmul_kind(a.dtype), finish.z is None, finish.bias is None, finish.row_scales, finish.activation, c.element_size(),
    )
    launch = LAUNCHES.get(key)
    if launch is None:
        if len(LAUNCHES) >= MOST_LAUNCHES:
            LAUNCHES.clear()
        launch = LAUNCHES[key] = prepare_launch(a, b, c, finish, matmul_plan(a, b))
    launch(a, b, c, finish)
