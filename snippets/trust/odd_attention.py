"""Every kernel of attention, forward and backward, at lengths and heads that fit nothing: for Compute Sanitizer to watch."""
# needs: cuda
# sanitizers: memcheck racecheck initcheck synccheck
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton

from kernels.attention import attention
from kernels.attention import attention_packed

# Initcheck does not see what a tensor descriptor stores (unseen_store.py). So PyTorch fills every new tensor with NaN here:
# for the tool that counts as written, and what a kernel leaves out shows in its result.
torch.use_deterministic_algorithms(True)
LAUNCHED = set()
triton.knobs.runtime.launch_enter_hook.add(lambda metadata: LAUNCHED.add(metadata.get()["name"]))


def both_ways(function, shapes, dtypes):
    """A call and its gradients, those of the log-sum-exp among them."""
    for dtype in dtypes:
        leaves = [torch.randn(shape, device="cuda").to(dtype).requires_grad_() for shape in shapes]
        out, lse = function(*leaves)
        gradients = torch.autograd.grad((out, lse), leaves, (torch.randn_like(out), torch.randn_like(lse)))
        assert all(torch.isfinite(x).all() for x in (out, *gradients)), (shapes, dtype)


# Batches, heads, heads of keys, queries, keys, the size of a head, and the mask. Rows of 7 numbers begin at no
# multiple of 16 bytes and are loaded by pointers, the others by descriptors; few queries over many keys split the keys.
CAUSAL, WINDOW = {"is_causal": True, "align": "lower_right"}, {"window": (33, 5)}
CASES = [(1, 2, 1, 67, 129, 7, WINDOW), (2, 2, 2, 131, 67, 64, CAUSAL), (1, 4, 1, 3, 517, 40, {})]
for *sides, options in CASES:
    batches, heads, k_heads, length, k_length, head = sides
    shapes = [(batches, heads, length, head), *[(batches, k_heads, k_length, head)] * 2]
    dtypes = (torch.float32, torch.bfloat16) if head == 7 else (torch.bfloat16,)  # wider heads in float32 take long to compile
    both_ways(lambda q, k, v, options=options: attention(q, k, v, enable_gqa=True, return_lse=True, **options), shapes, dtypes)
# Documents of one token, of none and of a few tiles, and rows that are no document's.
starts = torch.tensor([0, 1, 1, 68, 197, 230], dtype=torch.int32, device="cuda")
shapes = [(237, 4, 64), (237, 2, 64), (237, 2, 64)]
both_ways(
    lambda q, k, v: attention_packed(q, k, v, starts, starts, is_causal=True, enable_gqa=True, return_lse=True),
    shapes,
    (torch.bfloat16,),
)
torch.cuda.synchronize()
print(f"{len(LAUNCHED)} kernels launched, every result finite:")
print(*sorted(LAUNCHED), sep="\n")
