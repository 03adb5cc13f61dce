"""Time one query a sequence over many keys, beside its peers and beside a device copy that moves as many bytes."""
# needs: cuda
import statistics
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.attention_peers.peers import Share
from snippets.attention_peers.peers import benchmark_after_compiling
from snippets.attention_peers.peers import by_flex
from snippets.attention_peers.peers import dense_peers
from snippets.attention_peers.peers import exact
from snippets.attention_peers.peers import normal
from snippets.attention_peers.peers import that_run

HEADS, K_HEADS, HEAD = 32, 8, 128
benchmark = benchmark_after_compiling(6)


def all_open(batch, head, query, key):
    """A mask that hides nothing, but tells FlexAttention of blocks, without which it does not share a head's keys out."""
    return key >= 0


def copy_of(moved, answer):
    """A copy that reads and writes `moved` bytes together, with an answer that the harness can check."""
    source = torch.randn(moved // 8, device="cuda")
    target = torch.empty_like(source)

    def copy():
        target.copy_(source)
        return answer

    return copy


for batches in (1, 16):
    for length in (4096, 16384, 65536):
        if isinstance(benchmark, Share) and not benchmark.next_is_mine():
            continue
        q, k, v = normal(batches, HEADS, 1, HEAD), *(normal(batches, K_HEADS, length, HEAD) for _ in range(2))
        peers = dense_peers(length, False, True) | {"flex": by_flex(all_open, 1, length, True)}
        runs = that_run(peers, (q, k, v))
        if isinstance(benchmark, Share):
            continue
        expected = exact(q, k, v, q)[0]
        functions = {name: lambda run=run: run(q, k, v)[-1, -HEADS // K_HEADS :] for name, run in runs.items()}
        moved = k.nbytes + v.nbytes
        functions["copy"] = copy_of(moved, expected)
        shape, flops = f"{batches}x{HEADS}x{K_HEADS}x{length}x{HEAD}", 4 * batches * HEADS * length * HEAD
        benchmark.case("attention_decode", "fwd", shape, q.dtype, moved, flops, functions, expected)

# The replay where there is one, since a call as short as these is mostly the launch.
best = {(row["shape"], row["implementation"]): row["ms"][1] for row in benchmark.measurements}
shares = {}
for name in dict.fromkeys(name for _, name in best):
    ratios = [best[shape, "copy"] / ms for (shape, whose), ms in best.items() if whose == name]
    shares[name] = statistics.geometric_mean(ratios)
print("of the copy's rate, in the geometric mean:", {name: round(share, 3) for name, share in shares.items()})
keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"of_the_copy": shares})
