"""The library's attention behind the interface by which `transformers` chooses one: a name in a table of functions.

The table, and a second one of functions that make masks, are found where a model's attention finds them. Masks are made as for
PyTorch's own function, which gets none wherever "causal" says it all. Where there is one, that function computes.
"""

import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from kernels.attention.arguments import WIDEST_HEAD
from kernels.common.arguments import FLOAT_DTYPES
from kernels.operators.public import public_attention

OURS, PYTORCHS = "blockwise", "sdpa"
# What the interface may ask for besides a mask and dropout.
SPECIAL = ("softcap", "position_bias")


def what_is_missing(query, key, value, attention_mask, dropout, options) -> str:
    """What `kernels.attention` has not and this call asks for, in words, or nothing."""
    if attention_mask is not None:
        return "a mask, as for padding, documents in one row, a window or a prompt that comes in parts"
    if dropout:
        return "dropout"
    asked = [name for name in SPECIAL if options.get(name) is not None]
    if asked:
        return asked[0]
    if key.shape[-1] != value.shape[-1] or query.shape[-1] > WIDEST_HEAD:
        return f"heads of {query.shape[-1]} numbers with values of {value.shape[-1]}"
    if query.dtype not in FLOAT_DTYPES or key.dtype != query.dtype or value.dtype != query.dtype:
        return "tensors of several dtypes, or of another than float32, float16 and bfloat16"
    return ""


def attention_beside(pytorchs: Callable) -> Callable:
    """A function of the interface that is `kernels.attention`, and `pytorchs` for what that does not take."""

    def blockwise_attention(
        module, query, key, value, attention_mask=None, dropout=0.0, scaling=None, is_causal=None, **options
    ):
        missing = what_is_missing(query, key, value, attention_mask, dropout, options)
        if missing:
            if not torch.compiler.is_compiling():
                warnings.warn(f"attention: PyTorch computes it where kernels.attention does not: {missing}", stacklevel=2)
            given = {"dropout": dropout, "scaling": scaling, "is_causal": is_causal}
            return pytorchs(module, query, key, value, attention_mask, **given, **options)
        tokens = query.shape[2]
        is_causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
        is_causal = tokens > 1 and is_causal  # a single token is the last one, and sees all
        if is_causal:
            key, value = key[:, :, :tokens], value[:, :, :tokens]  # behind them is room that a cache keeps for later
        out = public_attention(query, key, value, is_causal, scaling, enable_gqa=key.shape[1] != query.shape[1])
        return out.transpose(1, 2).contiguous(), None

    return blockwise_attention


def register_attention(home: ModuleType) -> bool:
    """Enter the function into the tables that the attention of the module `home` looks into, if it does so."""
    functions = getattr(home, "ALL_ATTENTION_FUNCTIONS", None)
    masks_home: Any = sys.modules.get(getattr(getattr(home, "create_causal_mask", None), "__module__", ""))
    masks = getattr(masks_home, "ALL_MASK_ATTENTION_FUNCTIONS", None)
    if functions is None or masks is None or PYTORCHS not in functions or PYTORCHS not in masks:
        return False
    if OURS not in functions:
        functions.register(OURS, attention_beside(functions[PYTORCHS]))
        masks.register(OURS, masks[PYTORCHS])
    return True
