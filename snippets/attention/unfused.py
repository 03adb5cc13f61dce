"""What plain attention stores on the way, counted in bytes: of tensors that have a shape and no memory behind it."""
# --8<-- [start:unfused]
import torch


def attention(q, k, v):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5  # every query meets every key
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, scores, weights


for length in (1024, 4096, 16384, 65536):
    shape = (16, length, 128)  # heads, tokens, numbers a head
    q = torch.empty(shape, dtype=torch.bfloat16, device="meta")
    out, scores, weights = attention(q, q, q)
    needed = 4 * q.nbytes  # q, k and v, and the result
    print(f"{length:6} tokens: q, k, v, out {needed / 1e6:6,.0f} MB, scores {scores.nbytes / 1e6:8,.0f} MB")
    #>   1024 tokens: q, k, v, out     17 MB, scores       34 MB
    #>   4096 tokens: q, k, v, out     67 MB, scores      537 MB
    #>  16384 tokens: q, k, v, out    268 MB, scores    8,590 MB
    #>  65536 tokens: q, k, v, out  1,074 MB, scores  137,439 MB
# --8<-- [end:unfused]
