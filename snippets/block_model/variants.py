"""Which changes of an argument make Triton compile again?"""
# --8<-- [start:torch]
import torch
# --8<-- [end:torch]
# --8<-- [start:triton]
import triton
import triton.language as tl
# --8<-- [end:triton]

# --8<-- [start:compile_only]
from kernels.tools.compile_only import compile_only
# --8<-- [end:compile_only]

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:variants]
@triton.jit
def scale_by_kernel(x_ptr, out_ptr, factor, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, factor * x, mask=mask)


x = torch.zeros(2048)
usual = {"x_ptr": x, "out_ptr": x, "factor": 2.0, "n_elements": 1000}
usual |= {"BLOCK": 256}
lengths = (1000, 999, 1024, 2048, 16, 1, 2**31)
cases = {f"n_elements = {n}": {"n_elements": n} for n in lengths}
cases |= {f"factor = {factor}": {"factor": factor} for factor in (3.5, 1.0, 2)}
cases |= {"x in float16": {"x_ptr": x.half()}}
cases |= {"x[4:], 16 bytes on": {"x_ptr": x[4:]}}
cases |= {"x[1:], 4 bytes on": {"x_ptr": x[1:]}}
cases |= {"BLOCK = 512": {"BLOCK": 512}, "num_warps = 8": {"num_warps": 8}}

variants = []
for what, change in cases.items():
    compiled = compile_only(scale_by_kernel, **usual | change)
    word = "same as" if compiled.hash in variants else "variant"
    variants += [compiled.hash] if word == "variant" else []
    print(f"{what:24}", word, variants.index(compiled.hash) + 1)
    #> n_elements = 1000        variant 1
    #> n_elements = 999         same as 1
    #> n_elements = 1024        variant 2
    #> n_elements = 2048        same as 2
    #> n_elements = 16          same as 2
    #> n_elements = 1           variant 3
    #> n_elements = 2147483648  variant 4
    #> factor = 3.5             same as 1
    #> factor = 1.0             same as 1
    #> factor = 2               variant 5
    #> x in float16             variant 6
    #> x[4:], 16 bytes on       same as 1
    #> x[1:], 4 bytes on        variant 7
    #> BLOCK = 512              variant 8
    #> num_warps = 8            variant 9
# --8<-- [end:variants]
