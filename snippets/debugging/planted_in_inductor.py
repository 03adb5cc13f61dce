"""A mistake that PyTorch can plant in the kernels it writes, for tests of its own tools, and what those tools say of it."""
# needs: cuda
import sys

import torch
from torch._inductor import config
from torch._inductor.compiler_bisector import CompilerBisector

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.inductor.captured import captured, launched


# --8<-- [start:names]
def chain(x):
    return torch.sigmoid(torch.relu(torch.sin(x)) * 2)


x = torch.randn(1 << 20, device="cuda")
for named_after in ("original_aten", "torch", "inductor_node"):
    with config.patch({"triton.descriptive_names": named_after}):
        torch.compiler.reset()
        compiled, result, program = captured(chain, x)
    print(f"{named_after}:", *launched(lambda compiled=compiled: compiled(x)))
# --8<-- [end:names]


# --8<-- [start:bisect]
def is_right():
    torch.compiler.reset()
    with config.patch({"triton.inject_relu_bug_TESTING_ONLY": "accuracy", "force_disable_caches": True}):
        return torch.allclose(torch.compile(chain)(x), chain(x), atol=1e-4)


found = CompilerBisector.do_bisect(is_right)
print("found:", found.backend, found.subsystem, found.debug_info)
# --8<-- [end:bisect]
keep(figures={"found": str(found.debug_info)})
