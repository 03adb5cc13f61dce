"""A search that is interrupted: Triton's tuner keeps nothing of it; a file written after every trial keeps all."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:interrupted]
import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"
trials = []


def interrupted_once(call, quantiles):
    """Someone presses Ctrl-C in the third trial."""
    call()
    trials.append(1)
    if len(trials) == 3:
        raise KeyboardInterrupt
    return [1.0] * len(quantiles)


@triton.jit
def halve_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) / 2)


configs = [triton.Config({"BLOCK": block}) for block in (64, 128, 256, 512)]
tuned = triton.autotune(configs, key=[], do_bench=interrupted_once)(halve_kernel)
x = torch.ones(1024, device=device)
y = torch.empty_like(x)


def grid(meta):
    return (1024 // meta["BLOCK"],)


try:
    tuned[grid](x, y)
except KeyboardInterrupt:
    print(f"interrupted after {len(trials)} trials, {len(tuned.cache)} choices kept")
    #> interrupted after 3 trials, 0 choices kept
tuned[grid](x, y)
print(f"called again: {len(trials)} trials in all")
#> called again: 7 trials in all
# --8<-- [end:interrupted]

# --8<-- [start:kept]
import json
from pathlib import Path


def search(configs, time_of, file):
    """Time what the file does not hold yet, and write it after every trial."""
    times = json.loads(file.read_text()) if file.exists() else {}
    for config in configs:
        if str(config) not in times:
            times[str(config)] = time_of(config)
            part = file.with_suffix(".part")
            part.write_text(json.dumps(times))
            part.replace(file)  # the whole file or the old one, whenever we are interrupted
    return min(configs, key=lambda config: times[str(config)])


def time_of(config):
    block = config.kwargs["BLOCK"]

    def call():
        return halve_kernel[(1024 // block,)](x, y, BLOCK=block)

    return interrupted_once(call, [0.5])[0]  # in use: triton.testing.do_bench(call)


trials.clear()
file = Path("halve-1024.json")
file.unlink(missing_ok=True)
try:
    search(configs, time_of, file)
except KeyboardInterrupt:
    kept = json.loads(file.read_text())
    print(f"interrupted after {len(trials)} trials, {len(kept)} times kept")
    #> interrupted after 3 trials, 2 times kept
best = search(configs, time_of, file)
print(f"called again: {len(trials)} trials in all, and {best.kwargs} it is")
#> called again: 5 trials in all, and {'BLOCK': 64} it is
# --8<-- [end:kept]
