"""A stand-in for PyTorch on NumPy: what the programs of this site use of it, and no more.

Values, gradients, random numbers, printing and messages are PyTorch's, up to rounding. What is missing raises an error that says
so. Nothing here is PyTorch's code.

    _dtypes, _storage    how elements are stored, and where             _autograd    the tape, and functions with own gradients
    _tensor              tensors, their views, changes in place         _making, _random    new tensors
    _pointwise, _reductions, _products, _movement, _functional          what is computed with them
    _settings            all that a program may leave behind            _absent    what is not here
"""

__version__ = "2.13.0+standin"

import math as _math
import types as _types
from typing import Any as _Any

from torch import _tensor  # isort: skip  first of all, for the modules that it and the tape share
from torch import _absent, _dtypes, _functional, _making, _movement, _pointwise, _printing, _products, _random, _reductions
from torch._autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
from torch._dtypes import (
    bfloat16,
    complex64,
    complex128,
    dtype,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from torch._dtypes import promoted as promote_types
from torch._making import (
    arange,
    as_tensor,
    asarray,
    complex,
    empty,
    empty_like,
    empty_strided,
    eye,
    finfo,
    from_numpy,
    full,
    full_like,
    iinfo,
    linspace,
    logspace,
    meshgrid,
    ones,
    ones_like,
    polar,
    tensor,
    tril_indices,
    unravel_index,
    view_as_complex,
    view_as_real,
    zeros,
    zeros_like,
)
from torch._movement import (
    argsort,
    bincount,
    broadcast_shapes,
    broadcast_tensors,
    cat,
    diag,
    diff,
    flip,
    gather,
    histc,
    index_add,
    index_select,
    masked_select,
    nonzero,
    repeat_interleave,
    roll,
    scatter,
    segment_reduce,
    sort,
    stack,
    take_along_dim,
    tile,
    topk,
    tril,
    triu,
    unique,
)
from torch._pointwise import (
    add,
    addcmul,
    atan2,
    bitwise_and,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    clamp,
    div,
    eq,
    floor_divide,
    fmod,
    ge,
    gt,
    le,
    lerp,
    logical_and,
    logical_or,
    logical_xor,
    lt,
    masked_fill,
    maximum,
    minimum,
    mul,
    nan_to_num,
    ne,
    remainder,
    sub,
    where,
)
from torch._printing import set_printoptions
from torch._products import (
    addmm,
    allclose,
    bmm,
    dot,
    einsum,
    equal,
    ger,
    isclose,
    matmul,
    mm,
    mv,
    outer,
)
from torch._random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    native_dropout,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
    set_rng_state,
)
from torch._reductions import (
    all,
    amax,
    amin,
    aminmax,
    any,
    argmax,
    argmin,
    count_nonzero,
    cumprod,
    cumsum,
    log_softmax,
    logsumexp,
    max,
    mean,
    median,
    min,
    norm,
    prod,
    quantile,
    softmax,
    std,
    sum,
    var,
    var_mean,
)
from torch._settings import settings as _settings
from torch._storage import Size, device
from torch._tensor import Tensor, result_type

bool, float, half, double = _dtypes.boolean, float32, float16, float64
long, int, short = int64, int32, int16
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
strided, contiguous_format, preserve_format, channels_last = "torch.strided", *_making.MEMORY_FORMATS
pow = _pointwise.pow_
true_divide = divide = div
multiply, subtract, concat, concatenate = mul, sub, cat, cat
globals().update(_pointwise.UNARY)

# Functions that are the methods of their first argument.
_METHODS = (
    "as_strided",
    "broadcast_to",
    "chunk",
    "clone",
    "detach",
    "diagonal",
    "flatten",
    "is_complex",
    "is_floating_point",
    "moveaxis",
    "movedim",
    "narrow",
    "numel",
    "permute",
    "reshape",
    "scatter_add_",
    "split",
    "squeeze",
    "swapaxes",
    "t",
    "transpose",
    "unbind",
    "unflatten",
    "unsqueeze",
    "ravel",
)


def _as_function(name: str) -> _Any:
    def function(input: Tensor, *given: _Any, **named: _Any) -> _Any:
        return getattr(input, name)(*given, **named)

    function.__name__ = name
    return function


globals().update({_name: _as_function(_name) for _name in _METHODS})


def is_tensor(value: _Any) -> _Any:
    return isinstance(value, Tensor)


def is_grad_enabled() -> _Any:
    return _settings.grad


def get_default_dtype() -> dtype:
    return _dtypes.default_dtype()


def set_default_dtype(d: dtype) -> None:
    _settings.dtype = d.name


def get_float32_matmul_precision() -> str:
    return _settings.precision


def set_float32_matmul_precision(precision: str) -> None:
    _settings.precision = precision


def _never(*given: _Any) -> _Any:
    return False


def _ignored(*given: _Any, **named: _Any) -> None:
    pass


is_inference_mode_enabled = is_autocast_enabled = is_autocast_cache_enabled = is_anomaly_enabled = _never
are_deterministic_algorithms_enabled = _never
use_deterministic_algorithms = set_num_threads = _ignored


def compile(model: _Any = None, **options: _Any) -> _Any:
    """Nothing is compiled here. What is given back says so when it is called; many programs compile for a GPU alone."""
    return _absent.refuses_to_compile if model is not None else compile


class SymInt:
    """What a length is while torch.compile traces with lengths that may change; nothing is traced here, so nothing is one."""


class SymFloat:
    """The same of a factor."""


def get_num_threads() -> _Any:
    return 1


def _addmm_activation(c: Tensor, a: Tensor, b: Tensor, use_gelu: _Any = False) -> Tensor:
    return _functional.gelu(addmm(c, a, b), "tanh") if use_gelu else _pointwise.relu(addmm(c, a, b))


from torch import amp, autograd, backends, compiler, cuda, library, linalg, nn, ops, optim, special, testing, utils

OutOfMemoryError = cuda.OutOfMemoryError
autocast = amp.autocast
version = _types.SimpleNamespace(hip=None, cuda=None)
return_types = _types.SimpleNamespace(max=lambda pair: _reductions.Pair(*pair), min=lambda pair: _reductions.Pair(*pair))
__getattr__ = _absent.of(__name__, globals())
