"""Attention: queries that weigh values by how well their keys fit."""

from kernels.attention.attention import attention
from kernels.attention.attention_packed import attention_packed

__all__ = ["attention", "attention_packed"]
