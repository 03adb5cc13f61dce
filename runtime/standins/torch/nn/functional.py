"""torch.nn.functional."""

from torch import _absent
from torch._functional import *  # noqa: F403

__getattr__ = _absent.of(__name__, globals())
