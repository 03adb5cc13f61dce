"""Loads and stores of one program's part of a line, with a mask in the program that the line ends in, and nowhere else.

A mask whose limit 16 does not divide makes a thread load its elements one by one, because the compiler cannot know that
they are all there. Where a program asks first whether its whole part is, the others load 16 bytes at a time.
"""

import triton
import triton.language as tl


# --8<-- [start:parts]
@triton.jit
def load_partial_tile(ptr, offsets, n_elements, whole):
    x = (
        tl.load(ptr + offsets)
        if whole
        else tl.load(ptr + offsets, mask=offsets < n_elements)
    )
    return x.to(tl.float32)


@triton.jit
def store_partial_tile(ptr, offsets, n_elements, whole, value):
    if whole:
        tl.store(ptr + offsets, value)
    else:
        tl.store(ptr + offsets, value, mask=offsets < n_elements)
# --8<-- [end:parts]
