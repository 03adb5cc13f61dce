"""Sizes of blocks and grids, for code on the host.

`triton.next_power_of_2` and `triton.cdiv` serve kernels and the host alike, and to find out where they are called takes them a
microsecond or more, and a launch asks for several.
"""


def next_power_of_2(n: int) -> int:
    """The least power of two that is not below `n`, for `n` of one or more."""
    return 1 << (n - 1).bit_length()


def cdiv(n: int, size: int) -> int:
    """How many pieces of `size` cover `n`."""
    return -(-n // size)
