"""The pattern with x * exp(-|x|) in it and, on a GPU, a small transformer that is trained with it and with kernels.softmax."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:triton]
import triton
import triton.language as tl
# --8<-- [end:triton]

from kernels.tools.benchmark import keep
from kernels.softmax import softmax


# --8<-- [start:second_op]
@triton.jit
def wave_forward_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(y_ptr + offsets, x * tl.exp(-tl.abs(x)), mask=mask)


@triton.jit
def wave_backward_kernel(x_ptr, dy_ptr, dx_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    dy = tl.load(dy_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(dx_ptr + offsets, dy * tl.exp(-tl.abs(x)) * (1 - tl.abs(x)), mask=mask)


class Wave(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        ctx.save_for_backward(x)
        grid = (triton.cdiv(x.numel(), 1024),)
        wave_forward_kernel[grid](x, y, x.numel(), BLOCK=1024)
        return y

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        if torch.is_grad_enabled():  # somebody differentiates this gradient in turn
            return dy * torch.exp(-x.abs()) * (1 - x.abs())
        dy, dx = dy.contiguous(), torch.empty_like(x)
        grid = (triton.cdiv(x.numel(), 1024),)
        wave_backward_kernel[grid](x, dy, dx, x.numel(), BLOCK=1024)
        return dx


def wave(x):
    return Wave.apply(x.contiguous())
# --8<-- [end:second_op]


# --8<-- [start:check]
def wave_reference(x):
    return x * torch.exp(-x.abs())


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(50, 60, device=device, requires_grad=True)
dy = torch.randn(60, 50, device=device).T
torch.testing.assert_close(wave(x), wave_reference(x))
(ours,) = torch.autograd.grad(wave(x), x, dy)
(theirs,) = torch.autograd.grad(wave_reference(x), x, dy)
torch.testing.assert_close(ours, theirs)
print("value and gradient agree")
#> value and gradient agree
# --8<-- [end:check]


# --8<-- [start:model]
class Block(torch.nn.Module):
    def __init__(self, width, heads, softmax, wave):
        super().__init__()
        self.heads, self.softmax, self.wave = heads, softmax, wave
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(2))

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)  # each [batch, heads, length, head]
        scores = q @ k.mT / q.shape[-1] ** 0.5
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        mixed = self.softmax(scores.masked_fill(later, -torch.inf)) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(self.wave(self.up(self.norms[1](x))))


class Model(torch.nn.Module):
    def __init__(self, softmax, wave, symbols=32, length=64, width=64):
        super().__init__()
        self.embed = torch.nn.Embedding(symbols, width)
        self.place = torch.nn.Parameter(torch.randn(length, width) / 10)
        blocks = [Block(width, 4, softmax, wave) for _ in range(2)]
        self.body = torch.nn.Sequential(*blocks, torch.nn.Linear(width, symbols))

    def forward(self, tokens):
        return self.body(self.embed(tokens) + self.place)
# --8<-- [end:model]


# --8<-- [start:train]
def batches(steps, symbols=32, length=65):
    """The next symbol follows from the last, or is that of eight back, or is random."""
    generator = torch.Generator().manual_seed(1)
    follows = torch.randint(symbols, (symbols,), generator=generator)
    for _ in range(steps):
        text = torch.randint(symbols, (64, length), generator=generator)
        turns = torch.randint(3, (64, length), generator=generator)
        for at in range(8, length):
            last, eight_back = text[:, at - 1], text[:, at - 8]
            choices = torch.stack([follows[last], eight_back, text[:, at]])
            text[:, at] = choices.gather(0, turns[None, :, at])[0]
        yield text.cuda()


def train(softmax, wave, texts, dtype=torch.float32):
    torch.manual_seed(0)
    model = Model(softmax, wave).to("cuda", dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for text in texts:
        logits = model(text[:, :-1]).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits, text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).double().cpu()


def plain_softmax(x):
    return torch.softmax(x, dim=-1)
# --8<-- [end:train]

# --8<-- [start:run]
if device == "cuda":
    texts = list(batches(steps=400))
    theirs = train(plain_softmax, wave_reference, texts)
    ours = train(softmax, wave, texts)
    exact = train(plain_softmax, wave_reference, texts, torch.float64)
    for step in (0, 100, 200, 399):
        print(f"step {step:3}: PyTorch {theirs[step]:.5f}, kernels {ours[step]:.5f}")
    print(f"kernels from float64: {(ours - exact).abs().max():.1e}")
    print(f"PyTorch from float64: {(theirs - exact).abs().max():.1e}")
# --8<-- [end:run]

if device == "cuda":
    assert (ours - theirs).abs().max() < 0.05 and ours[-1] < ours[0] - 0.5
    curves = {"eager": theirs, "blockwise": ours, "float64": exact}
    figures = {name: [round(value, 9) for value in curve.tolist()] for name, curve in curves.items()}
    for name, curve in curves.items():
        figures[f"{name}_off"] = f"{(curve - exact).abs().max():.1e}"
    keep(figures=figures)
