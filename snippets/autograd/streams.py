"""The wrong stream and the wrong device."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

# --8<-- [start:streams]
from kernels.softmax import softmax
from kernels.softmax.softmax import softmax_row

side = torch.cuda.Stream()
values = torch.randn(1000, 1000, device="cuda")
expected = softmax(values)  # compiles, which would give the side stream time
for wait in (False, True):
    x = torch.zeros_like(values)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(200_000_000)  # the side stream has something else to do first
        x.copy_(values)
    if wait:
        torch.cuda.current_stream().wait_stream(side)
    y = softmax(x)  # on the current stream
    torch.cuda.synchronize()
    print(f"waited: {wait}, right: {torch.equal(y, expected)}")
# --8<-- [end:streams]

# --8<-- [start:backward_stream]
seen = []


class Watched(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, dy):
        seen.append(torch.cuda.current_stream() == side)
        return dy


x = torch.zeros(8, device="cuda", requires_grad=True)
with torch.cuda.stream(side):
    y = Watched.apply(x)
y.sum().backward()  # called from the default stream
print("the backward ran on the forward's stream:", seen[0])
# --8<-- [end:backward_stream]

# --8<-- [start:device]
on_cpu = torch.randn(4, 8)
for function in (lambda x: softmax_row(x, torch.empty_like(x)), softmax):
    try:
        function(on_cpu)
    except ValueError as error:
        print("ValueError:", error)
# --8<-- [end:device]
