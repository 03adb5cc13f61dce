"""Layer norm, RMS norm and group norm as modules."""

import torch

from kernels.operators.public import public_group_norm, public_layer_norm, public_rms_norm


def flat_row(parameter: torch.Tensor | None) -> torch.Tensor | None:
    return None if parameter is None else parameter.flatten()


class LayerNorm(torch.nn.LayerNorm):
    """`torch.nn.LayerNorm`, computed by `kernels.layer_norm`: its arguments, parameters and saved weights.

    Example:
        ```python
        import torch
        from kernels.nn import LayerNorm

        device = "cuda" if torch.cuda.is_available() else "cpu"
        norm = LayerNorm(3, device=device)
        norm.load_state_dict(torch.nn.LayerNorm(3).state_dict())
        print(norm(torch.tensor([[1.0, 2.0, 3.0]], device=device)).cpu().detach())
        #> tensor([[-1.2247,  0.0000,  1.2247]])
        ```
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(self.normalized_shape) == 1:
            return public_layer_norm(x, self.weight, self.bias, self.eps)
        rows = x.flatten(-len(self.normalized_shape))
        return public_layer_norm(rows, flat_row(self.weight), flat_row(self.bias), self.eps).view(x.shape)


class RMSNorm(torch.nn.RMSNorm):
    """`torch.nn.RMSNorm`, computed by `kernels.rms_norm`: its arguments, parameters and saved weights.

    Example:
        ```python
        import torch
        from kernels.nn import RMSNorm

        device = "cuda" if torch.cuda.is_available() else "cpu"
        norm = RMSNorm(2, device=device)
        norm.load_state_dict(torch.nn.RMSNorm(2).state_dict())
        print(norm(torch.tensor([[3.0, 4.0]], device=device)).cpu().detach())
        #> tensor([[0.8485, 1.1314]])
        ```
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(self.normalized_shape) == 1:
            return public_rms_norm(x, self.weight, self.eps)
        rows = x.flatten(-len(self.normalized_shape))
        return public_rms_norm(rows, flat_row(self.weight), self.eps).view(x.shape)


class GroupNorm(torch.nn.GroupNorm):
    """`torch.nn.GroupNorm`, computed by `kernels.group_norm`: its arguments, parameters and saved weights.

    Example:
        ```python
        import torch
        from kernels.nn import GroupNorm

        device = "cuda" if torch.cuda.is_available() else "cpu"
        norm = GroupNorm(num_groups=2, num_channels=4, device=device)
        norm.load_state_dict(torch.nn.GroupNorm(2, 4).state_dict())
        print(norm(torch.tensor([[1.0, 3.0, 10.0, 20.0]], device=device)).cpu().detach())
        #> tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
        ```
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return public_group_norm(x, self.num_groups, self.weight, self.bias, self.eps)
