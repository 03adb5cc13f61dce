"""Layer norm and RMS norm as modules."""

import torch

from kernels.operators.public import PUBLIC


def flat_row(parameter: torch.Tensor | None) -> torch.Tensor | None:
    return None if parameter is None else parameter.flatten()


class LayerNorm(torch.nn.LayerNorm):
    """`torch.nn.LayerNorm`, computed by `kernels.layer_norm`: its arguments, parameters and saved weights."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(self.normalized_shape) == 1:
            return PUBLIC["layer_norm"](x, self.weight, self.bias, self.eps)
        rows = x.flatten(-len(self.normalized_shape))
        return PUBLIC["layer_norm"](rows, flat_row(self.weight), flat_row(self.bias), self.eps).view(x.shape)


class RMSNorm(torch.nn.RMSNorm):
    """`torch.nn.RMSNorm`, computed by `kernels.rms_norm`: its arguments, parameters and saved weights."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(self.normalized_shape) == 1:
            return PUBLIC["rms_norm"](x, self.weight, self.eps)
        rows = x.flatten(-len(self.normalized_shape))
        return PUBLIC["rms_norm"](rows, flat_row(self.weight), self.eps).view(x.shape)
