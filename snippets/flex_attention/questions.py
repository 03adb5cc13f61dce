"""What the questions of the lesson ask, worked out: each line is the answer to one."""
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


def causal(batch, head, query, key):
    return query >= key


mask = create_block_mask(causal, None, None, 512, 512, device="cpu", BLOCK_SIZE=128)
print(f"asked: {int(mask.kv_num_blocks.sum())}")


def earlier(batch, head, query, key):
    return query > key


q, k, v = torch.randn(3, 1, 1, 64, 16).unbind()
mask = create_block_mask(earlier, None, None, 64, 64, device="cpu", BLOCK_SIZE=32)
print(f"nothing: {flex_attention(q, k, v, block_mask=mask)[0, 0, 0].abs().max().item()}")


def window_of(span):
    return lambda batch, head, query, key: (query >= key) & (query - key < span)


compilations = []


def counting(graph, inputs):
    compilations.append(graph)
    return graph.forward


flex = torch.compile(flex_attention, backend=counting, dynamic=False)
for span in (16, 32, 16):
    flex(q, k, v, block_mask=create_block_mask(window_of(span), None, None, 64, 64, device="cpu", BLOCK_SIZE=32))
print(f"spans: {len(compilations)}")
