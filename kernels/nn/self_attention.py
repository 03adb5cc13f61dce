"""The attention of Llama and its relatives as a module, with the cache that it decodes from."""

import torch

from kernels.nn.rotary import RotaryPositionEmbedding
from kernels.operators.public import public_attention


class KeyValueCache:
    """The keys and values of the tokens so far, of one layer, in memory that is made before it is needed.

    Example:
        ```python
        import torch
        from kernels.nn import KeyValueCache

        cache = KeyValueCache(capacity=64)
        new = torch.randn(1, 2, 5, 8)  # [B, heads of keys, S, D]
        keys, values = cache.append(new, new)
        keys, values = cache.append(new, new)
        print(list(keys.shape), cache.length)
        #> [1, 2, 10, 8] 10
        ```

    Args:
        capacity: For how many tokens there is room, all of it made at the first one. Without it there is room for 256 at first,
            and twice as much, or as much as is needed, whenever it does not suffice; then what is there is copied.
    """

    def __init__(self, capacity: int | None = None):
        self.capacity, self.length = capacity, 0
        self.held: tuple[torch.Tensor, torch.Tensor] | None = None

    def append(self, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Take in keys and values of shape [B, K, S, D], and give all so far, as views of the memory that holds them.

        Raises:
            ValueError: There is no room for these, they are not of the sequences so far, or gradients are asked for through them.
        """
        if torch.is_grad_enabled() and (k.requires_grad or v.requires_grad):
            raise ValueError("cache: expected keys that need no gradient, which a cache does not hand on; use torch.no_grad()")
        end = self.length + k.shape[2]
        if self.capacity is not None and end > self.capacity:
            raise ValueError(f"cache: expected at most {self.capacity} tokens, got {end}")
        if self.held is None or not self.fits(k, self.held[0]) or end > self.held[0].shape[2]:
            self.held = self.with_room(k, end)
        keys, values = self.held
        keys[:, :, self.length : end] = k
        values[:, :, self.length : end] = v
        self.length = end
        return keys[:, :, :end], values[:, :, :end]

    def fits(self, k: torch.Tensor, keys: torch.Tensor) -> bool:
        """Whether the memory is for such keys. While it holds others it has to be."""
        kind, held = ((x.shape[0], x.shape[1], x.shape[3], x.dtype, x.device) for x in (k, keys))
        if self.length and kind != held:
            as_before = f"{list(held[:3])} sequences, heads and numbers as before"
            raise ValueError(f"cache: expected keys of {as_before}, and of their dtype and device, got {list(kind[:3])}")
        return kind == held

    def with_room(self, k: torch.Tensor, needed: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Memory for keys and for values, with those so far in it."""
        batches, heads, _, width = k.shape
        before = self.held[0].shape[2] if self.held is not None and self.length else 128
        room = self.capacity or max(needed, 2 * before)
        made = k.new_empty(batches, heads, room, width), k.new_empty(batches, heads, room, width)
        if self.held is not None and self.length:
            for old, new in zip(self.held, made, strict=True):
                new[:, :, : self.length] = old[:, :, : self.length]
        return made

    def clear(self) -> None:
        """Forget the tokens, and keep the memory for others."""
        self.length = 0


class SelfAttention(torch.nn.Module):
    """Projections to queries, keys and values, their rotation, `kernels.attention`, and the projection of what comes out.

    The layers are PyTorch's, and are named as in the checkpoints of Llama and its relatives: `q_proj`, `k_proj`, `v_proj`,
    `o_proj`.

    Example:
        ```python
        import torch
        from kernels.nn import KeyValueCache, RotaryPositionEmbedding, SelfAttention

        device = "cuda" if torch.cuda.is_available() else "cpu"
        layer = SelfAttention(32, heads=4, kv_heads=2, rotary=RotaryPositionEmbedding(8), device=device).requires_grad_(False)
        x, cache = torch.randn(1, 6, 32, device=device), KeyValueCache()
        steps = [layer(x[:, [i]], cache=cache) for i in range(6)]  # token by token
        torch.testing.assert_close(torch.cat(steps, 1), layer(x))
        print(cache.length)
        #> 6
        ```

    Args:
        features: The size of what comes in and of what goes out.
        heads: How many heads of queries there are.
        kv_heads: How many heads of keys and values, a number that divides `heads`; as many unless given.
        head_dim: The size of a head; `features // heads` unless given.
        bias: Whether the four layers have biases.
        is_causal: Whether a token sees none that come after it.
        window: How many tokens a token sees, itself and those before it; all unless given. Only where causal.
        rotary: What turns queries and keys by their positions; without it nothing does. One may serve all layers.
        device: Where the parameters lie.
        dtype: Their dtype.

    Raises:
        ValueError: The heads do not fit together, or there is a window that is not causal or is empty.
    """

    def __init__(
        self,
        features: int,
        heads: int,
        kv_heads: int | None = None,
        head_dim: int | None = None,
        bias: bool = False,
        *,
        is_causal: bool = True,
        window: int | None = None,
        rotary: RotaryPositionEmbedding | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        kv_heads = heads if kv_heads is None else kv_heads
        if heads < 1 or kv_heads < 1 or heads % kv_heads:
            raise ValueError(f"kv_heads: expected a number that divides the {heads} heads, got {kv_heads}")
        if head_dim is None and features % heads:
            raise ValueError(f"heads: expected a number that divides the {features} features, or a head_dim, got {heads}")
        if window is not None and (window < 1 or not is_causal):
            raise ValueError(f"window: expected a number from 1 on, of a causal attention, got {window}")
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, head_dim or features // heads
        if rotary is not None and rotary.head_dim != self.head_dim:
            raise ValueError(f"rotary: expected one for heads of {self.head_dim}, got one for {rotary.head_dim}")
        self.is_causal, self.window, self.rotary = is_causal, window, rotary
        inner, kv_inner = heads * self.head_dim, kv_heads * self.head_dim
        self.q_proj = torch.nn.Linear(features, inner, bias, device, dtype)
        self.k_proj = torch.nn.Linear(features, kv_inner, bias, device, dtype)
        self.v_proj = torch.nn.Linear(features, kv_inner, bias, device, dtype)
        self.o_proj = torch.nn.Linear(inner, features, bias, device, dtype)

    def forward(
        self, x: torch.Tensor, *, cache: KeyValueCache | None = None, positions: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Attention of x, of shape [B, S, features], to itself, and to what a cache holds.

        Args:
            x: The tokens. With a cache, those that follow on the ones in it.
            cache: Keys and values of the tokens so far, to which these are added; of a causal attention, without gradients.
            positions: The tokens' positions for the rotation, of shape [S] or [B, S], unless they follow on each other.
        """
        projected = (self.q_proj(x), self.k_proj(x), self.v_proj(x))
        q, k, v = (each.unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for each in projected)
        if self.rotary is not None:
            q, k = self.rotary(q, k, 0 if cache is None else cache.length, positions)
        if cache is not None:
            if not self.is_causal:
                raise ValueError("cache: expected a causal attention, where no token needs those that come later")
            k, v = cache.append(k, v)
        window = None
        if self.window is not None:
            window = (self.window - 1, 0)
            seen = q.shape[2] + self.window - 1  # no query sees more, so the others are not handed over
            k, v = k[:, :, -seen:], v[:, :, -seen:]
        shared = self.kv_heads != self.heads
        out = public_attention(q, k, v, self.is_causal, enable_gqa=shared, window=window, align="lower_right")
        return self.o_proj(out.transpose(1, 2).flatten(2))

    def extra_repr(self) -> str:
        said = f"heads={self.heads}, kv_heads={self.kv_heads}, head_dim={self.head_dim}, is_causal={self.is_causal}"
        return said if self.window is None else f"{said}, window={self.window}"
