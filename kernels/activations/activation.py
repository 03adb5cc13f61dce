"""SiLU and GELU inside a kernel, with their derivatives: functions for other kernels to call.

Each is x times a share s(x) between 0 and 1:

    "silu"   s(x) = 1 / (1 + exp(-x))
    "none"   s(x) = (1 + erf(x / sqrt(2))) / 2                                     GELU by its definition
    "tanh"   s(x) = 1 / (1 + exp(-z)),  z = 2 sqrt(2 / pi) (x + 0.044715 x^3)      and by its usual approximation

The approximation is mostly written with (1 + tanh(z / 2)) / 2, which is the same share. All three have s(-x) = 1 - s(x). So
the smaller of s and 1 - s is computed, from the size of x, and keeps all its digits. It is a power of two, or nearly:
for "none" 2^R(|x|) / 2, where the polynomial R was fitted to the logarithm of the error function's complement so that s
is within 3e-8 everywhere and within a relative 1e-5 down to x = -6.

Source: D. Hendrycks and K. Gimpel, "Gaussian error linear units (GELUs)", arXiv:1606.08415.
"""

import triton
import triton.language as tl


# --8<-- [start:share]
@triton.jit
def smaller_share(x, KIND: tl.constexpr):
    """The smaller of s(x) and 1 - s(x)."""
    a = tl.abs(x)
    if KIND == "none":
        r = 8.628346677e-07 + a * -2.889184890e-08
        r = 7.671196363e-05 + a * (-1.102064016e-05 + a * r)
        r = -1.566128958e-06 + a * (-2.799160138e-04 + a * r)
        r = -5.244681671e-02 + a * (6.951927207e-03 + a * r)
        r = -1.151104450 + a * (-4.592184126e-01 + a * r)
        return 0.5 * tl.exp2(a * r)
    # z / log(2), so that exp(-z) is a power of two.
    doublings = a * 1.4426950408889634
    if KIND == "tanh":
        doublings = a * (2.302208198144325 + 0.1029432395800235 * (a * a))
    t = tl.exp2(-doublings)
    return t / (1 + t)


@triton.jit
def activated(x, KIND: tl.constexpr):
    """silu(x), or gelu(x) of either kind."""
    # Without the minimum, infinity times a share of zero would be NaN.
    smaller = tl.minimum(x, 1e4) * smaller_share(x, KIND)
    return tl.where(x > 0, x - smaller, smaller)
# --8<-- [end:share]


@triton.jit
def activated_with_slope(x, KIND: tl.constexpr):
    """The same, and its derivative s(x) + x s'(x)."""
    share = smaller_share(x, KIND)
    smaller = tl.minimum(x, 1e4) * share
    rise = share * (1 - share)
    if KIND == "none":
        rise = 0.3989422804014327 * tl.exp2(-0.7213475204444817 * (x * x))
    if KIND == "tanh":
        # Times dz/dx. Where the square would overflow, the share has long been zero.
        rise *= 1.5957691216057308 + 0.21406444881780076 * tl.minimum(x * x, 1e9)
    return tl.where(x > 0, x - smaller, smaller), tl.where(x > 0, 1 - share, share) + x * rise
