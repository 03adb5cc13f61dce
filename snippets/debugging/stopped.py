"""A kernel of six steps that can be stopped behind each of them, and PyTorch's six results beside."""
# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def stopped_suspect_kernel(x_ptr, weight_ptr, y_ptr, N, eps, BLOCK: tl.constexpr, STOP: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    out = y_ptr + tl.program_id(0) * N + columns
    x = tl.load(x_ptr + tl.program_id(0) * N + columns, mask=mask, other=0.0)
    centered = tl.where(mask, x - tl.sum(x, axis=0) / N, 0.0)
    tl.store(out, centered, mask=mask)
    if STOP == "centered":
        return
    normal = centered * tl.rsqrt(tl.sum(centered * centered, axis=0) / N + eps)
    tl.store(out, normal, mask=mask)
    if STOP == "normal":
        return
    scaled = tl.where(mask, normal * tl.load(weight_ptr + columns, mask=mask), float("-inf"))
    tl.store(out, scaled, mask=mask)
    if STOP == "scaled":
        return
    shifted = scaled - tl.max(scaled, axis=0)
    tl.store(out, shifted, mask=mask)
    if STOP == "shifted":
        return
    power = tl.exp2(shifted)
    tl.store(out, power, mask=mask)
    if STOP == "power":
        return
    tl.store(out, power / tl.sum(power, axis=0), mask=mask)


def shares(x, weight, stop="share"):
    y = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    stopped_suspect_kernel[(len(x),)](x, weight, y, x.shape[1], 1e-5, BLOCK=block, STOP=stop)
    return y
# --8<-- [end:kernel]


# --8<-- [start:reference]
def shares_reference(x, weight):
    step = {"centered": x - x.mean(1, keepdim=True)}
    step["normal"] = torch.nn.functional.layer_norm(x, x.shape[1:])
    step["scaled"] = step["normal"] * weight
    step["shifted"] = step["scaled"] - step["scaled"].amax(1, keepdim=True)
    step["power"] = step["shifted"].exp()
    step["share"] = torch.softmax(step["scaled"], dim=1)
    return step
# --8<-- [end:reference]
