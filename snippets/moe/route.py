"""Choose the k largest logits of each token, and their weights, in one kernel."""
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
def moe_choose_kernel(
    logits_ptr, expert_ptr, weight_ptr, n_experts, K: tl.constexpr, EXPERTS: tl.constexpr, SLOTS: tl.constexpr
):
    # This program owns one token.
    token = tl.program_id(0).to(tl.int64)
    experts, slots = tl.arange(0, EXPERTS), tl.arange(0, SLOTS)
    logits = tl.load(logits_ptr + token * n_experts + experts, mask=experts < n_experts, other=-float("inf"))
    largest = tl.max(logits, axis=0)
    chosen = tl.zeros((SLOTS,), tl.int32)
    weights = tl.zeros((SLOTS,), tl.float32)
    for slot in range(K):
        best = tl.max(logits, axis=0)
        expert = tl.min(tl.where(logits == best, experts, EXPERTS), axis=0)  # of equals the first
        chosen = tl.where(slots == slot, expert, chosen)
        weights = tl.where(slots == slot, tl.exp(best - largest), weights)
        logits = tl.where(experts == expert, -float("inf"), logits)  # out of the race
    pairs = token * K + slots
    tl.store(expert_ptr + pairs, chosen, mask=slots < K)
    tl.store(weight_ptr + pairs, weights / tl.sum(weights, axis=0), mask=slots < K)
# --8<-- [end:kernel]


# --8<-- [start:choose]
def choose(logits, k):
    n_tokens, n_experts = logits.shape
    experts = torch.empty((n_tokens, k), dtype=torch.int32, device=logits.device)
    weights = torch.empty((n_tokens, k), device=logits.device)
    blocks = {"K": k, "EXPERTS": triton.next_power_of_2(n_experts), "SLOTS": triton.next_power_of_2(k)}
    moe_choose_kernel[(n_tokens,)](logits, experts, weights, n_experts, **blocks)
    return experts, weights
# --8<-- [end:choose]


if __name__ == "__main__":
    # --8<-- [start:run]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    logits = torch.randn(64, 10, device=device)
    experts, weights = choose(logits, 3)
    chosen, wanted = logits.topk(3, dim=1)
    print("the same experts:", torch.equal(experts, wanted.int()))
    #> the same experts: True
    print("the same weights:", torch.allclose(weights, torch.softmax(chosen, dim=1)))
    #> the same weights: True
    # --8<-- [end:run]
