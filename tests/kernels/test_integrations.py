"""kernels.integrations: a patched Llama computes what it did before, and is itself again afterwards."""

import sys
import warnings
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


class StandInTable(dict):
    """As `transformers` keeps the functions of attention: by names, to which any may be added."""

    register = dict.__setitem__


def sdpa(module, query, key, value, attention_mask, dropout=0.0, scaling=None, is_causal=None, **options):
    ran.append("sdpa")
    if options.get("softcap") is not None:
        raise ValueError("no softcap here")
    is_causal = attention_mask is None and query.shape[2] > 1 and module.is_causal
    key, value = (x.repeat_interleave(query.shape[1] // x.shape[1], 1) for x in (key, value))
    if is_causal:
        key, value = key[:, :, : query.shape[2]], value[:, :, : query.shape[2]]
    given = {"dropout_p": dropout, "is_causal": is_causal, "scale": scaling}
    return F.scaled_dot_product_attention(query, key, value, attention_mask, **given).transpose(1, 2), None


def sdpa_mask(length, padding):
    """None where causal says it all."""
    if padding is None:
        return None
    row = torch.arange(length, device=padding.device)
    return (row[:, None] >= row) & padding.bool()[:, None, None]


def create_causal_mask(config, length, padding):
    return ALL_MASK_ATTENTION_FUNCTIONS[config._attn_implementation](length, padding)


ALL_ATTENTION_FUNCTIONS, ALL_MASK_ATTENTION_FUNCTIONS = StandInTable(sdpa=sdpa), StandInTable(sdpa=sdpa_mask)
ran: list[str] = []  # by PyTorch's function, since it was emptied


class StandInAttention(torch.nn.Module):
    is_causal, dropout = True, 0.0

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.qkv = torch.nn.Linear(HIDDEN, (HEADS + 2) * WIDTH, bias=False)

    def forward(self, x, cos, sin, mask, **options):
        q, k, v = self.qkv(x).view(*x.shape[:2], HEADS + 2, WIDTH).transpose(1, 2).split((HEADS, 1, 1), 1)
        q, k = apply_rotary_pos_emb(q, k, cos, sin)
        attend = ALL_ATTENTION_FUNCTIONS[self.config._attn_implementation]
        options |= {"dropout": self.dropout if self.training else 0.0, "scaling": 0.3, "sliding_window": None}
        return attend(self, q, k, v, mask, **options)[0].flatten(2)


class StandInModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.config = SimpleNamespace(_attn_implementation="sdpa")
        self.embed_tokens = torch.nn.Embedding(CLASSES, HIDDEN)
        self.input_layernorm, self.post_attention_layernorm, self.norm = (StandInRMSNorm() for _ in range(3))
        self.self_attn, self.mlp = StandInAttention(self.config), StandInMLP()

    def forward(self, input_ids, attention_mask=None, **options):
        x = self.embed_tokens(input_ids)
        positions, steps = (torch.arange(count, device=x.device) for count in (input_ids.shape[1], 4))
        angles = torch.cat(2 * (positions[:, None] / 3**steps,), -1)[None]
        mask = create_causal_mask(self.config, input_ids.shape[1], attention_mask)
        tables = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        x = x + self.self_attn(self.input_layernorm(x), *tables, mask, **options)
        return self.norm(x + self.mlp(self.post_attention_layernorm(x)))


class Output(dict):
    loss = property(lambda self: self["loss"])
    logits = property(lambda self: self["logits"])


class StandInForCausalLM(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model, self.lm_head = StandInModel(), torch.nn.Linear(HIDDEN, CLASSES, bias=False)

    def forward(self, input_ids, labels=None, num_items_in_batch=None, return_dict=True, **options):
        logits, loss = self.lm_head(self.model(input_ids, **options)), None
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
        assert patch.counts == {"norms": 3, "mlps": 1, "rotations": 1, "attentions": 1, "losses": 1}
        ran.clear()
        found = trained(llama, **options)
        assert found[0]["logits"] is None and not ran
    assert_same_step(found, before)


@pytest.mark.parametrize("kind", ["norms", "mlp", "rotary", "attention", "loss"])
def test_each_part_alone(kind, llama):
    before = trained(llama)
    parts = dict.fromkeys(("norms", "mlp", "rotary", "attention", "loss"), False)
    with apply_kernels_to_llama(llama.model, **parts | {kind: True}) as patch:
        assert sum(count > 0 for count in patch.counts.values()) == 1
        assert (llama.model.model.config._attn_implementation == "blockwise") == (kind == "attention")
        assert_same_step(trained(llama), before)


def test_undone_everything_is_as_it_was(llama):
    rotation, before = apply_rotary_pos_emb, trained(llama)
    patch = apply_kernels_to_llama(llama.model)
    assert sys.modules[__name__].apply_rotary_pos_emb is not rotation
    patch.undo()
    assert sys.modules[__name__].apply_rotary_pos_emb is rotation
    assert not any("forward" in vars(module) for module in llama.model.modules())
    assert llama.model.model.config._attn_implementation == "sdpa"
    after = trained(llama)
    assert torch.equal(after[0]["loss"], before[0]["loss"]) and after[0]["logits"] is not None
    patch.undo()  # and once more changes nothing


def test_patched_twice_and_undone_in_reverse(llama):
    before = trained(llama)
    with apply_kernels_to_llama(llama.model):
        with apply_kernels_to_llama(llama.model) as second:
            assert second.counts["rotations"] == 0, "the function of the module is replaced once"
            assert second.counts["attentions"] == 0, "and so is a configuration's name"
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
    with apply_kernels_to_llama(llama.model, attention=False), pytest.raises(ValueError, match="softcap"):
        llama.model(llama.ids, labels=llama.labels, softcap=1.0)
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


def padded(llama) -> torch.Tensor:
    return (torch.arange(llama.ids.shape[1], device=llama.ids.device) >= 2).expand(llama.ids.shape)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda llama: {"attention_mask": padded(llama)}, "a mask, as for padding"),
        (lambda llama: setattr(llama.model.model.self_attn, "dropout", 1e-9), "dropout"),
        (lambda llama: {"position_bias": torch.zeros((), device=llama.ids.device)}, "position_bias"),
    ],
    ids=["mask", "dropout", "bias"],
)
def test_what_our_attention_has_not_pytorch_s_computes_and_a_warning_says_so(change, words, llama):
    options = change(llama) or {}
    before = trained(llama, **options)
    with apply_kernels_to_llama(llama.model), pytest.warns(UserWarning, match=f"^attention: .* does not: {words}"):
        ran.clear()
        found = trained(llama, **options)
    assert ran == ["sdpa"]
    kept = [torch.nan_to_num(gradient) for gradient in before[1]]  # a padded row has no open key
    assert_same_step((found[0], [torch.nan_to_num(gradient) for gradient in found[1]]), (before[0], kept))


@pytest.mark.parametrize("tokens", [1, 4])
def test_tokens_after_others_and_room_behind_them(tokens, device):
    """A single token sees all keys; a prompt in a cache with room for more sees none of that room."""
    q, k, v = (random(2, heads, length, 8, device=device) for heads, length in ((4, tokens), (2, 9), (2, 9)))
    module = SimpleNamespace(is_causal=True)
    with apply_kernels_to_llama(StandInForCausalLM().to(device)):
        found, expected = (ALL_ATTENTION_FUNCTIONS[name](module, q, k, v, None)[0] for name in ("blockwise", "sdpa"))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    assert found.shape == (2, tokens, 4, 8) and found.is_contiguous()


def test_attention_that_is_not_causal_and_several_dtypes(device):
    q, k, v = (random(1, 2, 5, 8, device=device, seed=seed) for seed in (1, 2, 3))
    with apply_kernels_to_llama(StandInForCausalLM().to(device)):
        ours = ALL_ATTENTION_FUNCTIONS["blockwise"]
    found = ours(SimpleNamespace(is_causal=False), q, k, v, None)[0]
    torch.testing.assert_close(found, F.scaled_dot_product_attention(q, k, v).transpose(1, 2), rtol=1e-5, atol=1e-5)
    again = ours(SimpleNamespace(is_causal=True), q, k, v, None, is_causal=False)[0]
    assert torch.equal(again, found), "what the call says comes first"
    with pytest.warns(UserWarning, match="of several dtypes"), pytest.raises(RuntimeError):
        ours(SimpleNamespace(is_causal=False), q.double(), k, v, None)


def test_where_attention_is_not_chosen_by_name_it_stays(llama, monkeypatch):
    kept = dict.fromkeys(("norms", "attention"), True)
    with monkeypatch.context() as patched:
        patched.delitem(ALL_MASK_ATTENTION_FUNCTIONS, "sdpa")  # no masks like these, so padding might be lost
        assert apply_kernels_to_llama(llama.model, **kept).counts["attentions"] == 0
    llama.model._supports_sdpa = False
    assert apply_kernels_to_llama(llama.model, **kept).counts["attentions"] == 0
    assert llama.model.model.config._attn_implementation == "sdpa"


@needs_package("package transformers")
def test_a_llama_of_transformers(device):
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=101, num_hidden_layers=2, **sizes)).to(device).train()
    ids = torch.randint(0, 101, (2, 9)).to(device)
    given = SimpleNamespace(model=model, ids=ids, labels=ids)
    before, counted = trained(given), trained(given, num_items_in_batch=torch.tensor(7, device=device))
    padding = torch.ones_like(ids)
    padding[0, :4] = 0
    model.eval()
    tokens = {"max_new_tokens": 2, "do_sample": False, "pad_token_id": 0}
    plain, left = model.generate(ids, **tokens), model.generate(ids, attention_mask=padding, **tokens)
    model.train()
    with apply_kernels_to_llama(model) as patch, warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # nothing here asks for PyTorch's attention
        assert patch.counts == {"norms": 5, "mlps": 2, "rotations": 1, "attentions": 2, "losses": 1}
        assert_same_step(trained(given), before)
        assert_same_step(trained(given, num_items_in_batch=torch.tensor(7, device=device)), counted)
        model.eval()
        assert model(ids, labels=ids).logits.shape == (2, 9, 101)
        assert torch.equal(model.generate(ids, **tokens), plain)
        with pytest.warns(UserWarning, match="a mask, as for padding"):
            assert torch.equal(model.generate(ids, attention_mask=padding, **tokens), left)
        assert model.config._attn_implementation == "blockwise"
    model.train()
    assert model.config._attn_implementation == "sdpa"
    assert torch.equal(trained(given)[0].loss, before[0].loss)
