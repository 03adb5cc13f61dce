"""The byte law of every timed operation: the bytes that a case must move, and the operations of a matrix product.

    bytes_of("softmax", "fwd", "8192x4096", "bf16")  ->  134217728

Each input is read once and each output written once, and what is next to nothing, such as a norm's weights, is left out. A
benchmark says of each row that it measures how much it moves; a test holds every row against these laws, which are written
without a look at the benchmarks. The standard library alone.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

WIDTHS = {"fp32": 4, "fp16": 2, "bf16": 2, "e4m3": 1, "fp8": 1}


class Law(NamedTuple):
    """The elements that an operation reads and writes, as a function of its shape's sides.

    A backward pass moves half as much again as its forward pass (two read, one written) where nothing else is said.
    """

    forward: Callable[..., int]
    backward: Callable[..., int] | None = None
    is_product: bool = False

    def elements(self, direction: str, *sides: int) -> int:
        if direction != "fwd" and self.backward:
            return self.backward(*sides)
        return self.forward(*sides) * (3 if direction == "bwd" else 2) // 2


def vectors(count: int) -> Callable[[int], int]:
    return lambda n: count * n


def matrices(count: int) -> Callable[[int, int], int]:
    return lambda m, n: count * m * n


def a_product(m: int, n: int, k: int) -> int:
    """The two factors and the result."""
    return m * k + k * n + m * n


def wide_product(m: int, n: int, k: int) -> int:
    """A product whose result is twice as wide as its factors, or that also reads as much as it writes."""
    return a_product(m, n, k) + m * n


def heads(batches: int, tokens: int, queries: int, keys: int, width: int) -> int:
    """The queries and the keys, read and written."""
    return 2 * batches * tokens * (queries + keys) * width


def attended(batches: int, heads: int, length: int, width: int, *_: int) -> int:
    """Queries, keys, values and the output; backward twice as much, for the output's gradient is read and three are written."""
    return 4 * batches * heads * length * width


def shared_heads(batches: int, heads: int, k_heads: int, length: int, width: int) -> int:
    """The same where several heads of queries share one of keys and values."""
    return 2 * batches * (heads + k_heads) * length * width


def twice(forward: Callable[..., int]) -> Callable[..., int]:
    return lambda *sides: 2 * forward(*sides)


def decoded(batches: int, tokens: int, queries: int, keys: int, width: int) -> int:
    """The keys and the values of all tokens, one query a head, and what comes of it."""
    return 2 * batches * (tokens * keys + queries) * width


def laws(law: Law, names: str) -> dict[str, Law]:
    return dict.fromkeys(names.split(), law)


PRODUCT, WIDE = Law(a_product, is_product=True), Law(wide_product, is_product=True)
STEPS = "ladder naive cores descriptors persistent specialized grouped stages tiles split by_tile"
LAWS: dict[str, Law] = {
    # One tensor read, and next to nothing written.
    **laws(Law(vectors(1)), "sum max memory_amax"),
    **laws(Law(matrices(1)), "row_sum largest sum_dim-1 sum_dim0 max_dim-1 max_dim0 beside_row_sum streamed_sum"),
    **laws(Law(matrices(1)), "histogram inductor_cross_entropy add_row_strided"),  # every other column is half a matrix
    **laws(Law(lambda count, bins: count), "histc histc_one_bin"),
    "total": Law(lambda m, n=1: m * n),  # of a vector in one chapter, of a matrix in another
    # One read and one written.
    **laws(Law(vectors(2)), "wave double negate memory_relu divide_by_sum"),
    **laws(Law(matrices(2)), "softmax softmax_ladder softmax_persistent softmax_gradient capped_softmax roofline_softmax"),
    **laws(Law(matrices(2)), "beside_softmax inductor_softmax inside_softmax square add_row transpose tile_copy mlp_tail"),
    **laws(Law(matrices(2)), "layernorm rmsnorm norm_step clipped_norm inductor_layer_norm inductor_rms_norm inside_layer_norm"),
    **laws(Law(matrices(2)), "gelu gelu_erf bias_gelu inductor_bias_gelu"),
    "dropout": Law(vectors(2), vectors(2)),  # no mask is kept, so the backward pass reads one tensor, too
    "strided_copy": Law(lambda count, stride: 2 * count),
    # Two read and one written, or one read and one of twice the width written.
    **laws(Law(vectors(3)), "add blocked_add roofline_add add_by_block beside_add memory_widen"),
    **laws(Law(matrices(3)), "dropout_add inductor_swiglu inside_swiglu"),
    **laws(Law(matrices(3), matrices(5)), "swiglu geglu swiglu_halves"),
    "tool_chain": Law(matrices(4)),
    "tool_norm": Law(matrices(2), matrices(5)),  # forward and backward
    "cross_entropy": Law(matrices(1), matrices(2)),  # with the gradient it writes as many numbers as it reads
    "rope": Law(heads, heads),
    # A fifth side is the width of a window, or how many documents there are.
    **laws(
        Law(attended, twice(attended)),
        "attention attention_causal attention_window attention_documents attention_ladder attention_ladder_causal "
        "attention_gluon attention_gluon_causal attention_gluon_backward attention_gluon_backward_causal "
        "attention_backward_ladder inductor_flex_causal flex_causal flex_window flex_documents flex_alibi flex_soft_cap "
        "flex_relative",
    ),
    "attention_gqa": Law(shared_heads, twice(shared_heads)),
    # One query a sequence is next to nothing beside its keys and values.
    "attention_decode": Law(lambda batches, heads, k_heads, keys, width: 2 * batches * k_heads * keys * width),
    "attention_decode_ladder": Law(decoded),
    # Matrix products.
    **laws(PRODUCT, " ".join(f"matmul_{step}" for step in STEPS.split())),
    **laws(PRODUCT, "mm product tile_order precision hopper_features wide_tile tail one_wave narrow mlp_half"),
    **laws(PRODUCT, "beside_naive beside_tiled beside_product tool_epilogue ln_linear_fold ln_linear_product"),
    **laws(PRODUCT, "epilogue_gelu epilogue_silu epilogue_bias epilogue_product epilogue_kept"),
    **laws(WIDE, "scaled_mm precision_scaled epilogue_residual"),
    "ln_linear": Law(a_product, lambda m, n, k: 2 * a_product(m, n, k), is_product=True),
    "ln_linear_norm": Law(lambda m, k, n: 2 * m * k),  # the rows before the product, read and written
    "inside_matmul": Law(lambda m, n: 2 * m * n + n * n),
    # The tokens there and back, and of each expert that was chosen both halves of its first weights and its second.
    "moe": Law(lambda tokens, active, experts, k, width, hidden: 2 * tokens * width + 3 * active * width * hidden),
}
# Where lengths are drawn at random, the bytes follow from the additions. A bag's numbers are rows of 256, and 8 bytes an index.
BY_ADDITIONS: dict[str, Callable[[int], int]] = {
    **dict.fromkeys(("ragged_sum", "served"), lambda added: 4 * added),
    "tool_bags": lambda added: 4 * (added + 65536 * 256) + added // 256 * 8,
}
# A sweep reads, copies or adds whole blocks, about as many of them whatever the size.
SWEEPS = {"working_set_read", "working_set_copy", "contend", "contend_scattered"}
OPERATIONS = LAWS.keys() | BY_ADDITIONS.keys() | SWEEPS
SHAPE = re.compile(r"[1-9]\d*(x[1-9]\d*)*|B\d+S\d+H\d+/\d+D\d+|even|shuffled|unlucky|\d+ bags")


def sides_of(shape: str) -> list[int]:
    return [int(side) for side in re.findall(r"\d+", shape)]


def bytes_of(op: str, direction: str, shape: str, dtype: str, flops: int | None = None) -> int | None:
    """The bytes that a case must move; none for a sweep. A shape of other sides than the operation's raises TypeError."""
    if op in SWEEPS:
        return None
    if op in BY_ADDITIONS:
        return BY_ADDITIONS[op](flops or 0)
    return LAWS[op].elements(direction, *sides_of(shape)) * WIDTHS[dtype]


def flops_of(op: str, direction: str, shape: str) -> int | None:
    """The operations of a matrix product, two a term and twice as many backward; none for anything else."""
    if op not in LAWS or not LAWS[op].is_product:
        return None
    m, n, k = sides_of(shape)
    return 2 * m * n * k * (2 if direction == "bwd" else 1)
