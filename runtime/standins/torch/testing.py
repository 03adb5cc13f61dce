"""torch.testing."""

from torch import _absent
from torch._products import assert_close

__all__ = ["assert_close"]
__getattr__ = _absent.of(__name__, globals())
