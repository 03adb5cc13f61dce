"""torch.linalg."""

from torch import _absent
from torch._dtypes import dtype as Dtype
from torch._reductions import norm
from torch._tensor import Tensor

matrix_norm = norm


def vector_norm(x: Tensor, ord: float = 2, dim: int | None = None, keepdim: bool = False, dtype: Dtype | None = None) -> Tensor:
    return norm(x, ord, dim, keepdim, dtype)


__getattr__ = _absent.of(__name__, globals())
