"""torch.optim: no optimizer is here."""

from torch import _absent

__getattr__ = _absent.of(__name__, globals())
