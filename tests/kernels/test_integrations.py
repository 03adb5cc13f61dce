"""kernels.integrations: a patched Llama computes what it did before, and is itself again afterwards."""

import sys
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

from kernels.integrations import apply_kernels_to_llama
from tests.kernels.numerics import random
from tests.needs import needs_package

CLASSES, HIDDEN, HEADS, WIDTH = 37, 16, 2, 8


# A Llama as `transformers` spells it: the names of its parts, and a rotation that is a function of this module.


def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    turned = (torch.cat((-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]), -1) for x in (q, k))
    return tuple(x * cos + other * sin for x, other in zip((q, k), turned, strict=True))


class StandInRMSNorm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.variance_epsilon = torch.nn.Parameter(torch.ones(HIDDEN)), 1e-5

    def forward(self, hidden_states):
        return F.rms_norm(hidden_states, (HIDDEN,), self.weight, self.variance_epsilon)


class StandInMLP(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj, self.up_proj = (torch.nn.Linear(HIDDEN, 24, bias=False) for _ in range(2))
        self.down_proj, self.act_fn = torch.nn.Linear(24, HIDDEN, bias=False), torch.nn.SiLU()

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class StandInAttention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(HIDDEN, 3 * HEADS * WIDTH, bias=False)

    def forward(self, x, cos, sin):
        q, k, v = self.qkv(x).view(*x.shape[:2], 3 * HEADS, WIDTH).transpose(1, 2).chunk(3, 1)
        q, k = apply_rotary_pos_emb(q, k, cos, sin)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)


class StandInModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = torch.nn.Embedding(CLASSES, HIDDEN)
        self.input_layernorm, self.post_attention_layernorm, self.norm = (StandInRMSNorm() for _ in range(3))
        self.self_attn, self.mlp = StandInAttention(), StandInMLP()

    def forward(self, input_ids):
        x = self.embed_tokens(input_ids)
        positions, steps = (torch.arange(count, device=x.device) for count in (input_ids.shape[1], 4))
        angles = torch.cat(2 * (positions[:, None] / 3**steps,), -1)[None]
        x = x + self.self_attn(self.input_layernorm(x), angles.cos().to(x.dtype), angles.sin().to(x.dtype))
        return self.norm(x + self.mlp(self.post_attention_layernorm(x)))


class Output(dict):
    loss = property(lambda self: self["loss"])
    logits = property(lambda self: self["logits"])


class StandInForCausalLM(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model, self.lm_head = StandInModel(), torch.nn.Linear(HIDDEN, CLASSES, bias=False)

    def forward(self, input_ids, labels=None, num_items_in_batch=None, return_dict=True):
        logits, loss = self.lm_head(self.model(input_ids)), None
        if labels is not None:
            wanted, reduction = F.pad(labels, (0, 1), value=-100)[:, 1:].flatten(), "sum" if num_items_in_batch else "mean"
            loss = F.cross_entropy(logits.float().flatten(0, 1), wanted, reduction=reduction) / (num_items_in_batch or 1)
        return Output(loss=loss, logits=logits) if return_dict else (loss, logits)


@pytest.fixture
def llama(device):
    torch.manual_seed(0)
    model = StandInForCausalLM().to(device)
    ids = torch.randint(0, CLASSES, (2, 9)).to(device)
    labels = ids.clone()
    labels[0, :3] = -100
    return SimpleNamespace(model=model, ids=ids, labels=labels)


def trained(llama, **options):
    """The loss and the gradients of one step."""
    output = llama.model(input_ids=llama.ids, labels=llama.labels, **options)
    return output, torch.autograd.grad(output["loss"], list(llama.model.parameters()))


def assert_same_step(found, expected, rtol=1e-4, atol=1e-5):
    torch.testing.assert_close(found[0]["loss"], expected[0]["loss"], rtol=rtol, atol=atol)
    for one, other in zip(found[1], expected[1], strict=True):
        torch.testing.assert_close(one, other, rtol=rtol, atol=atol)


@pytest.mark.parametrize("options", [{}, {"num_items_in_batch": 7}], ids=str)
def test_a_patched_model_computes_the_same(options, llama):
    before = trained(llama, **options)
    with apply_kernels_to_llama(llama.model) as patch:
        assert patch.counts == {"norms": 3, "mlps": 1, "rotations": 1, "losses": 1}
        found = trained(llama, **options)
        assert found[0]["logits"] is None
    assert_same_step(found, before)


@pytest.mark.parametrize("kind", ["norms", "mlp", "rotary", "loss"])
def test_each_part_alone(kind, llama):
    before = trained(llama)
    parts = dict.fromkeys(("norms", "mlp", "rotary", "loss"), False)
    with apply_kernels_to_llama(llama.model, **parts | {kind: True}) as patch:
        assert sum(count > 0 for count in patch.counts.values()) == 1
        assert_same_step(trained(llama), before)


def test_undone_everything_is_as_it_was(llama):
    rotation, before = apply_rotary_pos_emb, trained(llama)
    patch = apply_kernels_to_llama(llama.model)
    assert sys.modules[__name__].apply_rotary_pos_emb is not rotation
    patch.undo()
    assert sys.modules[__name__].apply_rotary_pos_emb is rotation
    assert not any("forward" in vars(module) for module in llama.model.modules())
    after = trained(llama)
    assert torch.equal(after[0]["loss"], before[0]["loss"]) and after[0]["logits"] is not None
    patch.undo()  # and once more changes nothing


def test_patched_twice_and_undone_in_reverse(llama):
    before = trained(llama)
    with apply_kernels_to_llama(llama.model):
        with apply_kernels_to_llama(llama.model) as second:
            assert second.counts["rotations"] == 0, "the function of the module is replaced once"
            assert_same_step(trained(llama), before)
        assert_same_step(trained(llama), before)
    assert not any("forward" in vars(module) for module in llama.model.modules())


def test_who_evaluates_gets_logits(llama):
    llama.model.eval()
    expected = llama.model(llama.ids, labels=llama.labels)
    with apply_kernels_to_llama(llama.model):
        found = llama.model(llama.ids, labels=llama.labels)
        torch.testing.assert_close(found.logits, expected.logits, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(found.loss, expected.loss)
        llama.model.train()
        assert llama.model(llama.ids).logits is not None, "without labels there is no loss"
        assert llama.model(llama.ids, labels=llama.labels, return_dict=False)[1] is not None


def test_an_error_on_the_way_leaves_the_head_alone(llama):
    with apply_kernels_to_llama(llama.model), pytest.raises(TypeError, match="unexpected keyword"):
        llama.model(llama.ids, labels=llama.labels, nonsense=1)
    assert "forward" not in vars(llama.model.lm_head)


def test_a_loss_in_float32_of_a_model_in_bfloat16(llama):
    llama.model.bfloat16()
    before = trained(llama)
    with apply_kernels_to_llama(llama.model):
        found = trained(llama)
    assert found[0]["loss"].dtype == torch.float32
    assert_same_step(found, before, rtol=0.1, atol=0.02)


def test_a_rotation_that_is_asked_for_in_another_way_is_the_model_s_own(device):
    q, k = (random(1, 5, 2, 8, device=device, seed=seed) for seed in (1, 2))
    table = random(1, 5, 8, device=device)
    with apply_kernels_to_llama(StandInForCausalLM()):
        found = sys.modules[__name__].apply_rotary_pos_emb(q, k, table, table, 2)  # tokens before heads
    expected = apply_rotary_pos_emb(q, k, table, table, 2)
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


def test_other_models_are_refused():
    with pytest.raises(TypeError, match=r"^model: expected a torch.nn.Module, got list$"):
        apply_kernels_to_llama([])
    with pytest.raises(ValueError, match=r"^model: expected a Llama or one of its relatives, got Linear without a known part$"):
        apply_kernels_to_llama(torch.nn.Linear(2, 2))


@needs_package("package transformers")
def test_a_llama_of_transformers(device):
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=101, num_hidden_layers=2, **sizes)).to(device).train()
    ids = torch.randint(0, 101, (2, 9)).to(device)
    given = SimpleNamespace(model=model, ids=ids, labels=ids)
    before, counted = trained(given), trained(given, num_items_in_batch=torch.tensor(7, device=device))
    with apply_kernels_to_llama(model) as patch:
        assert patch.counts == {"norms": 5, "mlps": 2, "rotations": 1, "losses": 1}
        assert_same_step(trained(given), before)
        assert_same_step(trained(given, num_items_in_batch=torch.tensor(7, device=device)), counted)
        model.eval()
        assert model(ids, labels=ids).logits.shape == (2, 9, 101)
        assert model.generate(ids, max_new_tokens=3, do_sample=False).shape == (2, 12)
    model.train()
    assert torch.equal(trained(given)[0].loss, before[0].loss)
