"""A mixture of experts: every token goes through the k gated units that its logits choose, and their results are added up.

    y[t] = sum over the k experts e of token t of   w[t, e] (silu(x[t] W_gate[e]^T) * (x[t] W_up[e]^T)) W_down[e]^T

where w is the softmax of the logits, over all experts or over the chosen ones. Five launches, and no word from the GPU to
the host between them: choose, sort the pairs of token and expert, a product that gathers its rows and ends in the gate, a product
that ends in the weight and puts its rows back, and the sum of each token's k rows in a fixed order.

For T tokens of D numbers and experts of F units it takes 6TkDF operations. It reads every weight of a chosen expert at least
once, up to 3EDF numbers; beside them the tokens are few, until there are hundreds for each expert.

Source: N. Shazeer et al., "Outrageously large neural networks: the sparsely-gated mixture-of-experts layer", 2017
(arXiv:1701.06538).
"""

import torch
import triton
import triton.language as tl

from kernels.common.arguments import check_count, check_float_tensor, check_same_device, on_device_of
from kernels.common.sizes import cdiv, next_power_of_2
from kernels.matmul.plan import matmul_kind
from kernels.moe.plan import MoePlan, moe_plan
from kernels.moe.product import Groups, grouped_product
from kernels.moe.route import route, sort_by_expert

MOST_EXPERTS = 1024


@triton.jit
def moe_combine_kernel(part_ptr, y_ptr, n_columns, K: tl.constexpr, BLOCK: tl.constexpr):
    # This program owns BLOCK numbers of one token, and adds up what its K experts made of it, in the order of their logits.
    blocks = tl.cdiv(n_columns, BLOCK)
    pid = tl.program_id(0).to(tl.int64)
    token, block = pid // blocks, pid % blocks
    columns = block * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    total = tl.zeros((BLOCK,), tl.float32)
    for slot in range(K):
        total += tl.load(part_ptr + (token * K + slot) * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + token * n_columns + columns, total, mask=mask)


def check_moe_arguments(x, logits, w_gate, w_up, w_down, k, renormalize) -> None:
    """Raise TypeError or ValueError unless these make a mixture of experts."""
    check_float_tensor("x", x)
    check_float_tensor("logits", logits)
    for name, tensor in (("x", x), ("logits", logits)):
        if tensor.ndim != 2:
            raise ValueError(f"{name}: expected two dimensions, got shape {tuple(tensor.shape)}")
    (n_tokens, width), n_experts = x.shape, logits.shape[1]
    if logits.shape[0] != n_tokens:
        expected = f"{n_tokens} rows, one for each row of x of shape {tuple(x.shape)}"
        raise ValueError(f"logits: expected {expected}, got shape {tuple(logits.shape)}")
    if not 1 <= n_experts <= MOST_EXPERTS:
        raise ValueError(f"logits: expected from 1 to {MOST_EXPERTS} columns, one for each expert, got {n_experts}")
    check_same_device("logits", logits, "x", x)
    check_float_tensor("w_gate", w_gate)
    hidden = w_gate.shape[1] if w_gate.ndim == 3 else "hidden"
    shapes = {"w_gate": (n_experts, hidden, width), "w_up": (n_experts, hidden, width), "w_down": (n_experts, width, hidden)}
    for (name, shape), weight in zip(shapes.items(), (w_gate, w_up, w_down), strict=True):
        check_float_tensor(name, weight)
        if weight.dtype != x.dtype:
            expected, found = (str(dtype).removeprefix("torch.") for dtype in (x.dtype, weight.dtype))
            raise TypeError(f"{name}: expected dtype {expected}, the dtype of x, got {found}")
        if weight.shape != shape:
            expected = f"shape ({', '.join(map(str, shape))})"
            raise ValueError(f"{name}: expected {expected}, got {tuple(weight.shape)}")
        check_same_device(name, weight, "x", x)
    check_count("k", k, 1, n_experts)
    if not isinstance(renormalize, bool):
        raise TypeError(f"renormalize: expected a bool, got {type(renormalize).__name__}")
    if n_tokens * k >= 2**31:
        raise ValueError(f"x: expected fewer than 2**31 pairs of a token and an expert, got {n_tokens * k}")


def moe_forward(x, logits, w_gate, w_up, w_down, k: int, renormalize: bool, plan: MoePlan | None = None) -> torch.Tensor:
    x, logits, w_gate, w_up, w_down = (t.detach().resolve_neg() for t in (x, logits, w_gate, w_up, w_down))
    (n_tokens, width), (n_experts, hidden, _) = x.shape, w_gate.shape
    if n_tokens * width * hidden == 0:
        return x.new_zeros((n_tokens, width))
    plan = plan or moe_plan(x, n_experts, hidden, k)
    precision = "ieee" if matmul_kind(x.dtype) == "ieee" else "tf32"
    experts, weights, counts = route(logits, k, renormalize)
    groups = Groups(*sort_by_expert(experts, counts, plan.block_m), k)
    gated = x.new_empty((n_tokens * k, hidden))
    grouped_product(x, w_gate, w_up, gated, None, groups, precision, True, False, plan.first)
    parts = x.new_empty((n_tokens * k, width))
    grouped_product(gated, w_down, None, parts, weights, groups, precision, False, True, plan.second)
    return parts if k == 1 else combined(parts, k)


def combined(parts: torch.Tensor, k: int) -> torch.Tensor:
    """The sums of every k rows."""
    y = parts.new_empty((parts.shape[0] // k, parts.shape[1]))
    block = min(1024, next_power_of_2(y.shape[1]))
    moe_combine_kernel[(y.shape[0] * cdiv(y.shape[1], block),)](parts, y, y.shape[1], K=k, BLOCK=block, num_warps=4)
    return y


def moe(
    x: torch.Tensor,
    logits: torch.Tensor,
    w_gate: torch.Tensor,
    w_up: torch.Tensor,
    w_down: torch.Tensor,
    k: int,
    renormalize: bool = True,
) -> torch.Tensor:
    """Send each token through the gated units of the k experts that its logits choose, and add up what they return.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.ones(2, 16, device=device)
        logits = torch.tensor([[9.0, 0.0, 0.0], [0.0, 0.0, 9.0]], device=device)  # to the first, the last
        up = torch.tensor([0.0, 1.0, 2.0], device=device).reshape(3, 1, 1).expand(3, 32, 16)
        out = kernels.moe(x, logits, up, up, up.transpose(1, 2), k=1)
        print(out.shape, out[:, 0].tolist())
        #> torch.Size([2, 16]) [0.0, 65536.0]
        ```

    Args:
        x: The tokens, of shape `(tokens, width)`, with any strides; float32, float16 or bfloat16. There may be none.
        logits: What the router says of every token and expert, of shape `(tokens, experts)`, with any strides; one of the three
            dtypes, whichever `x` has. Of equal logits the lower expert is chosen.
        w_gate: What every expert's gate is made with, of shape `(experts, hidden, width)`, each matrix as
            `torch.nn.functional.linear` takes it; any strides, the dtype of `x`.
        w_up: What is gated, of the same shape. Both may be parts of one tensor.
        w_down: What leads back, of shape `(experts, width, hidden)`.
        k: How many experts a token goes through, from 1 to all of them.
        renormalize: Whether the weights of the chosen experts add up to one. Otherwise they are what a softmax over all experts
            gives them.

    Returns:
        A contiguous tensor of the shape and dtype of `x`. Weights and sums are computed in float32. What the gate lets through
            is rounded to the dtype, and so is each expert's weighted result, before the k are added up in the order of their
            logits. The same input gives the same bits every time, whatever else is in the batch, unless the batch changes
            the tiles. Products of float32 are computed in TF32 where `torch.backends.cuda.matmul.fp32_precision` says so.

    Raises:
        TypeError: A tensor is not one or has another dtype, `k` is not an int, or `renormalize` is not a bool.
        ValueError: A shape does not fit, there are more than 1024 experts, `k` is out of range, the tensors lie on different
            devices, a CPU tensor came while Triton's interpreter is off, or one of them wants a gradient.

    Not differentiable yet: under `torch.no_grad()`, or with tensors that want no gradient, it runs; otherwise it refuses.

    Bytes:
        For e bytes a number, up to 3e·experts·hidden·width read of the weights, those of the chosen experts alone; for each of
        the tokens·k pairs e(2·width + hidden) read and e(width + hidden) written, and for each token e·width written, beside
        the logits. With k = 1 nothing is added up: e·width less is read and written.

    Flops:
        6·tokens·k·width·hidden.

    Source:
        N. Shazeer et al., "Outrageously large neural networks: the sparsely-gated mixture-of-experts layer", 2017
        (arXiv:1701.06538).
    """
    check_moe_arguments(x, logits, w_gate, w_up, w_down, k, renormalize)
    if torch.is_grad_enabled():
        names = {"x": x, "logits": logits, "w_gate": w_gate, "w_up": w_up, "w_down": w_down}
        for name, tensor in names.items():
            if tensor.requires_grad:
                raise ValueError(f"{name}: expected a tensor that wants no gradient, for moe has none yet; use torch.no_grad()")
    with on_device_of(x):
        return moe_forward(x, logits, w_gate, w_up, w_down, k, renormalize)


def moe_reference(
    x: torch.Tensor,
    logits: torch.Tensor,
    w_gate: torch.Tensor,
    w_up: torch.Tensor,
    w_down: torch.Tensor,
    k: int,
    renormalize: bool = True,
) -> torch.Tensor:
    """The same operation in plain PyTorch: a loop over the experts, each of which picks its tokens."""
    shares = torch.softmax(logits, -1, dtype=torch.promote_types(logits.dtype, torch.float32))
    weights, experts = shares.topk(k, dim=-1)  # [tokens, k]
    if renormalize:
        weights = weights / weights.sum(-1, keepdim=True)
    y = torch.zeros_like(x, memory_format=torch.contiguous_format)
    for expert in range(logits.shape[1]):
        tokens, slots = torch.where(experts == expert)
        if tokens.numel():  # the host waits for the GPU here
            rows = x[tokens]
            gated = torch.nn.functional.silu(rows @ w_gate[expert].mT) * (rows @ w_up[expert].mT)
            part = (gated @ w_down[expert].mT) * weights[tokens, slots, None]
            y.index_add_(0, tokens, part.to(y.dtype))
    return y
