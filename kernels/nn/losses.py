"""Cross-entropy as a module, and together with the layer whose outputs it compares."""

import torch

from kernels.operators.public import public_cross_entropy, public_linear_cross_entropy


class CrossEntropyLoss(torch.nn.CrossEntropyLoss):
    """`torch.nn.CrossEntropyLoss`, computed by `kernels.cross_entropy`: its arguments, but for weights of classes and smoothing.

    Example:
        ```python
        import torch
        from kernels.nn import CrossEntropyLoss

        device = "cuda" if torch.cuda.is_available() else "cpu"
        logits = torch.tensor([[2.0, 0.0, 0.0], [0.0, 3.0, 0.0]], device=device)
        print(CrossEntropyLoss(reduction="sum")(logits, torch.tensor([0, 1], device=device)).cpu())
        #> tensor(0.3345)
        ```

    Raises:
        ValueError: `weight` or `label_smoothing` was given. `LinearCrossEntropyLoss` has the latter.
    """

    def __init__(
        self,
        weight: torch.Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ):
        if weight is not None:
            raise ValueError("weight: expected None, since kernels.cross_entropy has no weights of classes, got a tensor")
        if label_smoothing:
            raise ValueError(f"label_smoothing: expected 0.0, which kernels.cross_entropy is without, got {label_smoothing}")
        super().__init__(weight, size_average, ignore_index, reduce, reduction, label_smoothing)

    def forward(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return public_cross_entropy(logits, target, self.ignore_index, self.reduction)


class LinearCrossEntropyLoss(torch.nn.Linear):
    """The head of a language model with its loss, computed by `kernels.linear_cross_entropy`; parameters of `torch.nn.Linear`.

    Example:
        ```python
        import torch
        from kernels.nn import LinearCrossEntropyLoss

        device = "cuda" if torch.cuda.is_available() else "cpu"
        head = LinearCrossEntropyLoss(16, 3, device=device)
        torch.nn.init.zeros_(head.bias)
        x, target = torch.zeros(4, 16, device=device), torch.tensor([0, 1, 2, 0], device=device)
        print(head(x, target).cpu().detach(), head.logits(x).shape)  # log(3)
        #> tensor(1.0986) torch.Size([4, 3])
        ```

    Args:
        in_features: The size of what comes in.
        num_classes: How many classes there are.
        bias: Whether the layer has a bias.
        ignore_index: Rows with this target count for nothing.
        reduction: `mean`, `sum` or `none`.
        label_smoothing: How much of every target goes to all classes alike.
        chunk_rows: How many rows of logits to hold at a time.
        device: Where the parameters lie.
        dtype: Their dtype.
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        bias: bool = True,
        *,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        chunk_rows: int | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__(in_features, num_classes, bias, device, dtype)
        self.options = {"ignore_index": ignore_index, "reduction": reduction, "label_smoothing": label_smoothing}
        self.chunk_rows = chunk_rows

    def forward(self, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        given = (x, self.weight, target, self.bias)
        return public_linear_cross_entropy(*given, **self.options, chunk_rows=self.chunk_rows)

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        """The layer's outputs, for whoever needs them after all."""
        return super().forward(x)
