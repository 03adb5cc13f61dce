"""kernels.nn: attention as a module, its rotation and its cache, against plain PyTorch in float64 and against transformers."""

import copy
import math
import os
import subprocess
import sys

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from kernels.nn import KeyValueCache, RotaryPositionEmbedding, SelfAttention
from kernels.nn.rotary import LLAMA3
from scripts.provenance.records import ROOT
from tests.kernels.numerics import random
from tests.needs import needs_package

LONGER = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LONGER |= {"original_max_position_embeddings": 64, "rope_theta": 500.0}


def frequencies(width: int, base: float, scaling: dict | None = None) -> torch.Tensor:
    """The angle a position, of each pair of a head: as the definition has it, a pair at a time."""
    found = []
    for pair in range(width // 2):
        each = base ** (-2 * pair / width)
        if scaling:
            factor, low, high, original = (scaling[name] for name in LLAMA3)
            wave = 2 * math.pi / each
            blend = (original / wave - low) / (high - low)
            stretched = (1 - blend) * each / factor + blend * each
            each = each / factor if wave > original / low else each if wave < original / high else stretched
        found.append(each)
    return torch.tensor(found, dtype=torch.float64)


def turned(x: torch.Tensor, positions: torch.Tensor, each: torch.Tensor) -> torch.Tensor:
    """A head's halves as the real and the imaginary part of numbers that are multiplied by exp(i angle)."""
    half = x.shape[-1] // 2
    angles = positions.double()[..., None] * each.to(x.device)
    angles = angles[:, None] if angles.ndim == 3 else angles
    pairs = torch.complex(x[..., :half].double(), x[..., half:].double()) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat((pairs.real, pairs.imag), -1)


class Plain(torch.nn.Module):
    """The layer in float64, with a matrix of scores and a mask."""

    def __init__(self, layer: SelfAttention):
        super().__init__()
        self.layer = copy.deepcopy(layer).double()

    def forward(self, x, positions=None):
        layer, x = self.layer, x.double()
        width, length = layer.head_dim, x.shape[1]
        q, k, v = (p(x).unflatten(-1, (-1, width)).transpose(1, 2) for p in (layer.q_proj, layer.k_proj, layer.v_proj))
        if layer.rotary is not None:
            positions = torch.arange(length, device=x.device) if positions is None else positions
            q, k = (turned(each, positions, frequencies(width, layer.rotary.base)) for each in (q, k))
        k, v = (each.repeat_interleave(layer.heads // layer.kv_heads, 1) for each in (k, v))
        row = torch.arange(length, device=x.device)
        before = row[:, None] - row
        seen = (before >= 0) & (before < (layer.window or length)) if layer.is_causal else before == before
        scores = (q @ k.mT / math.sqrt(width)).masked_fill(~seen, -torch.inf)
        return layer.o_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


def filled(layer: SelfAttention, device: str) -> SelfAttention:
    for number, parameter in enumerate(layer.parameters()):
        parameter.data = random(*parameter.shape, seed=number + 5) / 4
    return layer.to(device)


LAYERS = [
    {},
    {"kv_heads": 2, "rotary": True},
    {"kv_heads": 1, "head_dim": 6, "bias": True, "rotary": True},
    {"is_causal": False},
    {"kv_heads": 2, "window": 3, "rotary": True},
]


def made(options: dict, device: str) -> SelfAttention:
    options = dict(options)
    if options.pop("rotary", False):
        options["rotary"] = RotaryPositionEmbedding(options.get("head_dim", 8), base=100.0)
    return filled(SelfAttention(32, 4, **options), device)


@pytest.mark.parametrize("options", LAYERS, ids=str)
def test_results_and_gradients_are_those_of_plain_attention(options, device):
    layer = made(options, device)
    plain, x = Plain(layer), random(2, 7, 32, device=device).requires_grad_()
    found, expected = layer(x), plain(x)
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
    dy = random(*found.shape, device=device, seed=9)
    gradients = torch.autograd.grad(found, [x, *layer.parameters()], dy)
    wanted = torch.autograd.grad(expected, [x, *plain.parameters()], dy.double())
    for one, other in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(one.double(), other.double(), rtol=1e-4, atol=1e-4)


def test_positions_that_do_not_follow_on_each_other(device):
    layer, x = made({"rotary": True}, device), random(2, 5, 32, device=device)
    for positions in (torch.tensor([0, 1, 2, 0, 1]), torch.tensor([[3, 4, 5, 6, 7], [9, 0, 1, 2, 30]])):
        positions = positions.to(device)
        found = layer(x, positions=positions)
        torch.testing.assert_close(found.double(), Plain(layer)(x, positions), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("options", [LAYERS[1], LAYERS[4]], ids=str)
@pytest.mark.parametrize("capacity", [None, 12])
@pytest.mark.parametrize("steps", [[1, 1, 1, 8], [5, 1, 1, 4]], ids=str)
@torch.no_grad()
def test_step_by_step_is_the_whole_pass(options, capacity, steps, device):
    layer, x = made(options, device), random(2, 11, 32, device=device)
    cache, out = KeyValueCache(capacity), []
    for part in x.split(steps, 1):
        out.append(layer(part, cache=cache))
    torch.testing.assert_close(torch.cat(out, 1), layer(x), rtol=1e-5, atol=1e-5)
    assert cache.length == 11
    cache.clear()
    again = layer(x[:, :4], cache=cache)
    torch.testing.assert_close(again, torch.cat(out, 1)[:, :4], rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_a_step_over_as_many_keys_as_are_split_over_programs(device):
    layer, x = made(LAYERS[1], device), random(1, 520, 32, device=device)
    cache = KeyValueCache()
    layer(x[:, :519], cache=cache)
    torch.testing.assert_close(layer(x[:, 519:], cache=cache).double(), Plain(layer)(x)[:, 519:], rtol=1e-5, atol=1e-5)


def test_a_cache_grows_and_keeps_what_it_has(device):
    cache, parts = KeyValueCache(), [random(1, 2, count, 4, device=device, seed=count) for count in (3, 254, 600)]
    rooms = []
    for part in parts:
        keys, values = cache.append(part, -part)
        rooms.append(cache.held[0].shape[2])
    assert rooms == [256, 512, 1024] and cache.length == 857
    assert torch.equal(keys, torch.cat(parts, 2)) and torch.equal(values, -keys)


def test_what_a_cache_refuses(device):
    new = random(1, 2, 3, 4, device=device)
    cache = KeyValueCache(5)
    cache.append(new, new)
    with pytest.raises(ValueError, match=r"^cache: expected at most 5 tokens, got 6$"):
        cache.append(new, new)
    assert cache.length == 3, "and nothing was taken in"
    with pytest.raises(ValueError, match=r"^cache: expected keys that need no gradient, .*; use torch.no_grad\(\)$"):
        cache.append(new.clone().requires_grad_(), new)
    with pytest.raises(ValueError, match=r"^cache: expected keys of \[1, 2, 4\] .* got \[2, 2, 4\]$"):
        cache.append(*2 * [random(2, 2, 1, 4, device=device)])
    cache.clear()
    assert cache.append(*2 * [random(2, 2, 1, 4, device=device)])[0].shape == (2, 2, 1, 4), "an empty one takes others"
    layer = made({"is_causal": False}, device)
    with torch.no_grad(), pytest.raises(ValueError, match="^cache: expected a causal attention"):
        layer(random(1, 2, 32, device=device), cache=KeyValueCache())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kv_heads": 3}, r"^kv_heads: expected a number that divides the 4 heads, got 3$"),
        ({"window": 0}, r"^window: expected a number from 1 on, .* got 0$"),
        ({"window": 2, "is_causal": False}, "^window: expected a number from 1 on, of a causal attention"),
        ({"rotary": RotaryPositionEmbedding(6)}, r"^rotary: expected one for heads of 8, got one for 6$"),
    ],
)
def test_heads_and_windows_that_do_not_fit(options, words):
    with pytest.raises(ValueError, match=words):
        SelfAttention(32, 4, **options)
    with pytest.raises(ValueError, match=r"^heads: expected a number that divides the 32 features, or a head_dim, got 5$"):
        SelfAttention(32, 5)


def test_weights_are_named_as_in_llama(device):
    layer = made(LAYERS[2], device)
    names = [f"{part}_proj.{kind}" for part in "qkvo" for kind in ("weight", "bias")]
    assert list(layer.state_dict()) == names, "tables are not saved"


@pytest.mark.parametrize("scaling", [None, LONGER], ids=["plain", "llama3"])
def test_tables_are_those_of_the_definition(scaling, device):
    rotary = RotaryPositionEmbedding(16, None if scaling else 500.0, scaling=scaling, length=3).to(device)
    each = frequencies(16, 500.0, scaling)
    if scaling:
        ratio = frequencies(16, 500.0) / each
        assert ratio[0] == 1 and ratio[-1] == 8 and any(1 < number < 8 for number in ratio), "all three cases are there"
    q, k = random(1, 2, 200, 16, device=device), random(1, 1, 200, 16, device=device, seed=2)
    at = torch.arange(40, 240, device=device)
    for found in (rotary(q, k, start=40), rotary(q, k, positions=at)):
        for one, x in zip(found, (q, k), strict=True):
            torch.testing.assert_close(one.double(), turned(x, at, each), rtol=1e-5, atol=1e-5)
    assert len(rotary.cos) == 240, "they grew"


def from_meta(module: torch.nn.Module) -> torch.nn.Module:
    return module.to("meta").to_empty(device="cpu")


@pytest.mark.parametrize("change", [torch.nn.Module.bfloat16, from_meta])
def test_tables_stay_whole_in_float32(change):
    rotary = RotaryPositionEmbedding(8, length=50)
    before = rotary.cos.clone()
    changed = change(rotary)
    assert changed.cos.dtype == torch.float32 and torch.equal(changed.cos, before)


@pytest.mark.parametrize("length", [0, 16])
def test_tables_of_a_module_from_meta_lie_where_its_assigned_weights_do(length, device):
    def layer(where):
        return SelfAttention(32, 4, rotary=RotaryPositionEmbedding(8, length=length, device=where), device=where)

    loaded, saved, x = layer("meta"), layer(device), random(2, 6, 32, device=device)
    loaded.load_state_dict(saved.state_dict(), assign=True)
    assert torch.equal(loaded(x), saved(x))


def test_tables_made_of_fakes_do_not_stay(device, monkeypatch):
    rotary, q = RotaryPositionEmbedding(8, device=device), random(1, 1, 4, 8, device=device)
    with FakeTensorMode() as mode, monkeypatch.context() as without_a_kernel:  # a GPU would read from the address of a fake
        without_a_kernel.setattr("kernels.nn.rotary.public_rotary_embedding", lambda q, k, cos, sin: (q, k))
        rotary(mode.from_tensor(q), mode.from_tensor(q))
    assert type(rotary.cos) is torch.Tensor and len(rotary.cos) == 0
    assert torch.isfinite(rotary(q, q)[0]).all()


def test_tables_made_in_inference_serve_a_training(device):
    layer, x = made(LAYERS[1], device), random(1, 5, 32, device=device)
    with torch.inference_mode():
        layer(x)
    layer(x).sum().backward()
    assert layer.q_proj.weight.grad is not None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(dtype, device):
    layer, x = made(LAYERS[1], device).to(dtype), random(2, 9, 32, device=device, dtype=dtype)
    found = layer(x)
    assert found.dtype == dtype
    error = (found.double() - Plain(layer)(x)).norm() / Plain(layer)(x).norm()
    assert error < 4 * torch.finfo(dtype).eps


def test_what_rotary_refuses():
    with pytest.raises(ValueError, match=r"^head_dim: expected an even number from 2 on, got 7$"):
        RotaryPositionEmbedding(7)
    with pytest.raises(ValueError, match=r"^scaling: expected the rope_type 'default' or 'llama3', got 'yarn'$"):
        RotaryPositionEmbedding(8, scaling={"rope_type": "yarn"})
    with pytest.raises(ValueError, match=r"^scaling: expected factor, .* got none of the name high_freq_factor$"):
        RotaryPositionEmbedding(8, scaling={name: value for name, value in LONGER.items() if name != "high_freq_factor"})
    q = torch.ones(1, 1, 5, 8)
    with pytest.raises(ValueError, match=r"^q: expected heads of 16 numbers, got shape \(1, 1, 5, 8\)$"):
        RotaryPositionEmbedding(16)(q, q)
    with pytest.raises(ValueError, match=r"^start: expected a number from 0 on, got -7$"):
        RotaryPositionEmbedding(8, length=10)(q, q, start=-7)


def test_in_a_graph_it_is_two_operators(device):
    layer, x = made(LAYERS[1], device), random(2, 5, 32, device=device).requires_grad_()
    names = []

    def look(graph, _):
        names.extend(str(node.target) for node in graph.graph.nodes)
        return graph.forward

    compiled = torch.compile(layer, fullgraph=True, backend=look)
    found, expected = compiled(x), layer(x)
    torch.testing.assert_close(found, expected)
    ours = [name.split(".")[1] for name in names if name.startswith("blockwise")]
    assert ours == ["rotary_embedding", "attention"]
    assert all(torch.isfinite(each).all() for each in torch.autograd.grad(found.sum(), [x, *layer.parameters()]))


@torch.no_grad()
def test_decoding_in_a_graph(device):
    layer, x = made(LAYERS[1], device), random(1, 9, 32, device=device)
    compiled = torch.compile(layer, fullgraph=True, backend="eager", dynamic=True)
    cache = KeyValueCache(16)
    found = torch.cat([compiled(part, cache=cache) for part in x.split([3, 1, 1, 1, 1, 1, 1], 1)], 1)
    torch.testing.assert_close(found, layer(x), rtol=1e-5, atol=1e-5)


COMPILED = """
from dataclasses import replace
from scripts.compile import TARGETS, measured
from scripts.launches.rope import turned
for dtype in ("fp16", "bf16"):
    for width in (64, 96, 128):
        made = turned(dtype, width, False, False)
        made = replace(made, arguments=made.arguments | {"cos_ptr": "*fp32", "sin_ptr": "*fp32"})
        for target in TARGETS:
            found = measured(made, target)
            assert found["spill_bytes"] == 0 and found["registers"] <= made.registers, (dtype, width, target, found)
print("compiled")
"""


def test_heads_of_half_precision_with_tables_in_float32_compile():
    """The library's specimens have tables of the heads' dtype; in a process of its own, where the interpreter is off."""
    variables = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"} | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", COMPILED], cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.stdout == "compiled\n", done.stderr


@needs_package("package transformers")
@pytest.mark.parametrize("scaling", [None, LONGER], ids=["plain", "llama3"])
def test_weights_of_transformers_fit_and_give_the_same(scaling, device):
    from transformers import LlamaConfig, LlamaModel

    torch.manual_seed(0)
    rope = scaling or {"rope_type": "default", "rope_theta": 500.0}
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2}
    before_5 = {"rope_theta": 500.0, "rope_scaling": scaling}
    given = {"rope_parameters": rope} if hasattr(LlamaConfig(), "rope_parameters") else before_5
    config = LlamaConfig(vocab_size=11, num_hidden_layers=1, max_position_embeddings=512, **sizes, **given)
    model = LlamaModel(config).to(device)
    theirs, x = model.layers[0].self_attn, random(2, 90, 32, device=device)
    tables = model.rotary_emb(x, torch.arange(90, device=device)[None])
    ours = SelfAttention(32, 4, 2, rotary=RotaryPositionEmbedding(8, scaling=rope)).to(device)
    ours.load_state_dict(theirs.state_dict())
    expected = theirs(x, position_embeddings=tables, attention_mask=None)[0]
    torch.testing.assert_close(ours(x), expected, rtol=1e-4, atol=1e-5)
