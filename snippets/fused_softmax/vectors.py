"""How wide the compiled loads of a softmax are, for lengths that 16, 8, 4 or nothing divides."""
import math
import os
import re

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported
print("No GPU is needed, and no interpreter: the kernel is compiled and not run.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


# --8<-- [start:kernel]
@triton.jit
def vector_softmax_kernel(
    x_ptr, y_ptr, n_vectors, VECTOR: tl.constexpr, BLOCK: tl.constexpr
):
    n_columns = n_vectors * VECTOR  # a multiple of VECTOR, and the compiler knows it
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=-float("inf"))
    x = x.to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + row * n_columns + columns, y, mask=mask)
# --8<-- [end:kernel]


def loads(n_columns, vector):
    """The loads of one thread as Triton compiles them for a Hopper GPU, which need not be here."""
    n_vectors = n_columns // vector
    types = ["*bf16", "*bf16", "i32", "constexpr", "constexpr"]
    divisible = (0, 1, 2) if n_vectors % 16 == 0 else (0, 1)  # all that Triton asks of an integer
    source = ASTSource(
        vector_softmax_kernel,
        dict(zip(vector_softmax_kernel.arg_names, types, strict=True)),
        {(3,): vector, (4,): triton.next_power_of_2(n_columns)},
        {(at,): [["tt.divisibility", 16]] for at in divisible},
    )
    ptx = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
    found = re.findall(r"ld\.global\.(?:v(\d)\.)?b(\d+)", ptx)
    return f"{len(found):2} of {int(found[0][0] or 1) * int(found[0][1]) // 8:2} bytes"


for n_columns in (1024, 1000, 700, 513):
    vector = math.gcd(n_columns, 8)
    print(f"{n_columns:4}: as it is {loads(n_columns, 1)}, in vectors of {vector} {loads(n_columns, vector)}")
    #> 1024: as it is  1 of 16 bytes, in vectors of 8  1 of 16 bytes
    #> 1000: as it is  8 of  2 bytes, in vectors of 8  1 of 16 bytes
    #>  700: as it is  8 of  2 bytes, in vectors of 4  2 of  8 bytes
    #>  513: as it is  8 of  2 bytes, in vectors of 1  8 of  2 bytes
