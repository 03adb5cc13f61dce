"""Time sliding windows and packed documents beside compiled FlexAttention and PyTorch's flash attention."""
# needs: cuda
import inspect
import random
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config
from torch.nn.attention.varlen import varlen_attn

from kernels.attention import attention
from kernels.attention import attention_packed
from kernels.tools.benchmark import keep
from snippets.attention_peers.peers import backward_case
from snippets.attention_peers.peers import benchmark_after_compiling
from snippets.attention_peers.peers import by_flex
from snippets.attention_peers.peers import forward_case
from snippets.attention_peers.peers import leads
from snippets.attention_peers.peers import normal

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here
WINDOW = 1024  # keys that a query sees, its own among them


def by_flash_varlen(starts, longest, window=None):
    """PyTorch's flash attention for sequences one after another, causal, with a window where its version has one."""
    names = inspect.signature(varlen_attn).parameters
    if "window_size" in names:
        options = {"window_size": (-1 if window is None else window, 0)}
    elif window is None:
        options = {"is_causal": True}
    else:
        return None

    def run(q, k, v):
        rows = (x.transpose(1, 2).flatten(0, 1) for x in (q, k, v))
        out = varlen_attn(*rows, starts, starts, longest, longest, **options)
        return out.unflatten(0, (q.shape[0], q.shape[2])).transpose(1, 2)

    return run


def window_mask(batch, head, query, key):
    return (query >= key) & (query - key < WINDOW)


def window_peers(batches, length):
    starts = torch.arange(0, (batches + 1) * length, length, dtype=torch.int32, device="cuda")
    return {
        "blockwise": lambda q, k, v: attention(q, k, v, is_causal=True, window=(WINDOW - 1, None)),
        "flex": by_flex(window_mask, length, length),
        "flash": by_flash_varlen(starts, length, WINDOW - 1),
    }


def drawn_lengths(tokens):
    """Documents of 64 to 4096 tokens, drawn evenly by their logarithm; the last one fills the row."""
    generator, lengths = random.Random(0), []
    while sum(lengths) < tokens:
        lengths.append(min(int(2 ** generator.uniform(6, 12)), tokens - sum(lengths)))
    return lengths


def mask_of(lengths):
    counted = torch.tensor(lengths, device="cuda")
    document = torch.arange(len(lengths), device="cuda").repeat_interleave(counted)

    def document_mask(batch, head, query, key):
        return (query >= key) & (document[query] == document[key])

    return document_mask


def packed_rows(q, k, v, starts):
    """attention_packed of [1, H, T, D], whose rows are those of [T, H, D]."""
    rows = (x[0].transpose(0, 1) for x in (q, k, v))
    return attention_packed(*rows, starts, starts, is_causal=True).transpose(0, 1)[None]


def document_peers(lengths, mask):
    starts = torch.tensor([0, *lengths], device="cuda").cumsum(0).int()
    return {
        "blockwise": lambda q, k, v: packed_rows(q, k, v, starts),
        "flex": by_flex(mask, sum(lengths), sum(lengths)),
        "flash": by_flash_varlen(starts, max(lengths)),
    }


benchmark = benchmark_after_compiling()
for head, lengths in ((64, (16384,)), (128, (4096, 16384))):
    for length in lengths:
        sides = 16384 // length, 2048 // head, length, head
        pairs = sum(min(query + 1, WINDOW) for query in range(length))
        shape = "x".join(map(str, (*sides, WINDOW)))
        for case in (forward_case, backward_case):
            inputs = [normal(*sides, token_major=True) for _ in range(3)]
            case(benchmark, "attention_window", shape, window_peers(sides[0], length), inputs, pairs, window_mask)
for head, rows in ((64, (16384,)), (128, (16384, 32768))):
    for tokens in rows:
        lengths = drawn_lengths(tokens)
        document_mask = mask_of(lengths)
        sides = 1, 2048 // head, tokens, head
        pairs = sum(length * (length + 1) // 2 for length in lengths)
        shape = "x".join(map(str, (*sides, len(lengths))))
        for case in (forward_case, backward_case):
            inputs = [normal(*sides, token_major=True) for _ in range(3)]
            case(benchmark, "attention_documents", shape, document_peers(lengths, document_mask), inputs, pairs, document_mask)
figures = {op: leads(benchmark.measurements, (f"attention_{op}",)) for op in ("window", "documents")}
figures["both"] = leads(benchmark.measurements, ("attention_window", "attention_documents"))
print("times as long as ours, in the geometric mean:", figures)
keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
