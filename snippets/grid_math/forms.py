"""What a grid may be: a tuple, or a function of the launch's arguments. And an empty one."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:triton]
import triton
import triton.language as tl
# --8<-- [end:triton]


# --8<-- [start:forms]
@triton.jit
def fill_kernel(out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 1.0, mask=offsets < n_elements)


device = "cuda" if torch.cuda.is_available() else "cpu"


def grid_of(arguments):
    return (triton.cdiv(arguments["n_elements"], arguments["BLOCK"]),)


grids = {"tuple": (8,), "function": grid_of, "empty": (0,), "number": 8}
for name, grid in grids.items():
    out = torch.zeros(1000, device=device)
    try:
        fill_kernel[grid](out, 1000, BLOCK=128)
        outcome = f"{int(out.sum())} elements written"
    except TypeError as error:
        outcome = error
    print(f"{name}: {outcome}")
    #> tuple: 1000 elements written
    #> function: 1000 elements written
    #> empty: 0 elements written
    #> number: object of type 'int' has no len()
# --8<-- [end:forms]
