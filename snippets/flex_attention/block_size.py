"""How much of a sliding window is computed in vain: blocks of six sizes, beside the scores that count."""

import torch
from torch.nn.attention.flex_attention import create_block_mask

from kernels.tools.benchmark import keep
from snippets.flex_attention.variants import window_of

# --8<-- [start:block_size]
tokens, window = 1024, window_of(200)
counting = int(window(0, 0, torch.arange(tokens)[:, None], torch.arange(tokens)).sum())
print(f"scores that count: {counting / tokens**2:.1%}")
#> scores that count: 17.6%
kept = {}
for size in (8, 16, 32, 64, 128, 256):
    mask = create_block_mask(window, None, None, tokens, tokens, device="cpu", BLOCK_SIZE=size)
    part, whole = int(mask.kv_num_blocks.sum()), int(mask.full_kv_num_blocks.sum())
    computed = (part + whole) * size**2
    share = part / (part + whole)
    print(f"blocks of {size:3}: {part + whole:5} listed, {computed / tokens**2:.1%} computed, {share:.0%} in part")
    #> blocks of   8:  3003 listed, 18.3% computed, 8% in part
    #> blocks of  16:   805 listed, 19.7% computed, 21% in part
    #> blocks of  32:   228 listed, 22.3% computed, 36% in part
    #> blocks of  64:    70 listed, 27.3% computed, 59% in part
    #> blocks of 128:    21 listed, 32.8% computed, 100% in part
    #> blocks of 256:     7 listed, 43.8% computed, 100% in part
    # --8<-- [end:block_size]
    kept[str(size)] = {"blocks": part + whole, "computed": computed / tokens**2}
keep(figures=kept)
