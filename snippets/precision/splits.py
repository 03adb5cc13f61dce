"""A long sum cut into parts: the parts rounded to bfloat16 and added up there, or kept in float32 until the end."""
# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

from kernels.tools.benchmark import keep

# --8<-- [start:splits]
torch.manual_seed(0)
K = 65536
a, b = torch.randn(64, K).bfloat16(), torch.randn(K, 64).bfloat16()
exact = a.double() @ b.double()


def off(c: torch.Tensor) -> float:
    return ((c.double() - exact).norm() / exact.norm()).item()


def in_parts(parts: int, dtype: torch.dtype) -> torch.Tensor:
    """Every part is summed in float32. `dtype` is that of what the parts leave."""
    c = torch.zeros(64, 64, dtype=dtype)
    for a_part, b_part in zip(a.chunk(parts, 1), b.chunk(parts, 0), strict=True):
        c += (a_part.float() @ b_part.float()).to(dtype)
    return c.bfloat16()


found = {}
for parts in (1, 4, 16, 64, 256):
    found[str(parts)] = [off(in_parts(parts, dtype)) for dtype in (torch.bfloat16, torch.float32)]
assert found["256"][0] > 5 * found["1"][0] and found["256"][1] < 1.1 * found["1"][1]
# --8<-- [end:splits]
for parts, errors in found.items():
    print(f"{parts:>3} parts, relative error:", "added in bfloat16 {:.1e}, in float32 {:.1e}".format(*errors))
keep(figures={f"parts_{parts}": dict(zip(("half", "single"), errors, strict=True)) for parts, errors in found.items()})
