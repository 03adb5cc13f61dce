"""Rotary position embedding as a module, which keeps the cosines and sines that `kernels.rotary_embedding` asks for."""

import math
from collections.abc import Mapping
from typing import Any

import torch

from kernels.operators.public import public_rotary_embedding

# What `rope_scaling` says in a Llama's `config.json`, or `rope_parameters` in a newer one.
LLAMA3 = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")


def llama3_share(frequencies: torch.Tensor, factor: float, low: float, high: float, original: int) -> torch.Tensor:
    """What Llama 3 multiplies the frequencies by: 1 where a turn is short, 1 / factor where it is long, between them a blend."""
    turns = original * frequencies / (2 * math.pi)  # in a text as long as those of the first training
    share = ((turns - low) / (high - low)).clamp(0, 1)
    return share + (1 - share) / factor


def check_scaling(scaling: Mapping[str, Any]) -> None:
    """Raise unless these are the numbers of a kind of scaling that is known here."""
    kind = scaling.get("rope_type", "default")
    if kind not in ("default", "llama3"):
        raise ValueError(f"scaling: expected the rope_type 'default' or 'llama3', got {kind!r}")
    missing = [name for name in LLAMA3 if kind == "llama3" and name not in scaling]
    if missing:
        raise ValueError(f"scaling: expected {', '.join(LLAMA3)}, got none of the name {missing[0]}")


class RotaryPositionEmbedding(torch.nn.Module):
    """Turns queries and keys by the angles of their positions; one may serve all layers of a model.

    The tables are in float32 whatever dtype the model is given, are computed in float64, and grow when a longer sequence comes.
    They are no part of what is saved.

    Example:
        ```python
        import torch
        from kernels.nn import RotaryPositionEmbedding

        device = "cuda" if torch.cuda.is_available() else "cpu"
        rotary = RotaryPositionEmbedding(8, base=500_000.0, device=device)
        q, k = torch.randn(1, 4, 6, 8, device=device), torch.randn(1, 2, 6, 8, device=device)
        turned_q, turned_k = rotary(q, k)
        later_q, later_k = rotary(q, k, start=100)  # the positions 100 to 105
        print(torch.equal(turned_q[:, :, 0], q[:, :, 0]))  # position 0 is turned by nothing
        #> True
        ```

    Args:
        head_dim: How many numbers a head has, an even number.
        base: What the angles' frequencies are powers of; 10000 unless given here or as `rope_theta` of `scaling`.
        scaling: How the frequencies are stretched for longer texts: `rope_scaling` or `rope_parameters` of a checkpoint's
            `config.json`, whose `rope_type` is `llama3` or `default`.
        length: For how many positions the tables are made at once.
        device: Where they lie.

    Raises:
        ValueError: `head_dim` is odd, or `scaling` is of another type than these, or without a number that its type has.
    """

    cos: torch.Tensor
    sin: torch.Tensor

    def __init__(
        self,
        head_dim: int,
        base: float | None = None,
        *,
        scaling: Mapping[str, Any] | None = None,
        length: int = 0,
        device: torch.device | str | None = None,
    ):
        super().__init__()
        if head_dim < 2 or head_dim % 2:
            raise ValueError(f"head_dim: expected an even number from 2 on, got {head_dim}")
        scaling = scaling or {}
        check_scaling(scaling)
        self.head_dim = head_dim
        self.base = float(scaling.get("rope_theta", 10_000.0) if base is None else base)
        self.llama3 = tuple(scaling[name] for name in LLAMA3) if scaling.get("rope_type") == "llama3" else ()
        for name in ("cos", "sin"):
            self.register_buffer(name, torch.empty(0, head_dim // 2, device=device), persistent=False)
        self.cos, self.sin = self.first(length, self.cos.device)

    def tables(self, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines of the angles at these positions, of any shape: one dimension more, of half a head's size."""
        steps = torch.arange(0, self.head_dim, 2, dtype=torch.float64, device=positions.device) / self.head_dim
        frequencies = self.base**-steps
        if self.llama3:
            frequencies = frequencies * llama3_share(frequencies, *self.llama3)
        angles = positions[..., None] * frequencies
        return angles.cos().float(), angles.sin().float()

    def first(self, length: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """Tables for so many positions from 0 on."""
        with torch.inference_mode(False):  # such a tensor could not be saved for a backward pass later
            return self.tables(torch.arange(length, device=device))

    def _apply(self, fn, recurse=True):
        # What moves a module also rounds it, or leaves it empty. The tables are made again where they lie now.
        super()._apply(fn, recurse)
        self.cos, self.sin = self.first(len(self.cos), self.cos.device)
        return self

    def forward(
        self, q: torch.Tensor, k: torch.Tensor, start: int = 0, positions: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Queries and keys of shape [B, H, S, D], turned.

        Args:
            q: The queries.
            k: The keys, which may have fewer heads.
            start: The position of the first token, where they follow on each other.
            positions: Where they do not, the position of each, of shape [S] or [B, S]. Then no table is used.

        Raises:
            ValueError: The heads of `q` are of another size than the tables', `start` is negative, or the shapes or the devices
                do not match.
        """
        if q.shape[-1:] != (self.head_dim,):
            raise ValueError(f"q: expected heads of {self.head_dim} numbers, got shape {tuple(q.shape)}")
        if positions is not None:
            return public_rotary_embedding(q, k, *self.tables(positions))
        if start < 0:
            raise ValueError(f"start: expected a number from 0 on, got {start}")
        end, cos, sin = start + q.shape[2], self.cos, self.sin
        # A module may have been made on the meta device, and its weights assigned: no tables are among them.
        if end > len(cos) or (cos.is_meta and not q.is_meta):
            cos, sin = self.first(max(end, 2 * len(cos)), q.device if cos.is_meta else cos.device)
            if type(cos) is torch.Tensor:  # and no fake, of a mode that will end
                self.cos, self.sin = cos, sin
        return public_rotary_embedding(q, k, cos[start:end], sin[start:end])

    def extra_repr(self) -> str:
        return f"{self.head_dim}, base={self.base:g}" + (", scaled as Llama 3" if self.llama3 else "")
