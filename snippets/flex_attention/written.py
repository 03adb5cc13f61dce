"""What torch.compile writes for FlexAttention: catch the program, and cut a part out of its kernel."""
# needs: cuda
import sys
import textwrap

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from snippets.inductor.captured import captured, kernels_of


# --8<-- [start:written]
def written_kernel(score_mod, mask_mod):
    """The Triton kernel that is written for one score_mod and one mask_mod."""
    q, k, v = torch.randn(3, 1, 4, 1024, 64, device="cuda").bfloat16().unbind()
    mask = create_block_mask(mask_mod, None, None, 1024, 1024, device="cuda")
    _, _, program = captured(flex_attention, q, k, v, score_mod, mask)
    made, text = kernels_of(program)[-1]
    assert made == "template", made
    return text


def part_of(text, first, last):
    """The lines from the first that holds one phrase to the one before another phrase, moved to the left margin."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if first in line)
    end = next(i for i in range(start, len(lines)) if last in lines[i])
    return textwrap.dedent("\n".join(lines[start:end])).rstrip()
# --8<-- [end:written]


if __name__ == "__main__":
    if not torch.cuda.is_available():
        print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
        sys.exit(2)
    text = written_kernel(None, lambda batch, head, query, key: query >= key)
    functions = [line for line in text.splitlines() if line.startswith("def ")]
    print(len(text.splitlines()), "lines:", ", ".join(line[4:].split("(")[0] for line in functions))
