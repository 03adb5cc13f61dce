"""Turn the pairs of one head's numbers by the angles of their positions."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def turn_kernel(
    x_ptr, cos_ptr, sin_ptr, out_ptr, HALF: tl.constexpr, BACK: tl.constexpr
):
    # This program owns one token's vector of 2 * HALF numbers.
    token = tl.program_id(0).to(tl.int64)
    pairs = tl.arange(0, HALF)  # [HALF]
    cos = tl.load(cos_ptr + token * HALF + pairs)  # [HALF]
    sin = tl.load(sin_ptr + token * HALF + pairs)  # [HALF]
    if BACK:
        sin = -sin
    x_ptrs = x_ptr + token * 2 * HALF + pairs
    first, second = tl.load(x_ptrs), tl.load(x_ptrs + HALF)  # [HALF] each
    out_ptrs = out_ptr + token * 2 * HALF + pairs
    tl.store(out_ptrs, first * cos - second * sin)
    tl.store(out_ptrs + HALF, second * cos + first * sin)
# --8<-- [end:kernel]


# --8<-- [start:launch]
def turn(x, cos, sin, back=False):
    out = torch.empty_like(x)
    turn_kernel[(len(x),)](x, cos, sin, out, HALF=x.shape[1] // 2, BACK=back)
    return out


device = "cuda" if torch.cuda.is_available() else "cpu"
positions = torch.arange(40, device=device)
frequencies = 100.0 ** -torch.linspace(0, 1, 8, device=device)
angles = torch.outer(positions, frequencies)  # [40, 8]
cos, sin = angles.cos(), angles.sin()

x = torch.randn(40, 16, device=device)
there = turn(x, cos, sin)
torch.testing.assert_close(there.norm(dim=1), x.norm(dim=1))
torch.testing.assert_close(turn(there, cos, sin, back=True), x)
print("no length changes, and the way back leads back")
#> no length changes, and the way back leads back
# --8<-- [end:launch]


# --8<-- [start:distance]
generator = torch.Generator().manual_seed(0)
q, k = torch.randn(2, 1, 16, generator=generator).to(device).repeat(1, 40, 1)
# The same query and the same key at each of forty places.
products = turn(q, cos, sin) @ turn(k, cos, sin).T  # [query's place, key's place]
for query, key in [(5, 3), (22, 20), (39, 37), (5, 4)]:
    print(f"query at {query:2}, key at {key:2}: {products[query, key].item():.3f}")
    #> query at  5, key at  3: -2.176
    #> query at 22, key at 20: -2.176
    #> query at 39, key at 37: -2.176
    #> query at  5, key at  4: 0.887
# --8<-- [end:distance]


# --8<-- [start:function]
class Turn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, cos, sin):
        ctx.save_for_backward(cos, sin)
        return turn(x, cos, sin)

    @staticmethod
    def backward(ctx, dy):
        return turn(dy.contiguous(), *ctx.saved_tensors, back=True), None, None


def turn_reference(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


x.requires_grad_()
dy = torch.randn_like(x)
(ours,) = torch.autograd.grad(Turn.apply(x, cos, sin), x, dy)
(theirs,) = torch.autograd.grad(turn_reference(x, cos, sin), x, dy)
torch.testing.assert_close(ours, theirs)
print("the gradient is the way back")
#> the gradient is the way back
# --8<-- [end:function]

# --8<-- [start:pairing]
x = torch.arange(8.0, device=device)[None]
quarter = torch.full((1, 4), torch.pi / 2, device=device)  # every pair by 90 degrees
y = turn(x, quarter.cos(), quarter.sin())
print("halves paired:   ", [round(v) for v in y[0].tolist()])
#> halves paired:    [-4, -5, -6, -7, 0, 1, 2, 3]
order = [0, 2, 4, 6, 1, 3, 5, 7]  # the even ones to the front, and back again
y[:, order] = turn(x[:, order], quarter.cos(), quarter.sin())
print("neighbors paired:", [round(v) for v in y[0].tolist()])
#> neighbors paired: [-1, 0, -3, 2, -5, 4, -7, 6]
# --8<-- [end:pairing]

# --8<-- [start:places]
print([int(place) for place in torch.arange(254, 262).bfloat16()])
#> [254, 255, 256, 256, 258, 260, 260, 260]
# --8<-- [end:places]
