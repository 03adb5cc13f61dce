"""Functions as `kernels` offers them, for what is built on them and does not import the package: modules and integrations.

Where a graph is recorded, each is its operator.
"""

from kernels.activations.swiglu import swiglu
from kernels.attention.attention import attention
from kernels.cross_entropy.cross_entropy import cross_entropy
from kernels.linear_cross_entropy.linear_cross_entropy import linear_cross_entropy
from kernels.norm.group_norm import group_norm
from kernels.norm.layer_norm import layer_norm
from kernels.norm.rms_norm import rms_norm
from kernels.operators.attention import attention_in_graph
from kernels.operators.cross_entropy import cross_entropy_in_graph
from kernels.operators.elements import swiglu_in_graph
from kernels.operators.group_norm import group_norm_in_graph
from kernels.operators.linear_cross_entropy import linear_cross_entropy_in_graph
from kernels.operators.register import operator_in_graph
from kernels.operators.rotary_embedding import rotary_embedding_in_graph
from kernels.operators.rows import layer_norm_in_graph, rms_norm_in_graph
from kernels.rotary_embedding.rotary_embedding import rotary_embedding

public_attention = operator_in_graph(attention, attention_in_graph)
public_cross_entropy = operator_in_graph(cross_entropy, cross_entropy_in_graph)
public_group_norm = operator_in_graph(group_norm, group_norm_in_graph)
public_layer_norm = operator_in_graph(layer_norm, layer_norm_in_graph)
public_linear_cross_entropy = operator_in_graph(linear_cross_entropy, linear_cross_entropy_in_graph)
public_rms_norm = operator_in_graph(rms_norm, rms_norm_in_graph)
public_rotary_embedding = operator_in_graph(rotary_embedding, rotary_embedding_in_graph)
public_swiglu = operator_in_graph(swiglu, swiglu_in_graph)
