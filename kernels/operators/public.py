"""The functions as `kernels` offers them, for what is built on them and does not import the package: modules and integrations.

Where a graph is recorded, each is its operator.
"""

from collections.abc import Callable

from kernels.activations.swiglu import swiglu
from kernels.cross_entropy.cross_entropy import cross_entropy
from kernels.linear_cross_entropy.linear_cross_entropy import linear_cross_entropy
from kernels.norm.add_rms_norm import add_rms_norm
from kernels.norm.layer_norm import layer_norm
from kernels.norm.rms_norm import rms_norm
from kernels.operators.in_graphs import IN_GRAPHS
from kernels.operators.register import operator_in_graph
from kernels.rotary_embedding.rotary_embedding import rotary_embedding

FUNCTIONS = (add_rms_norm, cross_entropy, layer_norm, linear_cross_entropy, rms_norm, rotary_embedding, swiglu)
PUBLIC: dict[str, Callable] = {
    function.__name__: operator_in_graph(function, IN_GRAPHS[function.__name__]) for function in FUNCTIONS
}
