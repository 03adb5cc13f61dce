"""torch.backends: settings of a GPU that is not there."""

import types

from torch import _absent

cuda = types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=False, fp32_precision="ieee", allow_fp16_accumulation=False))
cudnn = types.SimpleNamespace(allow_tf32=False)
__getattr__ = _absent.of(__name__, globals())
