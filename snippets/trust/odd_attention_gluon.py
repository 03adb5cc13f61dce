"""The kernels for attention in Gluon, forward and backward, at lengths that fit nothing: for Compute Sanitizer to watch."""
# needs: sm_90
# sanitizers: memcheck racecheck initcheck synccheck
import sys

import torch

if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    print("needs: sm_90 (a Hopper GPU that PyTorch can use)")
    sys.exit(2)

import triton

from kernels.attention.configs import GLUON_BACKWARD_NAMES, GLUON_BACKWARD_TILES, GLUON_FORWARD_TILES, GLUON_NAMES
from kernels.attention.gluon import launch_gluon_forward
from kernels.attention.gluon_backward import launch_finish, launch_gluon_keys, launch_prepare
from kernels.attention.launch import AttentionMask, strides_of

# As in odd_products.py: PyTorch fills every new tensor with NaN, which counts as written.
torch.use_deterministic_algorithms(True)
LAUNCHED = set()
triton.knobs.runtime.launch_enter_hook.add(lambda metadata: LAUNCHED.add(metadata.get()["name"]))
# Causal, in a window, and with all keys; three programs take all pieces, where programs stay.
for length, k_length, window in ((67, 129, (-1, 0)), (200, 300, (33, 5)), (300, 200, (-1, -1))):
    for head, tile in GLUON_FORWARD_TILES.items():
        q, dout, out, dq = torch.randn(4, 2, 4, length, head, device="cuda").bfloat16().unbind()
        k, v, dk, dv = torch.randn(4, 2, 2, k_length, head, device="cuda").bfloat16().unbind()
        lse, mask = torch.empty(2, 4, length, device="cuda"), AttentionMask(*window, lower_right=True)
        forward = dict(zip(GLUON_NAMES, tile, strict=True)) | {"programs": 3}
        launch_gluon_forward(q, k, v, out, lse, window, mask, head**-0.5 * 1.4426950408889634, forward, strides_of)
        assert torch.isfinite(out).all(), (head, length, window)
        if head in GLUON_BACKWARD_TILES:
            backward = dict(zip(GLUON_BACKWARD_NAMES, GLUON_BACKWARD_TILES[head], strict=True))
            sums = launch_prepare(out, lse, dout, None, strides_of)
            launch_gluon_keys(q, k, v, dout, *sums, dk, dv, window, mask, head**-0.5, backward, strides_of)
            launch_finish(sums[2], dq, head**-0.5, strides_of)
            assert all(torch.isfinite(x).all() for x in (dq, dk, dv)), (head, length, window)
    torch.cuda.synchronize()
print(f"{len(LAUNCHED)} kernels launched, every result finite:")
print(*sorted(LAUNCHED), sep="\n")
