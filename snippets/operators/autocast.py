"""Under autocast PyTorch casts for its own operators. What it does for yours, you say."""

# --8<-- [start:autocast]
import torch


@torch.library.custom_op("casting::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@torch.library.custom_op("casting::careful", mutates_args=())
def careful(x: torch.Tensor) -> torch.Tensor:
    return x * 2


device = "cuda" if torch.cuda.is_available() else "cpu"
careful.register_autocast(device, torch.float32)

x, weight = torch.randn(2, 4, 4, device=device).unbind()
with torch.autocast(device, torch.bfloat16):
    z = x @ weight
    print("a product:            ", z.dtype)
    #> a product:             torch.bfloat16
    print("ours, with no rule:   ", double(z).dtype, double(x).dtype)
    #> ours, with no rule:    torch.bfloat16 torch.float32
    print("ours, in float32:     ", careful(z).dtype, careful(x).dtype)
    #> ours, in float32:      torch.float32 torch.float32
# --8<-- [end:autocast]
