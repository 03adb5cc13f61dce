"""For each public function, the one that stands in for it while a graph is recorded."""

from collections.abc import Callable

from kernels.operators.add_rms_norm import add_rms_norm_in_graph
from kernels.operators.attention import attention_in_graph, attention_packed_in_graph
from kernels.operators.cross_entropy import cross_entropy_in_graph
from kernels.operators.dropout import dropout_in_graph
from kernels.operators.elements import add_in_graph, geglu_in_graph, gelu_in_graph, swiglu_in_graph
from kernels.operators.group_norm import group_norm_in_graph
from kernels.operators.linear_cross_entropy import linear_cross_entropy_in_graph
from kernels.operators.moe import moe_in_graph
from kernels.operators.products import layer_norm_linear_in_graph, matmul_in_graph, scaled_matmul_in_graph
from kernels.operators.reductions import histogram_in_graph, max_in_graph, sum_in_graph
from kernels.operators.rotary_embedding import rotary_embedding_in_graph
from kernels.operators.rows import layer_norm_in_graph, rms_norm_in_graph, softmax_in_graph

IN_GRAPHS: dict[str, Callable] = {
    "add": add_in_graph,
    "add_rms_norm": add_rms_norm_in_graph,
    "attention": attention_in_graph,
    "attention_packed": attention_packed_in_graph,
    "cross_entropy": cross_entropy_in_graph,
    "dropout": dropout_in_graph,
    "geglu": geglu_in_graph,
    "gelu": gelu_in_graph,
    "group_norm": group_norm_in_graph,
    "histogram": histogram_in_graph,
    "layer_norm": layer_norm_in_graph,
    "layer_norm_linear": layer_norm_linear_in_graph,
    "linear_cross_entropy": linear_cross_entropy_in_graph,
    "matmul": matmul_in_graph,
    "max": max_in_graph,
    "moe": moe_in_graph,
    "rms_norm": rms_norm_in_graph,
    "rotary_embedding": rotary_embedding_in_graph,
    "scaled_matmul": scaled_matmul_in_graph,
    "softmax": softmax_in_graph,
    "sum": sum_in_graph,
    "swiglu": swiglu_in_graph,
}
