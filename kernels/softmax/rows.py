"""A tensor of any shape as rows along one of its dimensions, and a result of such rows in the shape of the tensor."""

import torch


def rows_of(x: torch.Tensor, dim: int) -> torch.Tensor:
    """View `x` as [rows, columns] with `dim` as the columns, copying only where the strides leave no other way."""
    if x.is_neg():
        x = x.resolve_neg()
    if x.ndim != 2 or dim != 1:
        x = x.movedim(dim, -1)
        x = x.reshape(-1, x.shape[-1])
    return x if x.stride()[1] == 1 else x.contiguous()


def restore_shape(rows: torch.Tensor, x: torch.Tensor, dim: int) -> torch.Tensor:
    """Undo `rows_of` on a result: the shape of `x` again."""
    return rows if x.ndim == 2 and dim == 1 else rows.view(x.movedim(dim, -1).shape).movedim(-1, dim)
