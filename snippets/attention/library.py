"""The library's attention forward: grouped heads, a window, a length that no tile divides, and documents in one row."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:imports]
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from kernels.attention import attention, attention_packed
# --8<-- [end:imports]

# --8<-- [start:call]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
q = torch.randn(1, 4, 100, 64, device=device).half()
k, v = torch.randn(2, 1, 2, 100, 64, device=device).half()  # two heads of queries share one of keys
out, lse = attention(q, k, v, is_causal=True, enable_gqa=True, window=(30, None), return_lse=True)

place = torch.arange(100, device=device)
ahead = place[None, :] - place[:, None]
exact, seen = [x.double() for x in (q, k, v)], (ahead >= -30) & (ahead <= 0)
expected = F.scaled_dot_product_attention(*exact, attn_mask=seen, enable_gqa=True)
torch.testing.assert_close(out.double(), expected, rtol=1e-2, atol=1e-3)
print("grouped heads and a window: right")
#> grouped heads and a window: right
# --8<-- [end:call]

# --8<-- [start:packed]
rows = [x[0].transpose(0, 1) for x in (q, k, v)]  # token by token, as documents are packed
starts = torch.tensor([0, 40, 41, 100], dtype=torch.int32, device=device)  # of 40 tokens, of 1, and of 59
packed = attention_packed(*rows, starts, starts, is_causal=True, enable_gqa=True)
for start, end in zip(starts.tolist(), starts.tolist()[1:], strict=False):
    document = [x[:, :, start:end] for x in exact]
    expected = F.scaled_dot_product_attention(*document, is_causal=True, enable_gqa=True)
    torch.testing.assert_close(packed[start:end].double(), expected[0].transpose(0, 1), rtol=1e-2, atol=1e-3)
print("three documents in one row: right")
#> three documents in one row: right
# --8<-- [end:packed]
