"""What PyTorch and its stand-in compute alike: functions of two 5 by 6 matrices. The stand-in runs this text as it is."""

import torch
import torch.nn.functional as F

INDEX = torch.tensor([[0, 1], [2, 3], [4, 5], [1, 1], [0, 0]])
FORMULAS = {
    "exp": lambda a, b: a.exp(),
    "exp2": lambda a, b: torch.exp2(a),
    "expm1": lambda a, b: torch.expm1(a),
    "log": lambda a, b: (a.abs() + 0.1).log(),
    "log2": lambda a, b: (a.abs() + 0.1).log2(),
    "log1p": lambda a, b: torch.log1p(a.abs()),
    "sqrt": lambda a, b: (a.abs() + 0.1).sqrt(),
    "rsqrt": lambda a, b: (a.abs() + 0.1).rsqrt(),
    "sin": lambda a, b: a.sin() * b.cos(),
    "tanh": lambda a, b: a.tanh(),
    "sigmoid": lambda a, b: a.sigmoid(),
    "erf": lambda a, b: torch.erf(a),
    "relu": lambda a, b: a.relu() * b,
    "reciprocal": lambda a, b: (a.abs() + 1).reciprocal(),
    "square": lambda a, b: a.square(),
    "alpha": lambda a, b: torch.add(a, b, alpha=2) - torch.sub(b, a, alpha=3),
    "divide": lambda a, b: a / (b.abs() + 1),
    "power": lambda a, b: (a.abs() + 0.5) ** 2.5,
    "number_first": lambda a, b: 3 / (a.abs() + 1) + (1 - b),
    "broadcast": lambda a, b: a * b[0] + b[:, :1],
    "maximum": lambda a, b: torch.maximum(a, b) + torch.minimum(a, b * 0.5),
    "clamp": lambda a, b: a.clamp(-0.5, 0.5) * b,
    "where": lambda a, b: torch.where(a > 0, a * b, b),
    "masked_fill": lambda a, b: a.masked_fill(b > 0, -1.0) * b,
    "in_place": lambda a, b: (a * 1).mul_(b).add_(a),
    "set_part": lambda a, b: put(a * 1, b),
    "matmul": lambda a, b: a @ b.T,
    "batched": lambda a, b: torch.stack([a, b]) @ torch.stack([b.T, a.T]),
    "vector": lambda a, b: a @ b[0],
    "addmm": lambda a, b: torch.addmm(a[:, :5], a, b.T),
    "outer": lambda a, b: torch.outer(a[0], b[1]),
    "sum": lambda a, b: a.sum(0) * b,
    "mean": lambda a, b: a.mean(-1, keepdim=True) * b,
    "amax": lambda a, b: a.amax(1) * b[:, 0],
    "max": lambda a, b: a.max(1).values + b.min(1)[0],
    "var": lambda a, b: a.var(1) + b.std(1, unbiased=False),
    "norm": lambda a, b: a.norm() * b.norm(dim=1),
    "softmax": lambda a, b: a.softmax(-1) * b,
    "log_softmax": lambda a, b: torch.log_softmax(a, 0) * b,
    "logsumexp": lambda a, b: a.logsumexp(1),
    "cumsum": lambda a, b: a.cumsum(1) * b,
    "cat": lambda a, b: torch.cat([a, b * 2], 1),
    "split": lambda a, b: a.split(2, 1)[1] * b[:, :2] + b.chunk(3, -1)[0],
    "slices": lambda a, b: a[1:3, ::2] * 2 + b[2:4, 1::2],
    "picked": lambda a, b: a[torch.tensor([0, 0, 2])] * b[:3],
    "gather": lambda a, b: a.gather(1, INDEX) * 2,
    "flip": lambda a, b: a.flip(1) * b + b.roll(1, 0),
    "permute": lambda a, b: a.reshape(5, 2, 3).permute(2, 0, 1).contiguous() * 1.5,
    "expand": lambda a, b: a[:, None].expand(5, 3, 6) * b[:, None],
    "repeat": lambda a, b: a.repeat(2, 3) * b.repeat_interleave(2, 0).repeat(1, 3),
    "tril": lambda a, b: a.tril() * b.triu(1),
    "diag": lambda a, b: torch.diag(a[0]) * b[0],
    "gelu": lambda a, b: F.gelu(a) * b,
    "gelu_tanh": lambda a, b: F.gelu(a, approximate="tanh"),
    "silu": lambda a, b: F.silu(a) * b,
    "layer_norm": lambda a, b: F.layer_norm(a, (6,), b[0], b[1]),
    "rms_norm": lambda a, b: F.rms_norm(a, (6,), b[0]),
    "linear": lambda a, b: F.linear(a, b, a[:, 0]),
    "cross_entropy": lambda a, b: F.cross_entropy(a, torch.tensor([0, 1, 2, -100, 5])),
    "smoothed": lambda a, b: F.cross_entropy(a, torch.tensor([0, 1, 2, 3, 5]), label_smoothing=0.1, reduction="sum"),
    "attention": lambda a, b: F.scaled_dot_product_attention(a[None], b[None], (a * b)[None], is_causal=True),
    "pad": lambda a, b: F.pad(a, (1, 2)) * 2,
}


def put(a, b):
    a[1:3] = b[:2]
    a[:, 0] += 1
    return a


def listed(t):
    return None if t is None else [list(t.shape), t.detach().double().reshape(-1).tolist()]


def computed(name, a, b, weights):
    """The value, and first and second gradients of it weighted."""
    f, found = FORMULAS[name], {}
    x, y = (torch.tensor(part).requires_grad_() for part in (a, b))
    out = f(x, y)
    found["value"] = [listed(out)]
    scale = torch.tensor(weights)[: out.numel()].reshape(out.shape)
    first = torch.autograd.grad((out * scale).sum(), (x, y), create_graph=True, allow_unused=True)
    found["first"] = [listed(g) for g in first]
    squares = sum((g**2).sum() for g in first if g is not None)
    second = torch.autograd.grad(squares, (x, y), allow_unused=True) if squares.requires_grad else (None, None)
    found["second"] = [listed(g) for g in second]
    for kind in (torch.float16, torch.bfloat16):
        found[str(kind)] = [listed(f(x.detach().to(kind), y.detach().to(kind)))]
    return found


def drawn():
    """Random numbers of every kind, after one seed."""
    torch.manual_seed(1)
    few = torch.Generator().manual_seed(7)
    made = [torch.randn(n) for n in (1000, 7, 17)] + [
        torch.randn(33, dtype=torch.float64),
        torch.rand(50),
        torch.rand(5).double(),
    ]
    made += [
        torch.randint(-5, 1000, (50,)),
        torch.randperm(50),
        torch.randn(32, dtype=torch.float16),
        torch.randint(0, 2**40, (5,)),
    ]
    made += [
        torch.empty(20).normal_(),
        torch.empty(20).uniform_(-1, 1),
        torch.empty(20).bernoulli_(0.3),
        torch.randn(3, generator=few),
    ]
    return [listed(t) for t in made]


PRINTED = [
    "torch.arange(10)",
    "torch.tensor([1.5, float('nan'), float('inf')])",
    "torch.ones(3, 4)",
    "torch.arange(2000).reshape(40, 50)",
    "torch.tensor([1e-7, 1.0])",
    "torch.tensor([1e9, 1.0])",
    "torch.tensor(3.25)",
    "torch.tensor([True, False])",
    "torch.empty(0)",
    "torch.zeros(2, 0)",
    "torch.arange(6).reshape(2, 3).to(torch.int32)",
    "torch.ones(2).bfloat16()",
    "torch.ones(2).requires_grad_()",
    "torch.ones(2).requires_grad_() * 2",
    "torch.arange(8).reshape(2, 2, 2) / 3",
    "torch.tensor([-1.0, 200.125])",
    "torch.Size([2, 3])",
    "torch.linspace(0, 1, 40)",
    "torch.ones(2).dtype",
    "torch.tensor([1, 2]).float().mean()",
    "torch.arange(4.0).max(0)[1]",
]
