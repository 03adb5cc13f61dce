"""Draw four numbers from one counter with the library's Philox, and compare them with Triton's own."""
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

# --8<-- [start:words]
from kernels.dropout.philox import philox_words


@triton.jit
def words_kernel(ours_ptr, theirs_ptr, seed, BLOCK: tl.constexpr):
    counters = tl.arange(0, BLOCK).to(tl.int64)
    seed = seed.to(tl.uint64)
    ours, theirs = philox_words(seed, counters), tl.randint4x(seed, counters)
    for word in tl.static_range(4):
        places = 4 * counters + word  # element 4 c + w gets word w of counter c
        tl.store(ours_ptr + places, ours[word].to(tl.int32, bitcast=True))
        tl.store(theirs_ptr + places, theirs[word].to(tl.int32, bitcast=True))


device = "cuda" if torch.cuda.is_available() else "cpu"
ours, theirs = torch.empty(2, 64, dtype=torch.int32, device=device)
words_kernel[(1,)](ours, theirs, 7, BLOCK=16)
print("the same bits:", torch.equal(ours, theirs))
#> the same bits: True
print([f"{word & 0xFFFFFFFF:08x}" for word in ours[:4].tolist()])
#> ['f4607a2d', 'c009f9dc', '1d3aba42', '15edac82']
# --8<-- [end:words]
