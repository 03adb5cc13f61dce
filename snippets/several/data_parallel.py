"""A small Llama trained on all GPUs: gradients averaged by PyTorch, and by two shots of our own, beside one GPU."""
# needs: 2 gpus
import os
import sys

import torch

if torch.cuda.device_count() < 2:
    if os.environ.get("RANK", "0") != "0":
        sys.exit()  # the first one speaks for all
    print("needs: 2 gpus (NVIDIA GPUs of one machine that PyTorch can use)")
    sys.exit(2)

import copy
import time

import torch.distributed as dist
from torch import nn

from kernels.tools.benchmark import keep
from kernels.tools.several import slowest, symmetric, together
from snippets.several.two_shot import two_shot
from snippets.training.llama import PLAIN, Llama

SIZES = {"classes": 32000, "hidden": 1024, "heads": 16, "kv_heads": 4, "feed": 2816, "layers": 8}
BATCH, LENGTH, STEPS, PROGRAMS = 8, 512, 8, 128  # the batch of all ranks together


class Trained(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Llama(**SIZES)

    def forward(self, tokens, target):
        return self.model(tokens, target, PLAIN)


# --8<-- [start:ours]
class Averaged:
    """All gradients of a model in one symmetric tensor, which two shots turn into the mean over the ranks."""

    def __init__(self, model, rank, world):
        self.rank, self.world, parameters = rank, world, list(model.parameters())
        self.flat, _, self.places = symmetric((sum(p.numel() for p in parameters),), torch.float32)
        self.flags, _, self.flags_places = symmetric((PROGRAMS * world,), torch.int32)
        self.missing = torch.zeros(world, dtype=torch.int32, device="cuda")
        for parameter, part in zip(parameters, self.flat.split([p.numel() for p in parameters]), strict=True):
            parameter.grad = part.view_as(parameter)  # backward adds to what is there

    def average(self):
        options = {"programs": PROGRAMS, "block": 4096, "num_warps": 16}
        two_shot(self.places, self.flags_places, self.missing, self.flat, self.rank, self.world, **options)
        self.flat /= self.world
# --8<-- [end:ours]


# --8<-- [start:train]
def train(model, tokens, after_backward=lambda: None):
    """The loss of every step on these tokens, and the seconds of one."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    losses = []
    for step in range(STEPS):
        if step == 2:  # the first ones warm up
            torch.cuda.synchronize()
            began = time.monotonic()
        loss = model(tokens[step, :, :-1], tokens[step, :, 1:])
        loss.backward()
        after_backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        losses.append(loss.detach())
    torch.cuda.synchronize()
    return torch.stack(losses), (time.monotonic() - began) / (STEPS - 2)
# --8<-- [end:train]


def main(rank, world):
    torch.manual_seed(0)  # the same model and the same tokens everywhere
    model = Trained().cuda()
    tokens = torch.randint(0, SIZES["classes"], (STEPS, BATCH, LENGTH + 1), device="cuda")
    mine = tokens.chunk(world, 1)[rank]  # this rank's part of each batch
    alone, alone_seconds = train(copy.deepcopy(model), tokens)  # each GPU by itself, with the whole batch
    ours = copy.deepcopy(model)
    averaged = Averaged(ours, rank, world)
    ddp = nn.parallel.DistributedDataParallel(copy.deepcopy(model))
    ways = {"ddp": (ddp, lambda: None), "two_shot": (ours, averaged.average)}
    kept = {"one_gpu": {"ms": slowest(alone_seconds * 1e3), "loss": alone[-1].item()}}
    for name, (trained, after) in ways.items():
        losses, seconds = train(trained, mine, after)
        dist.all_reduce(losses)
        losses /= world
        torch.testing.assert_close(losses, alone, rtol=1e-3, atol=1e-3)
        kept[name] = {"ms": slowest(seconds * 1e3), "loss": losses[-1].item()}
    assert not averaged.missing.any(), averaged.missing
    if rank == 0:
        for name, row in kept.items():
            print(f"{name:10} {row['ms']:8.1f} ms a step, loss {row['loss']:.4f} after {STEPS}")
        keep(figures=kept | {"world": world, "gpu": torch.cuda.get_device_name()})


together(main)
