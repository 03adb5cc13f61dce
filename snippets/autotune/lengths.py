"""A training loop whose batches differ in length: every new length in the key is a new search."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:lengths]
import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"
trials = []


def count_trials(call, quantiles):
    call()
    trials.append(1)
    return [1.0] * len(quantiles)


@triton.jit
def shift_kernel(x_ptr, y_ptr, n, bucket, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x + 1, mask=offsets < n)


configs = [triton.Config({"BLOCK": block}) for block in (128, 512, 1024, 2048)]
lengths = [100 + 37 * step % 500 for step in range(20)]  # twenty steps, each another


def train(key, length_of, bucket_of):
    trials.clear()
    tuned = triton.autotune(configs, key=[key], do_bench=count_trials)(shift_kernel)
    for length in lengths:
        x = torch.zeros(length_of(length), device=device)
        y, n = torch.empty_like(x), x.numel()

        def grid(meta):
            return (triton.cdiv(n, meta["BLOCK"]),)

        tuned[grid](x, y, n, bucket_of(n))
        assert torch.all(y == 1)
    return f"{len(tuned.cache)} searches, {len(trials)} trials"


def as_it_comes(length):
    return length


print("every length as it comes:", train("n", as_it_comes, as_it_comes))
#> every length as it comes: 20 searches, 80 trials
print("padded to 640:           ", train("n", lambda length: 640, as_it_comes))
#> padded to 640:            1 searches, 4 trials
# --8<-- [end:lengths]

# --8<-- [start:buckets]
print("the next power of two:   ", train("bucket", as_it_comes, triton.next_power_of_2))
#> the next power of two:    4 searches, 16 trials
# --8<-- [end:buckets]
