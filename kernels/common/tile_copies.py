"""The copy engine's orders in Gluon, by one name each: Triton 3.9 has other names for them than 3.6 to 3.8."""

from triton.experimental.gluon.language.nvidia.hopper import tma

load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store_tile = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global
