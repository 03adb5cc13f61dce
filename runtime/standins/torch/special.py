"""torch.special."""

from torch import _absent
from torch._pointwise import erf, exp2, expm1, log1p
from torch._pointwise import sigmoid as expit
from torch._reductions import log_softmax, logsumexp, softmax

__all__ = ["erf", "exp2", "expit", "expm1", "log1p", "log_softmax", "logsumexp", "softmax"]
__getattr__ = _absent.of(__name__, globals())
