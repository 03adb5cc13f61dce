"""What a number loses on its way into a product: the formats, and the step from one number to the next."""
# --8<-- [start:digits]
import torch


def as_tf32(x: torch.Tensor) -> torch.Tensor:
    """float32 with 10 of its 23 bits of fraction: the other 13 rounded off."""
    bits = x.view(torch.int32) + 0x1000
    return (bits & ~0x1FFF).view(torch.float32)


FORMATS = {
    "float32": (lambda x: x, 23),
    "tf32": (as_tf32, 10),
    "float16": (lambda x: x.half().float(), 10),
    "bfloat16": (lambda x: x.bfloat16().float(), 7),
    "e4m3": (lambda x: x.to(torch.float8_e4m3fn).float(), 3),
}
tenth = torch.tensor(0.1)
for name, (rounded, fraction) in FORMATS.items():
    x = rounded(tenth).item()
    print(f"{name:8} {fraction:2} bits of fraction, 0.1 is {x:.8f}")
    #> float32  23 bits of fraction, 0.1 is 0.10000000
    #> tf32     10 bits of fraction, 0.1 is 0.09997559
    #> float16  10 bits of fraction, 0.1 is 0.09997559
    #> bfloat16  7 bits of fraction, 0.1 is 0.10009766
    #> e4m3      3 bits of fraction, 0.1 is 0.10156250
# --8<-- [end:digits]
