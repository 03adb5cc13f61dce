"""One call that gives a Llama of Hugging Face's `transformers` the library's kernels, and takes them back.

Nothing is imported from `transformers`: the parts of the model are known by their names, which Llama's relatives share. What is
replaced is the `forward` of single modules of the one model, and in its configuration the name of its attention. The rotation of
queries and keys alone is a function of the module that the attention is defined in, so there all models of that kind get it.
"""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from types import TracebackType
from typing import Any

import torch

from kernels.integrations.llama_attention import OURS, register_attention
from kernels.operators.public import public_linear_cross_entropy, public_rms_norm, public_rotary_embedding, public_swiglu

ROTATION = "apply_rotary_pos_emb"
IMPLEMENTATION = "_attn_implementation"


class LlamaPatch:
    """What was replaced, and the way back: `undo()`, or the end of a `with` block."""

    def __init__(self) -> None:
        self.ways_back: list[Callable[[], None]] = []
        self.counts = {"norms": 0, "mlps": 0, "rotations": 0, "attentions": 0, "losses": 0}

    def replace(self, owner: Any, name: str, value: Any, kind: str) -> None:
        before = vars(owner).get(name)
        # Without one of its own, an object has its class's again.
        self.ways_back.append(partial(delattr, owner, name) if before is None else partial(setattr, owner, name, before))
        setattr(owner, name, value)
        self.counts[kind] += 1

    def rename_attention(self, config: Any) -> None:
        self.ways_back.append(partial(setattr, config, IMPLEMENTATION, getattr(config, IMPLEMENTATION)))
        setattr(config, IMPLEMENTATION, OURS)

    def undo(self) -> None:
        """Put everything back that was there before."""
        while self.ways_back:
            self.ways_back.pop()()

    def __enter__(self) -> "LlamaPatch":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, where: TracebackType | None) -> None:
        self.undo()


def norm_of(module: torch.nn.Module) -> Callable:
    def forward(hidden_states: torch.Tensor) -> torch.Tensor:
        return public_rms_norm(hidden_states, module.weight, module.variance_epsilon)

    return forward


def mlp_of(module: Any) -> Callable:
    def forward(x: torch.Tensor) -> torch.Tensor:
        return module.down_proj(public_swiglu(module.gate_proj(x), module.up_proj(x)))

    return forward


def rotation_of(original: Callable) -> Callable:
    def apply_rotary_pos_emb(q, k, cos, sin, *arguments, **options):
        whole = cos.shape[-1] == q.shape[-1] and cos.ndim in (2, 3)  # some relatives turn a part of each head
        if arguments or options or not whole:
            return original(q, k, cos, sin, *arguments, **options)
        return public_rotary_embedding(q, k, cos, sin)

    return apply_rotary_pos_emb


def outputs_as_given(hidden_states: torch.Tensor) -> torch.Tensor:
    return hidden_states


def loss_of(model: Any) -> Callable:
    """A forward pass that finds the loss from the last hidden states, where it trains on labels; else it is the model's own."""
    original = model.forward

    def forward(*arguments, labels=None, shift_labels=None, num_items_in_batch=None, **options):
        given = {"labels": labels, "shift_labels": shift_labels, "num_items_in_batch": num_items_in_batch}
        if (labels is None and shift_labels is None) or not model.training or options.get("return_dict") is False:
            return original(*arguments, **{name: value for name, value in given.items() if value is not None}, **options)
        head = model.lm_head
        before = vars(head).get("forward")
        head.forward = outputs_as_given  # so the model's own code hands out what would go into the head
        try:
            outputs = original(*arguments, **options)
        finally:
            if before is None:
                del head.forward
            else:
                head.forward = before
        hidden = outputs["logits"]
        if shift_labels is None:
            shift_labels = torch.nn.functional.pad(labels, (0, 1), value=-100)[..., 1:]
        # A loss in bfloat16 would have three digits. Autocast says that it is to be in float32.
        half = hidden.dtype != torch.float32 and not torch.is_autocast_enabled(hidden.device.type)
        with torch.autocast(hidden.device.type, dtype=hidden.dtype) if half else nullcontext():
            loss = public_linear_cross_entropy(
                *(hidden, head.weight, shift_labels.to(hidden.device), head.bias),
                reduction="mean" if num_items_in_batch is None else "sum",
            )
        loss = loss if num_items_in_batch is None else loss / num_items_in_batch
        return type(outputs)(**{**outputs, "loss": loss, "logits": None})

    return forward


def patch_attentions(model: torch.nn.Module, patch: LlamaPatch) -> None:
    """Let the attention be ours in every configuration that says by name which one it is."""
    found = [module for module in model.modules() if type(module).__name__.endswith("Attention") and hasattr(module, "config")]
    if not getattr(model, "_supports_sdpa", True):
        return  # such a model asks for more than its masks say
    for module in found:
        config = module.config
        if getattr(config, IMPLEMENTATION, OURS) != OURS and register_attention(sys.modules[type(module).__module__]):
            patch.rename_attention(config)
            patch.counts["attentions"] += sum(other.config is config for other in found)


def apply_kernels_to_llama(
    model: torch.nn.Module,
    *,
    norms: bool = True,
    mlp: bool = True,
    rotary: bool = True,
    attention: bool = True,
    loss: bool = True,
) -> LlamaPatch:
    """Replace the norms, gates, rotation, attention and loss of a `transformers` Llama by the library's kernels.

    Example:
        ```python
        import torch
        from kernels.integrations import apply_kernels_to_llama

        class LlamaRMSNorm(torch.nn.RMSNorm):
            variance_epsilon = 1e-6

        model = torch.nn.Sequential(LlamaRMSNorm(8), LlamaRMSNorm(8))  # in the place of a LlamaForCausalLM
        with apply_kernels_to_llama(model) as patch:
            print(patch.counts)
            #> {'norms': 2, 'mlps': 0, 'rotations': 0, 'attentions': 0, 'losses': 0}
        ```

    Args:
        model: A `LlamaForCausalLM`, or a model whose parts bear the same names; without a head, it has no loss to replace.
        norms: Whether RMS norms become `kernels.rms_norm`.
        mlp: Whether SiLU and the product after it, in each block, become `kernels.swiglu`.
        rotary: Whether the rotation of queries and keys becomes `kernels.rotary_embedding`. It is shared by all models of
            that kind in the process.
        attention: Whether attention becomes `kernels.attention`, in training, in a prompt and token by token. Where the model
            makes a mask, as for padding, or drops weights, PyTorch's function computes, and a warning says so once. Weights
            are never returned. Models that share the configuration get it, too.
        loss: Whether head and loss become `kernels.linear_cross_entropy`, while the model trains and labels are given. The
            output has no logits then.

    Returns:
        A handle: its `undo()` puts everything back, in reverse order, and so does the end of a `with` block. `counts` says how
            many parts of each kind were replaced.

    Raises:
        TypeError: `model` is not a `torch.nn.Module`.
        ValueError: No part of the model has a name that is known here.

    Attention is chosen by the name `blockwise`, which stays known to `transformers` afterwards: a model may ask for it as it asks
    for `sdpa`. Parameters stay where they are, so a model may be patched after its weights were loaded or before.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model: expected a torch.nn.Module, got {type(model).__name__}")
    patch = LlamaPatch()
    for module in model.modules():
        name = type(module).__name__
        if norms and name.endswith("RMSNorm") and hasattr(module, "variance_epsilon"):
            patch.replace(module, "forward", norm_of(module), "norms")
        elif mlp and type(getattr(module, "act_fn", None)).__name__.startswith("SiLU") and hasattr(module, "gate_proj"):
            patch.replace(module, "forward", mlp_of(module), "mlps")
        elif rotary and name.endswith("Attention"):
            home = sys.modules[type(module).__module__]
            rotation = getattr(home, ROTATION, None)
            if rotation is not None and rotation.__module__ != __name__:
                patch.replace(home, ROTATION, rotation_of(rotation), "rotations")
    if attention:
        patch_attentions(model, patch)
    if loss and isinstance(getattr(model, "lm_head", None), torch.nn.Linear):
        patch.replace(model, "forward", loss_of(model), "losses")
    if not patch.ways_back:
        raise ValueError(f"model: expected a Llama or one of its relatives, got {type(model).__name__} without a known part")
    return patch
