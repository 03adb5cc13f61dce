"""Put the pairs of token and expert in the order of their experts, by counting, without an atomic."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def moe_places_kernel(expert_ptr, pair_ptr, start_ptr, n_pairs, BLOCK: tl.constexpr):
    # This program owns one expert. It reads all choices, and writes the list of the pairs that chose it.
    me = tl.program_id(0).to(tl.int64)
    start = tl.zeros((), tl.int32)
    for first in range(0, n_pairs, BLOCK):
        pairs = first + tl.arange(0, BLOCK)
        experts = tl.load(expert_ptr + pairs, mask=pairs < n_pairs, other=2**30)
        start += tl.sum((experts < me).to(tl.int32), axis=0)
    tl.store(start_ptr + me, start)
    for first in range(0, n_pairs, BLOCK):
        pairs = first + tl.arange(0, BLOCK)
        experts = tl.load(expert_ptr + pairs, mask=pairs < n_pairs, other=2**30)
        mine = (experts == me).to(tl.int32)
        places = start + tl.cumsum(mine, axis=0) - mine
        tl.store(pair_ptr + places, pairs, mask=mine == 1)
        start += tl.sum(mine, axis=0)
# --8<-- [end:kernel]


# --8<-- [start:sort]
def sort_pairs(experts, n_experts):
    """The pairs in the order of their experts, and where each expert's begin."""
    pairs = torch.empty(experts.numel(), dtype=torch.int32, device=experts.device)
    starts = torch.full((n_experts + 1,), experts.numel(), dtype=torch.int32, device=experts.device)
    moe_places_kernel[(n_experts,)](experts, pairs, starts, experts.numel(), BLOCK=256)
    return pairs, starts
# --8<-- [end:sort]


if __name__ == "__main__":
    # --8<-- [start:run]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    experts = torch.tensor([[2, 0], [2, 3], [0, 2]], dtype=torch.int32, device=device)
    pairs, starts = sort_pairs(experts, 4)
    print("pairs: ", pairs.tolist())
    #> pairs:  [1, 4, 0, 2, 5, 3]
    print("starts:", starts.tolist())
    #> starts: [0, 2, 2, 5, 6]
    # --8<-- [end:run]
