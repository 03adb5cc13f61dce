"""The kernels that serve matrix products, by the names that a plan gives them, and the way from a product to its launch.

What a launch passes besides the matrices follows from their shapes, strides and alignment. It is found once and kept, because
the host would need longer for it than a small product takes.
"""

from collections.abc import Callable

import torch

from kernels.matmul.aligned import aligned_copier
from kernels.matmul.epilogue import Epilogue, Launch
from kernels.matmul.gluon import matmul_gluon
from kernels.matmul.hopper import matmul_hopper
from kernels.matmul.narrow import matmul_narrow
from kernels.matmul.plan import MatmulPlan, matmul_kind, matmul_plan
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
Copier = Callable[[torch.Tensor], torch.Tensor]
COPIERS: dict[tuple, Copier] = {}


def unchanged(matrix: torch.Tensor) -> torch.Tensor:
    return matrix


def prepare_launch(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, finish: Epilogue, plan: MatmulPlan) -> Launch:
    """The launch of a plan for matrices like these."""
    of_a, of_b = (aligned_copier(x) if copy else unchanged for x, copy in zip((a, b), plan.copies, strict=True))
    precision = "ieee" if matmul_kind(a.dtype) == "ieee" else "tf32"
    launch = MATMUL_KERNELS[plan.kernel](of_a(a), of_b(b), c, finish, precision, plan.configuration)
    if not any(plan.copies):
        return launch
    return lambda a, b, c, finish: launch(of_a(a), of_b(b), c, finish)


def for_both(dz: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What the products `dz @ b.mT` and `a.mT @ dz` are to take for dz: a copy, where each of them would make one."""
    dz = dz.resolve_neg()
    key = dz.shape, dz.stride(), a.stride(), b.stride(), *(x.data_ptr() % 16 for x in (dz, a, b)), dz.get_device(), dz.dtype
    copier = COPIERS.get(key)
    if copier is None:
        if len(COPIERS) >= MOST_LAUNCHES:
            COPIERS.clear()
        copied = dz.numel() and matmul_plan(dz, b.mT).copies[0] and matmul_plan(a.mT, dz).copies[1]
        copier = COPIERS[key] = aligned_copier(dz) if copied else unchanged
    return copier(dz)


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
