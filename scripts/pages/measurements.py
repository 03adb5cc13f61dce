"""The tables of the measurement pages: every case that a record holds, and those in which a peer was faster.

`PAGES` says which operations stand on which page of docs/measurements; a test holds that each operation of the records has one.
The standard library alone.
"""

from typing import Any

from scripts.pages.peers import LEVEL, PEERS

PAGES: dict[str, list[str]] = {
    "memory": [
        "add", "add_by_block", "blocked_add", "double", "negate", "divide_by_sum", "working_set_read",
        "working_set_copy", "streamed_sum", "strided_copy", "tile_copy", "memory_relu", "memory_widen", "memory_amax",
        "roofline_add", "roofline_softmax", "ragged_sum", "served", "beside_add",
    ],
    "elementwise": [
        "square", "add_row", "add_row_strided", "transpose", "mlp_tail", "mlp_half", "wave", "clipped_norm",
        "dropout", "dropout_add", "swiglu", "swiglu_halves", "geglu", "gelu", "gelu_erf", "bias_gelu", "rope",
        "tool_chain", "inductor_swiglu", "inductor_bias_gelu", "inside_swiglu",
    ],
    "softmax": [
        "softmax", "softmax_ladder", "softmax_persistent", "softmax_gradient", "capped_softmax", "beside_softmax",
        "inductor_softmax", "inside_softmax", "cross_entropy", "inductor_cross_entropy",
    ],
    "norms": [
        "layernorm", "rmsnorm", "norm_step", "tool_norm", "inductor_layer_norm", "inductor_rms_norm",
        "inside_layer_norm",
    ],
    "reductions": [
        "total", "sum", "sum_dim-1", "sum_dim0", "max", "max_dim-1", "max_dim0", "row_sum", "largest",
        "beside_row_sum", "contend", "contend_scattered", "histc", "histc_one_bin", "histogram", "tool_bags",
    ],
    "products": [
        "mm", "scaled_mm", "narrow", "one_wave", "tail", "wide_tile", "hopper_features", "product", "matmul_naive",
        "matmul_tiles", "matmul_cores", "matmul_grouped", "matmul_stages", "matmul_descriptors", "matmul_persistent",
        "matmul_specialized", "matmul_split", "matmul_by_tile", "matmul_ladder", "tile_order", "precision",
        "precision_scaled", "beside_naive", "beside_tiled", "beside_product", "inside_matmul", "inductor_flex_causal",
    ],
    "attention": [
        "attention", "attention_causal", "attention_gqa", "attention_window", "attention_documents", "attention_decode",
        "attention_ladder", "attention_ladder_causal", "attention_gluon", "attention_gluon_causal",
        "attention_backward_ladder", "attention_decode_ladder",
        "attention_gluon_backward", "attention_gluon_backward_causal",
        "flex_causal", "flex_window", "flex_documents", "flex_alibi", "flex_relative", "flex_soft_cap",
    ],
    "fusing": [
        "epilogue_bias", "epilogue_gelu", "epilogue_silu", "epilogue_product", "epilogue_residual", "epilogue_kept",
        "ln_linear", "ln_linear_fold", "ln_linear_norm", "ln_linear_product", "tool_epilogue", "moe",
    ],
}  # fmt: skip
DIRECTIONS = {"fwd": "forward", "bwd": "backward", "fwdbwd": "forward and backward"}
TIMINGS = {"call": "as called", "graph": "replayed"}
# Other names of what is ours, how the operation is told apart, and who is its peer: one that was given the same, in the same way.
ROWS = ("eager", "compile", "compile_max")
WAYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "blockwise": ("", (*PEERS, "library")),
    "blockwise_nn": ("rows by rows", ROWS),
    "blockwise_nt": ("rows by columns", ("eager_nt",)),
    "blockwise_tensor": ("a scale a tensor", ("scaled_mm_tensor_fast", "scaled_mm_tensor_slow")),
    "blockwise_row": ("a scale a row", ("scaled_mm_row_fast", "scaled_mm_row_slow")),
    "blockwise_same": ("the same bits", ("eager_same",)),
    "blockwise_whole": ("with a whole table", (*ROWS, "liger")),
    "fused": ("fused", (*ROWS, "cublas", "addmm")),
}
TOLD = {
    "blockwise": "ours", "eager_nt": "eager", "cublas": "cuBLAS's own epilogue", "addmm": "torch.addmm",
    "scaled_mm_tensor_fast": "cuBLAS, fast sums", "scaled_mm_tensor_slow": "cuBLAS, slow sums",
    "scaled_mm_row_fast": "cuBLAS, fast sums", "scaled_mm_row_slow": "cuBLAS, slow sums",
}  # fmt: skip

Row = dict[str, Any]
Cases = dict[tuple[str, str, str], dict[str, dict[str, float]]]


def cases(measured: list[Row], op: str) -> Cases:
    """The median times of an operation in microseconds: by direction, shape and dtype, then by timing, then by implementation."""
    found: Cases = {}
    for row in measured:
        if row["op"] == op:
            case = found.setdefault((row["direction"], row["shape"], row["dtype"]), {})
            case.setdefault(row["timing"], {})[row["implementation"]] = row["ms"][1] * 1e3
    return found


def table(measured: list[Row], op: str) -> list[list[Any]]:
    """Every case of an operation, a column for each implementation; its head first."""
    found = cases(measured, op)
    names = list(dict.fromkeys(name for case in found.values() for times in case.values() for name in times))
    lines: list[list[Any]] = [["direction", "shape", "dtype", "timing", *(f"{told(name)}, µs" for name in names)]]
    for (direction, shape, dtype), case in found.items():
        for timing, times in case.items():
            lines.append([DIRECTIONS[direction], shape, dtype, TIMINGS[timing], *(times.get(name) for name in names)])
    return lines


# Operations that a second program timed again under a name of its own.
SAME_AS = {"tail": "mm", "wide_tile": "mm"}


def lost(measured: list[Row], ops: list[str], with_the_host: bool = False) -> list[list[Any]]:
    """The cases in which the best peer was faster than ours by more than two percent, the worst first; the head first.

    A case that was replayed is told by its replay; `with_the_host` lists what its calls lost, the host's time included.
    """
    found: list[list[Any]] = []
    for op in ops:
        for (direction, shape, dtype), case in cases(measured, op).items():
            for timing, times in case.items():
                for ours, (way, rivals) in WAYS.items():
                    peers = {name: times[name] for name in rivals if name in times}
                    is_of_the_host = timing == "call" and ours in case.get("graph", {})
                    if ours in times and peers and is_of_the_host == with_the_host:
                        best = min(peers, key=lambda name: peers[name])
                        ratio = peers[best] / times[ours]
                        if ratio < 1 - LEVEL:
                            named = SAME_AS.get(op, op)
                            known = [f"{named}, {way}" if way else named, DIRECTIONS[direction], shape, dtype, TIMINGS[timing]]
                            found.append([*known, times[ours], peers[best], TOLD.get(best, told(best)), f"{ratio:.2f}"])
    head = ["operation", "direction", "shape", "dtype", "timing", "ours, µs", "best peer, µs", "the peer", "ratio"]
    return [head, *sorted(found, key=lambda line: line[-1])]


def told(name: str) -> str:
    """An implementation as a reader would call it."""
    return {"blockwise": "ours", **PEERS}.get(name, name.replace("_", " "))
