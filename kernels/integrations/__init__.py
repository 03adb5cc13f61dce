"""The library in models of others."""

from kernels.integrations.llama import apply_kernels_to_llama

__all__ = ["apply_kernels_to_llama"]
