"""What the benchmarks of attention share: the peers, attention in float64, and how a case is checked and timed."""

import os
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from kernels.attention import attention
from kernels.tools.benchmark import TOLERANCE, Benchmark
from snippets.attention_peers.two_stages import two_stages


def normal(batches, heads, length, head, token_major=False):
    """Random bfloat16 of shape [batches, heads, length, head]; `token_major` lays the heads of a token side by side."""
    if token_major:
        return torch.randn(batches, length, heads, head, device="cuda").bfloat16().transpose(1, 2)
    return torch.randn(batches, heads, length, head, device="cuda").bfloat16()


def causal_mask(batch, head, query, key):
    return query >= key


def by_backend(backend, is_causal, enable_gqa=False):
    def run(q, k, v):
        with sdpa_kernel([backend]):
            return F.scaled_dot_product_attention(
                q, k, v, is_causal=is_causal, enable_gqa=enable_gqa
            )

    return run


def by_flex(mask, q_length, k_length, enable_gqa=False):
    """FlexAttention, compiled for one shape. The mask's blocks are found here, outside of what is timed."""
    torch.compiler.reset()
    compiled = torch.compile(flex_attention, dynamic=False)
    blocks = mask and create_block_mask(mask, None, None, q_length, k_length, device="cuda")
    return lambda q, k, v: compiled(q, k, v, block_mask=blocks, enable_gqa=enable_gqa)


def dense_peers(length, is_causal, enable_gqa=False):
    """Ours and the peers, for queries and keys of one length, with or without the causal mask."""
    peers = {
        "blockwise": lambda q, k, v: attention(q, k, v, is_causal, enable_gqa=enable_gqa),
        "cudnn": by_backend(SDPBackend.CUDNN_ATTENTION, is_causal, enable_gqa),
        "flash": by_backend(SDPBackend.FLASH_ATTENTION, is_causal, enable_gqa),
        "flex": by_flex(causal_mask if is_causal else None, length, length, enable_gqa),
    }
    if not enable_gqa:
        peers["tutorial"] = lambda q, k, v: two_stages(q, k, v, is_causal)
    return peers


def exact(q, k, v, dout, mask=None, rows_at_once=1024):
    """The last head of keys in float64, with the queries that share it: the output, and the gradients of q, k and v."""
    group = q.shape[1] // k.shape[1]
    q, dout = (x[-1, -group:].detach().double() for x in (q, dout))  # [group, L, D]
    k, v = (x[-1, -1].detach().double() for x in (k, v))  # [S, D]
    scale, columns = q.shape[-1] ** -0.5, torch.arange(len(k), device=q.device)
    out, dq, dk, dv = torch.empty_like(q), torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for start in range(0, q.shape[1], rows_at_once):
        part = slice(start, start + rows_at_once)
        scores = q[:, part] @ k.T * scale
        if mask:
            rows = torch.arange(start, start + scores.shape[1], device=q.device)
            scores = scores.masked_fill(~mask(0, 0, rows[:, None], columns[None, :]), -torch.inf)
        weights = torch.softmax(scores, -1)
        out[:, part] = weights @ v
        dweights = dout[:, part] @ v.T
        dscores = weights * (dweights - (weights * dweights).sum(-1, keepdim=True)) * scale
        dq[:, part] = dscores @ k
        dk += (dscores.mT @ q[:, part]).sum(0)
        dv += (weights.mT @ dout[:, part]).sum(0)
    return out, dq, dk, dv


def relative_error(found, expected):
    return ((found.double() - expected).norm() / expected.norm()).item()


def open_pairs(length, is_causal):
    """How many keys are open, summed over the queries of one head."""
    return length * (length + 1) // 2 if is_causal else length * length


def that_run(peers, inputs):
    """The peers that take these inputs. What one refuses is said."""
    kept = {}
    for name, run in peers.items():
        try:
            if run is not None:
                run(*inputs)
                kept[name] = run
        except (RuntimeError, TypeError, NotImplementedError) as error:
            if name == "blockwise":
                raise
            print(f"{name} is left out at {tuple(inputs[0].shape)}: {str(error).strip().splitlines()[0][:100]}")
    return kept


class Share:
    """What a process gets that only compiles: every so many cases, of which it times none."""

    def __init__(self, turn, turns):
        self.turn, self.turns, self.cases = turn, turns, 0
        self.measurements, self.ceilings = [], {}

    def next_is_mine(self):
        self.cases += 1
        return self.cases % self.turns == self.turn


def benchmark_after_compiling(turns=12):
    """A benchmark, once processes side by side have compiled what it needs: this program again, each with a share of the cases.

    PyTorch and Triton keep on disk what they compile, and compiling takes several times as long here as timing.
    """
    if len(sys.argv) == 3:
        return Share(int(sys.argv[1]), int(sys.argv[2]))
    variables = {key: value for key, value in os.environ.items() if key != "BLOCKWISE_RECORD"}
    variables |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    commands = [[sys.executable, sys.argv[0], str(turn), str(turns)] for turn in range(turns)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen(command, env=variables, **quiet) for command in commands]
    deadline = time.monotonic() + 120  # what is not compiled by then is compiled below
    for process in processes:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return Benchmark()


def forward_case(benchmark, op, shape, peers, inputs, pairs, mask=None):
    """Time the peers forward. Flops are two products a pair of a query and an open key."""
    if isinstance(benchmark, Share):
        return that_run(peers, inputs) if benchmark.next_is_mine() else None
    q, k, v = inputs
    group = q.shape[1] // k.shape[1]
    expected = exact(q, k, v, q, mask)[0]
    functions = {name: lambda run=run: run(q, k, v)[-1, -group:] for name, run in that_run(peers, inputs).items()}
    moved = 2 * q.nbytes + k.nbytes + v.nbytes
    flops = 4 * q.shape[0] * q.shape[1] * q.shape[3] * pairs
    return benchmark.case(op, "fwd", shape, q.dtype, moved, flops, functions, expected)


def backward_case(benchmark, op, shape, peers, inputs, pairs, mask=None):
    """Time the gradients of q, k and v after a forward pass that is not timed; return each peer's errors, the output's first.

    Flops are five products a pair of a query and an open key.
    """
    is_mine = not isinstance(benchmark, Share) or benchmark.next_is_mine()
    leaves = [x.requires_grad_() for x in inputs]
    q, k, v = leaves
    group, dout = q.shape[1] // k.shape[1], torch.randn_like(q)
    expected = exact(q, k, v, dout, mask) if not isinstance(benchmark, Share) else []
    functions, errors = {}, {}
    for name, run in that_run(peers, leaves).items() if is_mine else ():
        y = run(*leaves)

        def gradients(y=y):
            return torch.autograd.grad(y, leaves, dout, retain_graph=True)

        found = [y.detach(), *gradients()]
        heads = (slice(-group, None), slice(-group, None), -1, -1)
        errors[name] = [relative_error(x[-1, head], right) for x, head, right in zip(found, heads, expected, strict=False)]
        if not all(error < TOLERANCE[q.dtype] for error in errors[name]):
            raise AssertionError(f"{op} bwd {shape}: {name} is wrong, relative errors {errors[name]}")
        functions[name] = lambda gradients=gradients: gradients()[0][-1, -group:]
    if not isinstance(benchmark, Share):
        moved = 2 * (2 * q.nbytes + k.nbytes + v.nbytes)
        flops = 10 * q.shape[0] * q.shape[1] * q.shape[3] * pairs
        benchmark.case(op, "bwd", shape, q.dtype, moved, flops, functions, expected[1])
    return errors


def leads(measurements, ops, timing="call"):
    """Of each peer, the geometric mean of how many times as long as ours it takes, over the cases of these operations."""
    times = {
        (row["op"], row["direction"], row["shape"], row["implementation"]): row["ms"][1]
        for row in measurements
        if row["op"] in ops and row["timing"] == timing
    }
    found = {}
    for name in dict.fromkeys(key[-1] for key in times if key[-1] != "blockwise"):
        ratios = [ms / times[*case, "blockwise"] for (*case, whose), ms in times.items() if whose == name]
        found[name] = statistics.geometric_mean(ratios)
    return found
