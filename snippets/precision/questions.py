"""What the questions of the lesson ask, worked out: each line is the answer to one."""
import torch


def tf32(x):
    """What a tensor core reads of a float32 number: 13 bits of its fraction are cut off."""
    return (x.view(torch.int32) & ~0x1FFF).view(torch.float32)


print(f"read: {tf32(torch.tensor(1.0004)).item():.4f}")


def error(length):
    a, b = torch.randn(256, length), torch.randn(length, 256)
    right = a.double() @ b.double()
    return ((a.bfloat16().double() @ b.bfloat16().double() - right).norm() / right.norm()).item()


print(f"longer: {round(error(4096) / error(64))}")

x = 1 + torch.rand(10_000)
high = x.bfloat16()
low = (x - high.float()).bfloat16()
worst = ((high.double() + low.double() - x.double()) / x.double()).abs().max().item()
print(f"pieces: {16 if 2**-18 < worst <= 2**-16 else worst}")
