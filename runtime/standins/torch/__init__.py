"""The part of torch that this site's programs use, on numpy. Not torch: a missing function raises AttributeError."""
import builtins as _b
import contextlib as _contextlib
import functools as _functools
import importlib.machinery as _machinery
import math as _math
import sys as _sys
import types as _types

import numpy as _np

__version__ = "2.13.0+numpy.standin"

from torch import _core, _ops, _show  # noqa: E402
from torch._core import *  # noqa: E402,F403
from torch._core import (Ctx as _Ctx, DTYPES as _DTYPES, Function as _Function, Size, Tensor, _check_device, _new, _shape, _stored, _val,  # noqa
                         device, dtype, enable_grad, no_grad, result_type, promote as promote_types)
from torch import _random  # noqa: E402
from torch._random import Generator, default_generator, get_rng_state, manual_seed, rand, rand_like, randint, randn, randn_like, randperm, set_rng_state  # noqa
from torch import _nn  # noqa: E402

for _n, _d in _DTYPES.items():
    globals()[_n] = _d
float, half, double, long, int, short = float32, float16, float64, int64, int32, int16  # noqa: F821
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
strided, contiguous_format, preserve_format, channels_last = "torch.strided", "contiguous_format", "preserve_format", "channels_last"
for _n in """add sub mul div pow_ maximum minimum floor_divide remainder fmod atan2 where clamp nan_to_num lerp addcmul sum mean amax amin max min
aminmax any all argmax argmin prod count_nonzero var std var_mean norm logsumexp cumsum cumprod median quantile softmax log_softmax matmul mm bmm mv
dot addmm outer ger einsum cat stack flip roll tril triu diag repeat_interleave index_select gather take_along_dim sort argsort topk unique
nonzero masked_select bincount histc diff segment_reduce broadcast_tensors broadcast_shapes isclose allclose equal masked_fill tile""".split():
    globals()[_n.rstrip("_")] = getattr(_ops, _n)
globals().update(_ops.U)
true_divide = divide = div  # noqa: F821
multiply, subtract, concat, concatenate, absolute, negative = mul, sub, cat, cat, abs, neg  # noqa: F821
for _n, _f in dict(lt=0, le=0, gt=0, ge=0, eq=0, ne=0).items():
    globals()[_n] = _ops.CMP[_n]
for _n in "logical_and logical_or bitwise_and bitwise_or".split():
    globals()[_n] = getattr(Tensor, _n)
for _n in """reshape transpose permute unsqueeze squeeze flatten movedim moveaxis split chunk unbind narrow clone numel is_floating_point is_complex
scatter index_add diagonal swapaxes unflatten as_strided detach broadcast_to""".split():
    globals()[_n] = (lambda n: lambda t, *a, **k: getattr(t, n)(*a, **k))(_n)
t = lambda x: x.t()


# ---------------------------------------------------------------- making tensors
def _made(a, dt, device, requires_grad):
    _check_device(device)
    return _new(a, dt).requires_grad_(requires_grad) if requires_grad else _new(a, dt)


def empty(*shape, size=None, dtype=None, device=None, requires_grad=False, **kw):
    _check_device(device)
    shape, dt = _shape(shape) if size is None else tuple(size), dtype or _core._default[0]
    if device is not None and _core.device(device).type == "meta":
        raise NotImplementedError("the stand-in for torch has no meta tensors")
    r = Tensor(_core.Storage(_math.prod(shape) * dt.itemsize), 0, shape, None, dt)
    r.requires_grad = requires_grad
    return r


def full(size, fill_value, *, dtype=None, **kw):
    v = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    size = (size, ) if isinstance(size, _b.int) else size
    return empty(size, dtype=dtype or _core._kind_of(v), **kw).detach().fill_(v).requires_grad_(kw.get("requires_grad", False))


zeros = empty  # memory starts zeroed
ones = lambda *s, dtype=None, **kw: full(_shape(s), 1.0, dtype=dtype or _core._default[0], **kw)


def empty_like(t, *, dtype=None, memory_format=None, device=None, requires_grad=False, **kw):
    _check_device(device)
    dt = dtype or t.dtype
    stride = _core._dense_strides(t.shape, t.stride())
    dense = memory_format != contiguous_format
    return Tensor(_core.Storage(t.numel() * dt.itemsize), 0, t.shape, stride if dense else None, dt).requires_grad_(requires_grad)


zeros_like = empty_like
full_like = lambda t, v, **kw: empty_like(t, **kw).fill_(v)
ones_like = lambda t, **kw: full_like(t, 1, **kw)
empty_strided = lambda size, stride, dtype=None, **kw: Tensor(
    _core.Storage((_b.sum((n - 1) * s for n, s in zip(size, stride)) + 1) * (dtype or float32).itemsize), 0, tuple(size), tuple(stride), dtype or float32)


def arange(*a, dtype=None, device=None, requires_grad=False, **kw):
    dt = dtype or (int64 if _b.all(isinstance(x, (_b.int, Tensor)) for x in a) else _core._default[0])
    a = [x.item() if isinstance(x, Tensor) else x for x in a]
    return _made(_np.arange(*a, dtype=_np.float64 if _b.any(isinstance(x, _b.float) for x in a) else _np.int64), dt, device, requires_grad)


def _infer(v):
    if isinstance(v, Tensor):
        return v.dtype
    if isinstance(v, (_np.ndarray, _np.generic)):
        return _core._BY_NP[v.dtype]
    if isinstance(v, (list, tuple)):
        return _functools.reduce(promote_types, (_infer(x) for x in v), None)
    return _core._kind_of(v)


def _plain(v):
    return [_plain(x) for x in v] if isinstance(v, (list, tuple)) else _np.asarray(_val(v)).tolist() if isinstance(v, Tensor) else v


def tensor(data, *, dtype=None, device=None, requires_grad=False, **kw):
    dt = dtype or _infer(data) or _core._default[0]
    return _made(_np.array(_plain(data) if isinstance(data, (list, tuple)) else _val(data), dt.calc if dt.kind >= 2 else None), dt, device, requires_grad)


def as_tensor(data, dtype=None, device=None):
    return data.to(dtype) if isinstance(data, Tensor) and dtype else data if isinstance(data, Tensor) else tensor(data, dtype=dtype)


asarray = as_tensor
from_numpy = lambda a: _new(a)
linspace = lambda a, b, n, dtype=None, device=None, **kw: _made(_np.linspace(a, b, n), dtype or _core._default[0], device, False)
logspace = lambda a, b, n, base=10.0, **kw: _new(_np.logspace(a, b, n, base=base).astype(_np.float32))
eye = lambda n, m=None, dtype=None, device=None, **kw: _made(_np.eye(n, m), dtype or _core._default[0], device, False)
meshgrid = lambda *ts, indexing="ij": tuple(_new(x) for x in _np.meshgrid(*(_val(t) for t in ts), indexing=indexing))
complex = lambda a, b: _new((_val(a) + 1j * _val(b)).astype(_np.complex64))
polar = lambda r, a: _new((_val(r) * _np.exp(1j * _val(a))).astype(_np.complex64))
view_as_complex = lambda x: Tensor(x._s, x._off // 2, x.shape[:-1], [s // 2 for s in x.stride()[:-1]], complex64)  # noqa: F821
view_as_real = lambda x: Tensor(x._s, x._off * 2, (*x.shape, 2), [*(s * 2 for s in x.stride()), 1], float32)
tril_indices = lambda n, m, offset=0: _new(_np.stack(_np.tril_indices(n, offset, m)).astype(_np.int64))
unravel_index = lambda i, shape: tuple(_new(_np.asarray(x).astype(_np.int64)) for x in _np.unravel_index(_val(i), shape))
is_tensor = lambda x: isinstance(x, Tensor)
is_grad_enabled = lambda: _core._grad[0]
is_inference_mode_enabled = is_autocast_enabled = are_deterministic_algorithms_enabled = lambda *a: False
is_autocast_cache_enabled = is_anomaly_enabled = lambda: False
get_default_dtype = lambda: _core._default[0]
use_deterministic_algorithms = set_num_threads = set_float32_matmul_precision = lambda *a, **k: None
get_num_threads = lambda: 1
initial_seed = lambda: default_generator._seed
inference_mode = lambda mode=True: no_grad()
native_dropout = lambda x, p, train: (lambda m: (x * m / (1 - p), m))(_new(default_generator.uniform(x.numel(), float32).reshape(x.shape) >= p))


class set_grad_enabled(_core._switch):
    def __init__(self, on):
        super().__init__(on)
        self.first, _core._grad[0] = _core._grad[0], on

    def __enter__(self):
        self.was = [self.first]


def set_default_dtype(d):
    _core._default[0] = d


def set_printoptions(profile=None, sci_mode=None, **kw):
    _show.options.update({k: v for k, v in kw.items() if v is not None})


class _Info:
    def __init__(self, dt=None):
        dt = dt or _core._default[0]
        self.dtype = dt.name
        if dt.kind == 1:
            i = _np.iinfo(dt.np)
            self.min, self.max, self.bits = i.min, i.max, i.bits
            return
        table = {"bfloat16": (3.3895313892515355e38, 2.0**-7, 2.0**-126, 16), "float8_e4m3fn": (448.0, 0.125, 2.0**-6, 8),
                 "float8_e5m2": (57344.0, 0.25, 2.0**-14, 8)}
        if dt.name in table:
            self.max, self.eps, self.tiny, self.bits = table[dt.name]
        else:
            f = _np.finfo(dt.np)
            self.max, self.eps, self.tiny, self.bits = _b.float(f.max), _b.float(f.eps), _b.float(f.tiny), f.bits
        self.min, self.smallest_normal = -self.max, self.tiny


finfo = iinfo = _Info


class OutOfMemoryError(RuntimeError):
    pass


# ---------------------------------------------------------------- submodules
def _mod(name, **kw):
    m = _types.ModuleType("torch." + name)
    m.__spec__, m.__path__ = _machinery.ModuleSpec(m.__name__, None, is_package=True), []
    m.__dict__.update(kw)
    _sys.modules[m.__name__] = m
    *up, last = m.__name__.split(".")
    setattr(_sys.modules[".".join(up)], last, m)
    return m


_mod("testing", assert_close=_ops.assert_close)
_mod("nn", **{k: v for k, v in vars(_nn).items() if k[0].isupper() and k != "F"})
functional = _mod("nn.functional", **{k: v for k, v in vars(_nn.F).items() if not k.startswith("_")})


def _symbol(*a, **k):
    raise RuntimeError("this needs a GPU, or PyTorch itself: the page runs on a small stand-in for it")


class _Anything(_types.ModuleType):
    """A module of which a program may ask for any name, as long as it does not call it."""

    def __getattr__(self, n):
        if n.startswith("__"):
            raise AttributeError(n)
        return _symbol


class _Nothing:
    def __init__(self, *a, **k):
        pass

    __enter__ = lambda self: self
    __exit__ = lambda self, *a: None
    __call__ = lambda self, f: f


cuda = _mod("cuda", is_available=lambda: False, synchronize=lambda *a: None, current_device=lambda: 0, device_count=lambda: 0,
            is_current_stream_capturing=lambda: False, empty_cache=lambda: None, manual_seed_all=lambda s: None, device_of=_Nothing,
            device=_Nothing, stream=_Nothing, Stream=_symbol, Event=_symbol, CUDAGraph=_symbol, graph=_symbol, current_stream=_symbol,
            get_device_properties=_symbol, get_device_name=_symbol, get_device_capability=_symbol, is_initialized=lambda: False,
            profiler=_types.SimpleNamespace(start=lambda: None, stop=lambda: None), OutOfMemoryError=OutOfMemoryError)
version = _types.SimpleNamespace(hip=None, cuda=None)
backends = _mod("backends", cuda=_types.SimpleNamespace(matmul=_types.SimpleNamespace(allow_tf32=False, fp32_precision="ieee", allow_fp16_accumulation=False)),
                cudnn=_types.SimpleNamespace(allow_tf32=False))
autograd = _mod("autograd", Function=_Function, grad=_core.grad, no_grad=no_grad, DeviceType=_types.SimpleNamespace(CUDA=0))
_mod("autograd.function", once_differentiable=_core.once_differentiable, Function=_Function, FunctionCtx=_Ctx)
_mod("linalg", vector_norm=lambda x, ord=2, dim=None, keepdim=False, dtype=None: _ops.norm(x, ord, dim, keepdim, dtype), norm=_ops.norm,
     matrix_norm=_ops.norm)
_mod("compiler", reset=lambda: None, is_compiling=lambda: False, disable=lambda f=None, **k: f if f else (lambda g: g), allow_in_graph=lambda f: f)
_mod("amp", custom_fwd=_nn.custom_fwd, custom_bwd=_nn.custom_bwd, autocast=_nn.autocast)
return_types = _types.SimpleNamespace(max=lambda p: _ops.Pair(*p), min=lambda p: _ops.Pair(*p))
_mod("optim")
_mod("utils")
_mod("utils._python_dispatch", TorchDispatchMode=type("TorchDispatchMode", (), {"__enter__": _symbol}))
ops = _Anything("torch.ops")
ops.aten = _Anything("torch.ops.aten")


def _native_layer_norm_backward(dy, x, shape, mean, rstd, weight, bias, mask):
    dims = tuple(_b.range(x.ndim - len(shape)))
    last = tuple(_b.range(-len(shape), 0))
    h = (x.double() - mean.double()) * rstd.double()
    g = dy.double() * (1 if weight is None else weight.double())
    dx = (g - g.mean(last, True) - h * (g * h).mean(last, True)) * rstd.double()
    return dx.to(x.dtype), (dy.double() * h).sum(dims).to(x.dtype), dy.double().sum(dims).to(x.dtype)


ops.aten.native_layer_norm_backward = _native_layer_norm_backward
autocast = _nn.autocast
_addmm_activation = lambda c, a, b, use_gelu=False: (_nn.F.gelu(addmm(c, a, b), "tanh") if use_gelu else relu(addmm(c, a, b)))  # noqa: F821


def compile(model=None, **kw):
    """Nothing is compiled here: the function runs as it stands."""
    return model if model is not None else (lambda f: f)


class _saved_tensors_hooks:
    def __init__(self, pack, unpack):
        self.pair = pack, unpack

    def __enter__(self):
        _core._hooks.append(self.pair)

    def __exit__(self, *a):
        _core._hooks.pop()


def _increment_version(t):
    for x in [t] if isinstance(t, Tensor) else t:
        x._s.version += 1


_mod("autograd.graph", saved_tensors_hooks=_saved_tensors_hooks, increment_version=_increment_version)


def _jacobian(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    rows = []
    for i in range(y.numel()):
        d = zeros(y.numel(), dtype=y.dtype)
        d[i] = 1
        rows.append(_core.grad(y, x, d.reshape(y.shape), retain_graph=True)[0])
    return _ops.stack(rows).reshape(*y.shape, *x.shape)


_mod("autograd.functional", jacobian=_jacobian)


def gradcheck(f, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, check_backward_ad=True, **kw):
    """Compare gradients with central differences, entry by entry."""
    inputs = (inputs, ) if isinstance(inputs, Tensor) else tuple(inputs)
    outs = f(*inputs)
    outs = [y for y in (outs if isinstance(outs, tuple) else (outs, )) if isinstance(y, Tensor) and y.requires_grad]
    for k, y in enumerate(outs):
        for x in (x for x in inputs if isinstance(x, Tensor) and x.requires_grad):
            flat, numeric = x._a.reshape(-1) if x.is_contiguous() else None, []
            for i in _np.ndindex(*x.shape):
                was, sides = x._a[i].copy(), []
                for h in (eps, -eps):
                    x._a[i] = was + x._a.dtype.type(h)
                    with no_grad():
                        r = f(*inputs)
                    sides.append(_val((r if isinstance(r, tuple) else (r, ))[k]).astype(_np.float64))
                x._a[i] = was
                numeric.append(((sides[0] - sides[1]) / (2 * eps)).reshape(-1))
            exact = []
            for i in range(y.numel()):
                d = zeros(y.numel(), dtype=y.dtype)
                d[i] = 1
                g = _core.grad(y, x, d.reshape(y.shape), retain_graph=True, allow_unused=True)[0]
                exact.append(_np.zeros(x.numel()) if g is None else _val(g).astype(_np.float64).reshape(-1))
            a, n = _np.stack(exact, 1) if exact else 0, _np.stack(numeric)
            if not _np.allclose(a, n, rtol, atol):
                if raise_exception:
                    raise _GradcheckError(f"Jacobian mismatch for output {k} with respect to input 0,\nnumerical:{n}\nanalytical:{a}")
                return False
    return True


class _GradcheckError(RuntimeError):
    pass


def gradgradcheck(f, inputs, grad_outputs=None, **kw):
    inputs = (inputs, ) if isinstance(inputs, Tensor) else tuple(inputs)
    y = f(*inputs)
    d = randn(y.shape, dtype=y.dtype).requires_grad_()
    xs = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]

    def g(*a):
        *xs_, d_ = a
        return _core.grad(f(*xs_), [x for x in xs_ if isinstance(x, Tensor) and x.requires_grad], d_, create_graph=True)
    return gradcheck(g, (*inputs, d), **kw)


autograd.gradcheck, autograd.gradgradcheck = gradcheck, gradgradcheck
from torch import _state  # noqa
