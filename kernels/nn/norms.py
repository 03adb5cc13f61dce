"""Layer norm, RMS norm and group norm as modules."""

import torch

from kernels.operators.public import public_group_norm, public_layer_norm, public_rms_norm


def flat_row(parameter: torch.Tensor | None) -> torch.Tensor | None:
    return None if parameter is None else parameter.flatten()


class LayerNorm(torch.nn.LayerNorm):
    """`torch.nn.LayerNorm`, computed by `kernels.layer_norm`: its arguments, parameters and saved weights."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(self.normalized_shape) == 1:
            return public_layer_norm(x, self.weight, self.bias, self.eps)
        rows = x.flatten(-len(self.normalized_shape))
        return public_layer_norm(rows, flat_row(self.weight), flat_row(self.bias), self.eps).view(x.shape)


class RMSNorm(torch.nn.RMSNorm):
    """`torch.nn.RMSNorm`, computed by `kernels.rms_norm`: its arguments, parameters and saved weights."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(self.normalized_shape) == 1:
            return public_rms_norm(x, self.weight, self.eps)
        rows = x.flatten(-len(self.normalized_shape))
        return public_rms_norm(rows, flat_row(self.weight), self.eps).view(x.shape)


class GroupNorm(torch.nn.GroupNorm):
    """`torch.nn.GroupNorm`, computed by `kernels.group_norm`: its arguments, parameters and saved weights."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return public_group_norm(x, self.num_groups, self.weight, self.bias, self.eps)
