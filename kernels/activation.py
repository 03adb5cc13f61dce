"""SiLU and GELU inside a kernel, with their derivatives: functions for other kernels to call.

    silu(x) = x s(x)                                                        s(x) = 1 / (1 + exp(-x))
    gelu(x) = x (1 + erf(x / sqrt(2))) / 2                                  "none": the definition
    gelu(x) = x s(z),  z = 2 sqrt(2 / pi) (x + 0.044715 x^3)                "tanh": the usual approximation

The approximation is mostly written x (1 + tanh(z / 2)) / 2, which is the same, since (1 + tanh(z / 2)) / 2 = s(z). Written with s it
needs one exponential and one division, and loses no digits where x is far below zero.

Source: D. Hendrycks and K. Gimpel, "Gaussian error linear units (GELUs)", arXiv:1606.08415.
"""

import triton
import triton.language as tl


# --8<-- [start:value]
@triton.jit
def doublings(x, KIND: tl.constexpr):
    """z / log(2), so that exp(-z) is a power of two."""
    if KIND == "silu":
        return 1.4426950408889634 * x
    return x * (2.302208198144325 + 0.1029432395800235 * (x * x))


@triton.jit
def activated(x, KIND: tl.constexpr):
    """silu(x), or gelu(x) of either kind."""
    if KIND == "none":
        return 0.5 * x * (1 + tl.erf(0.7071067811865476 * x))
    return x / (1 + tl.exp2(-doublings(x, KIND)))
# --8<-- [end:value]


# --8<-- [start:slope]
@triton.jit
def activated_with_slope(x, KIND: tl.constexpr):
    """The same, and its derivative."""
    if KIND == "none":
        share = 0.5 * (1 + tl.erf(0.7071067811865476 * x))
        return x * share, share + x * (0.3989422804014327 * tl.exp2(-0.7213475204444817 * (x * x)))
    # Of s and 1 - s the larger is r and the smaller t r, each with all its digits.
    t = tl.exp2(-tl.abs(doublings(x, KIND)))
    r = 1 / (1 + t)
    share = r * tl.where(x > 0, 1.0, t)
    # dz/dx; where the square would overflow, t is zero long before.
    growth = 1.0 if KIND == "silu" else 1.5957691216057308 + 0.21406444881780076 * tl.minimum(x * x, 1e9)
    return x * share, share + x * (t * r * r * growth)
# --8<-- [end:slope]
