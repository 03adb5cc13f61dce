"""GEGLU: GELU of one tensor times another.

    y[i] = gelu(gate[i]) up[i]

The kernels are those of `kernels.activations.gated_unit`. For n elements of e bytes the forward pass reads 2ne bytes and writes
ne; the backward pass reads 3ne and writes 2ne.

Source: N. Shazeer, "GLU variants improve transformer", arXiv:2002.05202.
"""

import torch

from kernels.activations.gated_unit import gated_unit
from kernels.common.arguments import check_approximate, check_float_tensor, check_like


def geglu(gate: torch.Tensor, up: torch.Tensor, approximate: str = "tanh") -> torch.Tensor:
    """Multiply GELU of `gate` by `up`, element by element, as `torch.nn.functional.gelu(gate, approximate=...) * up` does.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        gate = torch.tensor([-1.0, 0.0, 2.0], device=device)
        up = torch.tensor([1.0, 5.0, 10.0], device=device)
        print(kernels.geglu(gate, up).cpu())
        #> tensor([-0.1588,  0.0000, 19.5460])
        ```

    Args:
        gate: A tensor of any shape and strides; float32, float16 or bfloat16.
        up: A tensor of the shape, dtype and device of `gate`.
        approximate: "tanh" for the usual approximation, with which the models that have this unit were mostly trained;
            "none" for the definition by the error function. (The default of `gelu` is "none", as in PyTorch.)

    Returns:
        A contiguous tensor of the shape and dtype of `gate`. The arithmetic is in float32 and rounded once.

    Raises:
        TypeError: `gate` is not a tensor or has another dtype, `up` has another dtype than it, or `approximate` is not a string.
        ValueError: `up` has another shape or device than `gate`, `approximate` is neither of the two, or a CPU tensor
            came while Triton's interpreter is off.

    Differentiable in both, any number of times: the first gradients are a kernel, gradients of gradients are PyTorch
    operations. The result is computed from `gate` and `up`, which are kept for it; nothing else is.

    Bytes:
        For n elements of e bytes, 2ne read and ne written forward; 3ne read and 2ne written backward. Halves of one
        matrix, split along its last dimension, are read where they lie; other inputs with gaps are copied first.

    Flops:
        About 15 for each element forward, 20 backward.

    Source:
        N. Shazeer, "GLU variants improve transformer", arXiv:2002.05202.
    """
    check_float_tensor("gate", gate)
    check_like("up", up, "gate", gate)
    check_approximate("approximate", approximate)
    return gated_unit(gate, up, approximate)


def geglu_reference(gate: torch.Tensor, up: torch.Tensor, approximate: str = "tanh") -> torch.Tensor:
    """The same operation in plain PyTorch, in two kernels."""
    return torch.nn.functional.gelu(gate, approximate=approximate) * up
