"""PyTorch's own bisector finds a planted mistake: a gelu that the compiler takes apart into a cheaper, wrong one."""

# --8<-- [start:planted]
import torch
import torch._inductor.compile_fx as compile_fx
from torch._inductor.compiler_bisector import CompilerBisector

usual = compile_fx.select_decomp_table


def planted():
    """The rules by which operations are taken apart, and one of ours among them."""
    return {**usual(), torch.ops.aten.gelu.default: lambda x, approximate="none": x * torch.sigmoid(1.702 * x)}


def layer(x):
    return torch.nn.functional.gelu(torch.sin(x) * 2).sum(1)
# --8<-- [end:planted]


# --8<-- [start:ladder]
compile_fx.select_decomp_table = planted
x = torch.randn(64, 64)
for backend in ("eager", "aot_eager", "aot_eager_decomp_partition"):
    torch.compiler.reset()
    difference = (torch.compile(layer, backend=backend)(x) - layer(x)).abs().max().item()
    print(f"{backend}: {'right' if difference < 1e-4 else 'wrong'}")
    #> eager: right
    #> aot_eager: right
    #> aot_eager_decomp_partition: wrong
# --8<-- [end:ladder]


# --8<-- [start:bisect]
def is_right():
    torch.compiler.reset()
    return torch.allclose(torch.compile(layer)(x), layer(x), atol=1e-4)


found = CompilerBisector.do_bisect(is_right)
print(found.backend)
#> aot_eager_decomp_partition
print(found.subsystem)
#> decomposition
print(found.debug_info)
#> <OpOverload(op='aten.gelu', overload='default')>
# --8<-- [end:bisect]
compile_fx.select_decomp_table = usual
