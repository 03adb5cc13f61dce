"""Rotary position embedding."""

from kernels.rotary_embedding.rotary_embedding import rotary_embedding

__all__ = ["rotary_embedding"]
