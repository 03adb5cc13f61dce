"""The feed-forward block of Llama and its relatives."""

import torch

from kernels.operators.public import public_swiglu


class SwiGLU(torch.nn.Module):
    """Two layers up, SiLU of one times the other, and one layer down; the layers are PyTorch's, named as in Llama's checkpoints.

    Example:
        ```python
        import torch
        from kernels.nn import SwiGLU

        device = "cuda" if torch.cuda.is_available() else "cpu"
        block = SwiGLU(16, 48, device=device)
        print(block(torch.zeros(2, 16, device=device)).shape, sorted(block.state_dict()))
        #> torch.Size([2, 16]) ['down_proj.weight', 'gate_proj.weight', 'up_proj.weight']
        ```

    Args:
        in_features: The size of what comes in.
        hidden_features: The size in between.
        out_features: The size of what goes out; None stands for `in_features`.
        bias: Whether the three layers have biases.
        device: Where the parameters lie.
        dtype: Their dtype.
    """

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        out_features: int | None = None,
        bias: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        out_features = in_features if out_features is None else out_features
        self.gate_proj = torch.nn.Linear(in_features, hidden_features, bias, device, dtype)
        self.up_proj = torch.nn.Linear(in_features, hidden_features, bias, device, dtype)
        self.down_proj = torch.nn.Linear(hidden_features, out_features, bias, device, dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(public_swiglu(self.gate_proj(x), self.up_proj(x)))
