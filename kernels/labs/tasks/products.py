"""What a matrix product gives when one thing in it is wrong."""

from collections.abc import Callable

import torch


def transposed_out(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a @ b).T


def transposed_a(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.T @ b if len(a) == len(b) else a @ b


def transposed_b(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b.T if a.shape[1] == b.shape[1] else a @ b


def first_block(tile: int) -> Callable[..., torch.Tensor]:
    return lambda a, b: a[:, :tile] @ b[:tile]


def last_block(tile: int) -> Callable[..., torch.Tensor]:
    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        start = (a.shape[1] - 1) // tile * tile
        return a[:, start:] @ b[start:]

    return product


def standing(tile: int) -> Callable[..., torch.Tensor]:
    return lambda a, b: a[:, :tile] @ b[:tile] * (a.shape[1] // tile)


def walked(tile: int) -> dict[str, Callable[..., torch.Tensor]]:
    """Mistakes in the walk along K, with tiles of this length."""
    of = f"of K was {{}} (your tiles seem to be {tile} long)"
    again = f"the first block of K was added again and again (your tiles seem to be {tile} long)"
    return {
        f"only the first block {of.format('used')}: the loop ends early": first_block(tile),
        f"only the last block {of.format('kept')}: add to the accumulator, `total = tl.dot(a, b, total)`": last_block(tile),
        f"{again}: the pointers do not move on, by the tile's length times the stride along K": standing(tile),
    }


MATMUL: dict[str, Callable[..., torch.Tensor]] = {
    "the product is transposed: rows and columns of the output are swapped": transposed_out,
    "`b` is read transposed: its strides or its two offsets are swapped": transposed_b,
    "`a` is read transposed: its strides or its two offsets are swapped": transposed_a,
}
MATMUL |= {words: wrong for tile in (16, 32, 64, 128) for words, wrong in walked(tile).items()}


def clamped(tile: int) -> Callable[..., torch.Tensor]:
    """A ReLU of the running total, in each step along K."""

    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        total = torch.zeros_like(a[:, :1] @ b[:1])
        for start in range(0, a.shape[1], tile):
            total = torch.relu(total + a[:, start : start + tile] @ b[start : start + tile])
        return total

    return product


def clamped_parts(tile: int) -> Callable[..., torch.Tensor]:
    """A ReLU of what each step along K adds."""

    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        parts = zip(a.split(tile, 1), b.split(tile), strict=True)
        return torch.stack([torch.relu(left @ right) for left, right in parts]).sum(0)

    return product


def then_relu(product: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    return lambda a, b: torch.relu(product(a, b))


EARLY = "the ReLU is within the loop, where what is below 0 may still rise above it. Apply it once, after the loop"
MATMUL_RELU: dict[str, Callable[..., torch.Tensor]] = {
    "the ReLU is missing": lambda a, b: a @ b,
    **{f"{EARLY} (your tiles seem to be {tile} long)": clamped(tile) for tile in (16, 32, 64, 128)},
    **{f"{EARLY}, to the whole sum (your tiles seem to be {tile} long)": clamped_parts(tile) for tile in (16, 32, 64, 128)},
    **{words: then_relu(wrong) for words, wrong in MATMUL.items()},
}
