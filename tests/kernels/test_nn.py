"""kernels.nn: PyTorch's modules with the library's functions inside."""

import pytest
import torch

from kernels.nn import CrossEntropyLoss, GroupNorm, LayerNorm, LinearCrossEntropyLoss, RMSNorm, SelfAttention, SwiGLU
from tests.kernels.numerics import random

PAIRS = [
    (LayerNorm, torch.nn.LayerNorm, (24,), {}),
    (LayerNorm, torch.nn.LayerNorm, ([3, 24],), {"eps": 1e-3}),
    (LayerNorm, torch.nn.LayerNorm, (24,), {"bias": False}),
    (LayerNorm, torch.nn.LayerNorm, ([3, 24],), {"elementwise_affine": False}),
    (GroupNorm, torch.nn.GroupNorm, (1, 3), {}),
    (RMSNorm, torch.nn.RMSNorm, (24,), {}),
    (RMSNorm, torch.nn.RMSNorm, ([3, 24],), {"eps": 1e-3}),
    (RMSNorm, torch.nn.RMSNorm, (24,), {"elementwise_affine": False}),
]


def filled(module: torch.nn.Module, device: str) -> torch.nn.Module:
    """With parameters that are not all alike."""
    for number, parameter in enumerate(module.parameters()):
        parameter.data = random(*parameter.shape, seed=number + 5)
    return module.to(device)


def assert_alike(ours, theirs, *given):
    """Results and gradients, of what is given and of the parameters."""
    leaves = [tensor for tensor in given if tensor.requires_grad]
    results = [module(*given) for module in (ours, theirs)]
    torch.testing.assert_close(*results, rtol=1e-5, atol=1e-5)
    dy = random(*results[0].shape, device=str(results[0].device), seed=9)
    pairs = zip((ours, theirs), results, strict=True)
    found, expected = (torch.autograd.grad(result, [*leaves, *module.parameters()], dy) for module, result in pairs)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("ours", "theirs", "arguments", "options"), PAIRS)
def test_norms_take_pytorch_s_arguments_and_weights(ours, theirs, arguments, options, device):
    peer = filled(theirs(*arguments, **options), device)
    module = ours(*arguments, **options).to(device)
    module.load_state_dict(peer.state_dict())
    assert isinstance(module, theirs) and repr(module) == repr(peer)
    assert_alike(module, peer, random(2, 3, 24, device=device).requires_grad_())


@pytest.mark.parametrize("options", [{}, {"ignore_index": 3}, {"reduction": "sum"}, {"reduction": "none"}])
def test_cross_entropy(options, device):
    logits, target = random(7, 11, device=device).requires_grad_(), (torch.arange(7) % 5).to(device)
    assert_alike(CrossEntropyLoss(**options), torch.nn.CrossEntropyLoss(**options), logits, target)


def test_cross_entropy_refuses_what_the_function_has_not():
    with pytest.raises(ValueError, match=r"^weight: expected None, .* got a tensor$"):
        CrossEntropyLoss(torch.ones(3))
    with pytest.raises(ValueError, match=r"^label_smoothing: expected 0.0, .* got 0.1$"):
        CrossEntropyLoss(label_smoothing=0.1)


class HeadAndLoss(torch.nn.Module):
    def __init__(self, head: torch.nn.Linear, **options):
        super().__init__()
        self.head, self.loss = head, torch.nn.CrossEntropyLoss(**options)

    def forward(self, x, target):
        return self.loss(self.head(x), target)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("options", [{}, {"ignore_index": 3}, {"reduction": "sum", "label_smoothing": 0.1}])
def test_a_head_and_its_loss(options, bias, device):
    head = filled(torch.nn.Linear(8, 11, bias), device)
    module = LinearCrossEntropyLoss(8, 11, bias, chunk_rows=3, **options).to(device)
    module.load_state_dict(head.state_dict())
    x, target = random(7, 8, device=device).requires_grad_(), (torch.arange(7) % 5).to(device)
    assert_alike(module, HeadAndLoss(head, **options), x, target)
    torch.testing.assert_close(module.logits(x), head(x))


class PlainSwiGLU(SwiGLU):
    def forward(self, x):
        return self.down_proj(torch.nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


@pytest.mark.parametrize("arguments", [(8, 12), (8, 12, 5), (8, 12, None, True)], ids=str)
def test_swiglu(arguments, device):
    peer = filled(PlainSwiGLU(*arguments), device)
    module = SwiGLU(*arguments).to(device)
    module.load_state_dict(peer.state_dict())
    assert set(module.state_dict()) >= {"gate_proj.weight", "up_proj.weight", "down_proj.weight"}
    assert_alike(module, peer, random(2, 3, 8, device=device).requires_grad_())


def test_modules_are_operators_in_a_graph(device):
    model = torch.nn.Sequential(RMSNorm(8), SwiGLU(8, 12), LayerNorm(8)).to(device)
    x = random(3, 8, device=device)
    names = []

    def look(graph, _):
        names.extend(str(node.target) for node in graph.graph.nodes)
        return graph.forward

    compiled = torch.compile(model, fullgraph=True, backend=look)
    torch.testing.assert_close(compiled(x), model(x))
    assert sum("blockwise" in name for name in names) == 3


def test_modules_give_shapes_on_the_meta_device():
    x, classes = torch.empty(2, 6, 32, device="meta"), torch.empty(2, 6, dtype=torch.int64, device="meta")
    with torch.device("meta"):
        model = torch.nn.Sequential(RMSNorm(32), SelfAttention(32, 4, 2), LayerNorm(32), SwiGLU(32, 48), GroupNorm(2, 6))
        head = LinearCrossEntropyLoss(32, 11)
        y = model(x)
        (head(y, classes) + CrossEntropyLoss()(y.flatten(0, 1), classes.flatten())).backward()
    assert (y.shape, y.is_meta) == (x.shape, True)
    for parameter in (*model.parameters(), *head.parameters()):
        assert parameter.grad.shape == parameter.shape and parameter.grad.is_meta
