"""Tensors on numpy with autograd: dtypes, storage, views, promotion, the tape. Not torch."""
import functools
import heapq
import itertools
import math

import numpy as np
from triton._C.libtriton import memory as _mem

# ---------------------------------------------------------------- dtypes
BOOL, INT, FLOAT, COMPLEX = range(4)


class dtype:
    def __init__(self, name, storage, kind, calc=None):
        self.name, self.np, self.kind = name, np.dtype(storage), kind
        self.calc = np.dtype(calc or storage)  # what numpy computes in
        self.itemsize = self.np.itemsize
        self.is_floating_point, self.is_complex = kind == FLOAT, kind == COMPLEX
        self.is_signed = kind >= FLOAT or (kind == INT and self.np.kind == "i")

    def __repr__(self):
        return "torch." + self.name

    def __reduce__(self):
        return self.name


DTYPES = {n: dtype(n, c, k, w) for n, c, k, w in [
    ("float64", "f8", FLOAT, None), ("float32", "f4", FLOAT, None), ("float16", "f2", FLOAT, "f4"),
    ("bfloat16", "u2", FLOAT, "f4"), ("float8_e4m3fn", "u1", FLOAT, "f4"), ("float8_e5m2", "u1", FLOAT, "f4"),
    ("int64", "i8", INT, None), ("int32", "i4", INT, None), ("int16", "i2", INT, None), ("int8", "i1", INT, None),
    ("uint8", "u1", INT, None), ("uint16", "u2", INT, None), ("uint32", "u4", INT, None), ("uint64", "u8", INT, None),
    ("bool", "?", BOOL, None), ("complex64", "c8", COMPLEX, None), ("complex128", "c16", COMPLEX, None)]}
globals().update({n: d for n, d in DTYPES.items() if n != "bool"})
bool_ = DTYPES["bool"]
_BY_NP = {d.np: d for n, d in DTYPES.items() if n not in ("bfloat16", "float8_e4m3fn", "float8_e5m2")}
_8BIT = {}


def _table(dt):
    """The 256 values of an 8-bit float."""
    if dt not in _8BIT:
        e, m = (4, 3) if dt is float8_e4m3fn else (5, 2)
        u = np.arange(256)
        exp, man = (u >> m) & (2**e - 1), u & (2**m - 1)
        bias = 2**(e - 1) - 1
        v = np.where(exp == 0, man / 2**m * 2.0**(1 - bias), (1 + man / 2**m) * 2.0**(exp - bias))
        if m == 3:
            v[(u & 127) == 127] = np.nan
        else:
            v = np.where(exp == 31, np.where(man == 0, np.inf, np.nan), v)
        _8BIT[dt] = np.where(u >> 7, -v, v).astype(np.float32)
    return _8BIT[dt]


def _to_8bit(a, dt):
    t = _table(dt)
    pos = t[:128]
    top = np.flatnonzero(np.isfinite(pos))[-1]
    grid, x = pos[:top + 1].astype(np.float64), np.abs(np.asarray(a, np.float64))
    i = np.clip(np.searchsorted(grid, x), 1, top)
    lo, hi = grid[i - 1], grid[i]
    up = (x - lo > hi - x) | ((x - lo == hi - x) & (i % 2 == 0))
    r = np.where(up, i, i - 1)
    half = (grid[top] - grid[top - 1]) / 2
    r = np.where((x > grid[top] + half) | ~np.isfinite(x), 127 if dt is float8_e4m3fn else 124, r)
    r = np.where(np.isnan(x), 127, r)
    return (r | (np.signbit(a) << 7)).astype(np.uint8)


def _encode(a, dt):
    """A numpy value in the bits that `dt` stores."""
    if dt is bfloat16:
        f = np.asarray(a).astype(np.float32)
        u = f.view(np.uint32) if f.ndim else np.float32(f).reshape(1).view(np.uint32)[0]
        r = ((u + np.uint32(0x7FFF) + ((u >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)
        return np.where(np.isnan(f), np.uint16(0x7FC0), r)
    if dt.itemsize == 1 and dt.kind == FLOAT:
        return _to_8bit(np.asarray(a, np.float32), dt)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(a).astype(dt.np, copy=False)


def _decode(a, dt):
    if dt is bfloat16:
        return (a.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return _table(dt)[a] if dt.itemsize == 1 and dt.kind == FLOAT else a


def _val(x):
    """The numpy value of a tensor; anything else as it is."""
    return _decode(x._a, x.dtype) if isinstance(x, Tensor) else x


def _calc(x, dt):
    """The numpy value that an operation with result type `dt` computes with."""
    return np.asarray(_val(x)).astype(dt.calc, copy=False)


def promote(a, b):
    if a is None or b is None or a is b:
        return a or b
    if a.kind != b.kind:
        return max(a, b, key=lambda d: d.kind)
    if a.itemsize != b.itemsize:
        big, small = (a, b) if a.itemsize > b.itemsize else (b, a)
        return big
    return float32 if a.kind == FLOAT else int16 if {a, b} == {int8, uint8} else a


def _kind_of(x):
    return bool_ if isinstance(x, (bool, np.bool_)) else int64 if isinstance(x, (int, np.integer)) else \
        complex64 if isinstance(x, complex) else _default[0]


_default = [DTYPES["float32"]]


def result_type(*xs):
    best = [None, None, None]
    for x in xs:
        i, d = (0 if x.ndim else 1, x.dtype) if isinstance(x, Tensor) else (2, _kind_of(x))
        best[i] = promote(best[i], d)
    r = best[0]
    for b in best[1:]:
        r = b if b and (r is None or b.kind > r.kind) else r
    return r


# ---------------------------------------------------------------- devices, storage
class device:
    def __init__(self, type="cpu", index=None):
        kind, _, n = str(getattr(type, "type", type)).partition(":")
        self.type, self.index = kind, int(n) if n else index

    def __repr__(self):
        return f"device(type='{self.type}')"

    def __str__(self):
        return self.type

    __eq__ = lambda self, o: isinstance(o, device) and self.type == o.type
    __hash__ = lambda self: hash(self.type)
    __enter__ = lambda self: self
    __exit__ = lambda self, *a: None


CPU = device("cpu")


class Storage:
    """Bytes; they get a virtual address when somebody asks for it, and give it back when they go."""

    def __init__(self, nbytes):
        self.buf, self._base, self.version = np.zeros(nbytes + 8, np.uint8)[:nbytes], None, 0

    def data_ptr(self):
        if self._base is None:
            self._base = _mem.register(self.buf)
        return self._base

    def __del__(self):
        if self._base is not None and _mem:
            _mem.release(self._base)

    cpu = lambda self: self
    nbytes = lambda self: self.buf.size
    size = nbytes
    __len__ = nbytes

    def copy_(self, other):
        if other is not self:
            self.buf[:] = other.buf
        return self


class Size(tuple):
    numel = lambda self: math.prod(self)
    __repr__ = lambda self: f"torch.Size([{', '.join(map(str, self))}])"
    __getitem__ = lambda self, i: Size(tuple.__getitem__(self, i)) if isinstance(i, slice) else tuple.__getitem__(self, i)
    __add__ = lambda self, o: Size(tuple(self) + tuple(o))


def _contiguous_strides(shape):
    out, n = [], 1
    for s in reversed(shape):
        out.append(n)
        n *= max(s, 1)
    return tuple(reversed(out))


def _dense_strides(shape, strides):
    """A layout without gaps in the order of the given strides, as torch's infer_dense_strides finds it."""
    perm = list(range(len(shape)))[::-1]
    for i in range(1, len(perm)):
        at = i
        for j in range(i - 1, -1, -1):
            a, b = strides[perm[j]], strides[perm[at]]
            if not a or not b or (a == b and shape[perm[j]] <= shape[perm[at]]):
                continue
            if a < b:
                break
            perm[j], perm[at], at = perm[at], perm[j], j
    out, n = [0] * len(shape), 1
    for d in perm:
        out[d], n = n, n * max(shape[d], 1)
    return out


def _shape(shape):
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = shape[0]
    return tuple(int(s) for s in shape)


def _new(a, dt=None):
    """A new tensor with the values of a numpy array, laid out as numpy laid it out."""
    a = np.asarray(a)
    dt = dt or _BY_NP[a.dtype]
    return _stored(_encode(a, dt), dt)


def _stored(bits, dt):
    t = Tensor(Storage(bits.size * dt.itemsize), 0, bits.shape,
               None if bits.flags.c_contiguous else [s // dt.itemsize for s in np.empty_like(bits).strides], dt)
    t._a[...] = bits
    return t


# ---------------------------------------------------------------- the tape
_grad = [True]
_hooks = []
_number = itertools.count()


class Node:
    """One recorded operation: where gradients go next, what it kept, and how to pull a gradient back."""
    name = "Node"

    def __init__(self, ins, vjp, saved=(), outs=1):
        self.edges = [_edge(t) for t in ins]
        self.metas = [(t.shape, t.dtype) if isinstance(t, Tensor) else None for t in ins]
        self.vjp, self.outs, self.number, self.out_meta = vjp, outs, next(_number), [None] * outs
        self.keep(saved)

    def keep(self, saved):
        pack, unpack = _hooks[-1] if _hooks else (None, None)
        self.unpack = unpack
        self.saved = [(pack(t.detach() if pack else t), None, None) if pack and isinstance(t, Tensor) else
                      (t, t._s.version, t.requires_grad and t._node is self) if isinstance(t, Tensor) else (t, None, None)
                      for t in saved]

    def kept(self):
        if self.saved is None:
            raise RuntimeError("Trying to backward through the graph a second time (or directly access saved tensors after "
                               "they have already been freed). Saved intermediate values of the graph are freed when you call "
                               ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
                               "graph a second time or if you need to access saved tensors after calling backward.")
        out = []
        for t, version, _ in self.saved:
            if version is not None and t._s.version != version:
                raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace "
                                   f"operation: [{t.dtype!r} {list(t.shape)}] is at version {t._s.version}; expected version "
                                   f"{version} instead. Hint: enable anomaly detection to find the operation that failed to "
                                   "compute its gradient, with torch.autograd.set_detect_anomaly(True).")
            out.append(self.unpack(t) if self.unpack and version is None else t)
        return out

    def pull(self, gs):
        return self.vjp(gs[0], *self.kept())

    next_functions = property(lambda self: tuple((e[0], e[1]) if isinstance(e, tuple) else (e, 0) for e in self.edges))


@functools.cache
def _node_type(name, base=Node):
    return type(name, (base,), {"name": lambda self: name})


class _Leaf:
    """What a leaf gets in place of a node."""

    def __init__(self, t):
        self.t = t


def _edge(t):
    if not isinstance(t, Tensor) or not t.requires_grad:
        return None
    if t._node is not None:
        return t._node, t._nr
    if t._leaf is None:
        t._leaf = _Leaf(t)
    return t._leaf


def _rec(name, out, ins, vjp, *saved):
    """Put `out`, just computed from `ins`, on the tape."""
    if _grad[0] and any(isinstance(t, Tensor) and t.requires_grad for t in ins) and out.dtype.kind >= FLOAT:
        out.requires_grad, out._nr = True, 0
        out._node = node = _node_type(name + "Backward0")(ins, vjp)
        node.out_meta[0] = (out.shape, out.dtype)
        node.keep(saved)
    return out


def _fit(g, meta):
    shape, dt = meta
    if g.shape != shape:
        g = g.sum_to_size(shape)
    return g if g.dtype is dt else g.to(dt)


def _backprop(roots, grads, targets, keep, create):
    """-> gradients of the targets, or, without targets, nothing: leaves then take theirs."""
    wanted = {}
    for k, t in enumerate(targets or ()):
        e = _edge(t)
        if e is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        wanted.setdefault(e, []).append(k)
    leads = {}

    def needed(e):
        if e is None or not targets:
            return e is not None
        if e in wanted:
            return True
        if isinstance(e, _Leaf):
            return False
        todo = [e[0]]
        while todo:
            n = todo[-1]
            if n in leads:
                todo.pop()
                continue
            nexts = [x[0] for x in n.edges if isinstance(x, tuple) and x not in wanted and x[0] not in leads]
            if nexts:
                todo += nexts
            else:
                leads[n] = any(x is not None and (x in wanted or (isinstance(x, tuple) and leads[x[0]])) for x in n.edges)
                todo.pop()
        return leads[e[0]]

    found, pending, heap = {}, {}, []

    def give(e, g):
        if e in wanted:
            found[e] = g if e not in found else found[e] + g
        if isinstance(e, _Leaf):
            if not targets:
                t = e.t
                for h in t._post:
                    g = h(g) or g
                g = g if create else g.detach()
                t.grad = (g.clone() if not create and g._s is not None else g) if t.grad is None else t.grad + g
        elif needed((e[0], None)) if targets else True:
            node, nr = e
            if node not in pending:
                pending[node] = [None] * node.outs
                heapq.heappush(heap, (-node.number, node))
            old = pending[node][nr]
            pending[node][nr] = g if old is None else old + g

    was, _grad[0] = _grad[0], create
    try:
        for r, g in zip(roots, grads):
            give(_edge(r), g)
        while heap:
            _, node = heapq.heappop(heap)
            back = node.pull(pending.pop(node))
            for e, meta, g in zip(node.edges, node.metas, back):
                if e is not None and g is not None and (needed(e)):
                    g = g() if callable(g) and not isinstance(g, Tensor) else g
                    if g is not None:
                        give(e, _fit(g, meta))
            if not keep:
                node.saved = None if node.saved else node.saved
    finally:
        _grad[0] = was
    return [found.get(_edge(t)) for t in targets or ()]


def _roots(outputs, given):
    grads = []
    for t, g in zip(outputs, given):
        if not t.requires_grad:
            raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
        if g is None:
            if t.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            g = _new(np.ones(t.shape), t.dtype)
        elif g.shape != t.shape:
            raise RuntimeError(f"Mismatch in shape: grad_output[0] has a shape of {g.shape} and output[0] has a shape of {t.shape}.")
        grads.append(g)
    return grads


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None, **kw):
    outputs, inputs = ((x,) if isinstance(x, Tensor) else tuple(x) for x in (outputs, inputs))
    given = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs or [None] * len(outputs))
    keep = create_graph if retain_graph is None else retain_graph
    got = _backprop(outputs, _roots(outputs, given), inputs, keep, create_graph)
    if any(g is None for g in got) and not allow_unused:
        raise RuntimeError("One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True "
                           "if this is the desired behavior.")
    return tuple(got)


class _switch:
    def __init__(self, on):
        self.on = on

    def __enter__(self):
        self.was = getattr(self, "was", []) + [_grad[0]]
        _grad[0] = self.on

    def __exit__(self, *a):
        _grad[0] = self.was.pop()

    def __call__(self, f):
        @functools.wraps(f)
        def g(*a, **k):
            with type(self)(self.on) if type(self) is _switch else type(self)():
                return f(*a, **k)
        return g


class no_grad(_switch):
    def __init__(self, f=None):
        super().__init__(False)

    def __new__(cls, f=None):
        self = super().__new__(cls)
        if f is not None:
            self.__init__()
            return self(f)
        return self


class enable_grad(_switch):
    def __init__(self):
        super().__init__(True)


class Ctx(Node):
    """A custom Function's node, and its ctx."""
    dirty, materialize, plain, to_save = (), True, (), ()

    def __init__(self):
        pass

    def save_for_backward(self, *ts):
        self.to_save = ts

    def mark_dirty(self, *ts):
        self.dirty = ts

    def mark_non_differentiable(self, *ts):
        self.plain = ts

    def set_materialize_grads(self, on):
        self.materialize = on

    saved_tensors = property(lambda self: tuple(self.kept()) if hasattr(self, "saved") else self.to_save)

    def pull(self, gs):
        if self.materialize:
            gs = [g if g is not None or m is None else _new(np.zeros(m[0]), m[1]) for g, m in zip(gs, self.out_meta)]
        back = self.function.backward(self, *gs)
        return back if isinstance(back, tuple) else (back,)


class Function:
    @classmethod
    def apply(cls, *args):
        ctx = _node_type(cls.__name__ + "Backward", Ctx)()
        ctx.function = cls
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        with no_grad():
            if "setup_context" in {k for c in cls.__mro__ for k in vars(c)}:
                out = cls.forward(*args)
                cls.setup_context(ctx, args, out)
            else:
                out = cls.forward(ctx, *args)
        outs = out if isinstance(out, tuple) else (out,)
        if _grad[0] and any(ctx.needs_input_grad):
            Node.__init__(ctx, args, None, (), len(outs))
            outs = list(outs)
            for k, t in enumerate(outs):
                if not isinstance(t, Tensor):
                    continue
                ctx.out_meta[k] = (t.shape, t.dtype)
                if any(t is p for p in ctx.plain) or t.dtype.kind < FLOAT:
                    continue
                if any(t is a for a in args) and not any(t is d for d in ctx.dirty):
                    t = outs[k] = t.detach()
                t.requires_grad, t._node, t._nr = True, ctx, k
            saved = [next((o for o in outs if isinstance(o, Tensor) and isinstance(t, Tensor) and o is t), t) for t in ctx.to_save]
            ctx.keep(saved)
        return tuple(outs) if isinstance(out, tuple) else outs[0]


def once_differentiable(f):
    @functools.wraps(f)
    def g(ctx, *gs):
        with no_grad():
            out = f(ctx, *gs)
        if not _grad[0] or not any(isinstance(x, Tensor) and x.requires_grad for x in gs):
            return out

        def refuse(*a):
            raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")
        outs = tuple(o.detach() if isinstance(o, Tensor) else o for o in (out if isinstance(out, tuple) else (out,)))
        return tuple(_rec("Error", o, [x for x in gs if isinstance(x, Tensor)], refuse) if isinstance(o, Tensor) else o for o in outs)
    return g


# ---------------------------------------------------------------- tensors
def _dims(dim, ndim):
    if dim is None:
        return None
    if isinstance(dim, (tuple, list)):
        return tuple(d % max(ndim, 1) for d in dim) or None
    if not -max(ndim, 1) <= dim < max(ndim, 1):
        raise IndexError(f"Dimension out of range (expected to be in range of [{-max(ndim, 1)}, {max(ndim, 1) - 1}], but got {dim})")
    return (dim % max(ndim, 1), ) if ndim else None


class Tensor:
    is_cuda, device, layout, is_sparse, is_quantized, is_meta, is_nested = False, CPU, "torch.strided", False, False, False, False
    grad, requires_grad, _node, _nr, _leaf, _post, names, _retain = None, False, None, 0, None, (), None, False

    def __init__(self, storage, offset, shape, stride, dt):
        self._s, self._off, self.dtype = storage, offset, dt
        stride = _contiguous_strides(shape) if stride is None else stride
        n = dt.itemsize
        self._a = np.ndarray(tuple(shape), dt.np, storage.buf, offset * n if math.prod(shape) else 0, [s * n for s in stride])

    # what the interpreter asks of a tensor
    data_ptr = lambda self: self._s.data_ptr() + self._off * self.dtype.itemsize
    untyped_storage = lambda self: self._s
    storage_offset = lambda self: self._off
    size = lambda self, d=None: self.shape if d is None else self._a.shape[d]
    dim = lambda self: self._a.ndim
    numel = nelement = lambda self: self._a.size
    element_size = lambda self: self.dtype.itemsize
    shape = property(lambda self: Size(self._a.shape))
    ndim = property(lambda self: self._a.ndim)
    nbytes = property(lambda self: self._a.size * self.dtype.itemsize)
    itemsize = property(lambda self: self.dtype.itemsize)
    is_contiguous = lambda self, memory_format=None: self._a.flags.c_contiguous or self._a.size == 0
    is_floating_point = lambda self: self.dtype.is_floating_point
    is_complex = lambda self: self.dtype.is_complex
    is_leaf = property(lambda self: self._node is None)
    grad_fn = property(lambda self: self._node)
    _version = property(lambda self: self._s.version)
    data = property(lambda self: self.detach())
    get_device = lambda self: -1
    is_neg = is_conj = is_inference = lambda self: False
    resolve_neg = resolve_conj = lambda self: self
    pin_memory = lambda self, *a: self
    record_stream = lambda self, *a: None
    type = lambda self, dt=None: self.to(dt) if dt is not None else "torch.FloatTensor"
    __hash__ = object.__hash__

    def stride(self, d=None):
        s = tuple(x // self.dtype.itemsize for x in self._a.strides)
        return s if d is None else s[d]

    def new_empty(self, *shape, dtype=None, device=None, **kw):
        dt = dtype or self.dtype
        shape = _shape(shape)
        return Tensor(Storage(math.prod(shape) * dt.itemsize), 0, shape, None, dt)

    new_zeros = new_empty
    new_full = lambda self, shape, v, dtype=None, **kw: self.new_empty(shape, dtype=dtype).fill_(v)
    new_ones = lambda self, *shape, dtype=None, **kw: self.new_empty(*shape, dtype=dtype).fill_(1)
    new_tensor = lambda self, v, dtype=None, **kw: _new(np.asarray(_val(v)), dtype or self.dtype)

    def set_(self, storage, offset=0, size=None, stride=None):
        size = (len(storage.buf) // self.dtype.itemsize, ) if size is None else size
        Tensor.__init__(self, storage, offset, size, stride, self.dtype)
        return self

    def as_subclass(self, cls):
        t = object.__new__(cls)
        t.__dict__.update(self.__dict__)
        return t

    def requires_grad_(self, on=True):
        if on and self.dtype.kind < FLOAT:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self.requires_grad = on
        return self

    def retain_grad(self):
        def keep(g):
            self.grad = g if self.grad is None else self.grad + g
        self.register_hook(keep)

    def register_hook(self, h):
        if self._node is None:
            self._post = (*self._post, h)
            return
        node, nr, pull = self._node, self._nr, self._node.pull

        def hooked(gs):
            gs = list(gs)
            if gs[nr] is not None:
                r = h(gs[nr])
                gs[nr] = gs[nr] if r is None else r
            return pull(gs)
        node.pull = hooked

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        keep = create_graph if retain_graph is None else retain_graph
        _backprop([self], _roots([self], [gradient]), None, keep, create_graph)

    def detach(self):
        return Tensor(self._s, self._off, self._a.shape, self.stride(), self.dtype)

    def detach_(self):
        self._node, self.requires_grad = None, False
        return self

    # views
    def _seen(self, a):
        """A tensor over a numpy view of this one."""
        off = (a.__array_interface__["data"][0] - self._s.buf.__array_interface__["data"][0]) // self.dtype.itemsize
        return Tensor(self._s, off if a.size else 0, a.shape, [x // self.dtype.itemsize for x in a.strides], self.dtype)

    def _looked(self, a):
        return self._seen(a) if np.may_share_memory(a, self._s.buf) else _stored(a, self.dtype)

    def _view(name, f, back):
        def g(self, *args):
            return _rec(name, self._seen(f(self._a, *args)), (self,), lambda d, shape=self.shape: (back(d, shape, *args),))
        return g

    t = _view("T", lambda a: a.T, lambda d, s: d.t())
    T = property(t)
    mT = property(lambda self: self.transpose(-2, -1))
    H = mH = mT
    transpose = swapaxes = swapdims = _view("Transpose", lambda a, i, j: a.swapaxes(i, j), lambda d, s, i, j: d.transpose(i, j))
    _permute = _view("Permute", lambda a, p: a.transpose(p), lambda d, s, p: d.permute([p.index(i) for i in range(len(p))]))
    permute = lambda self, *d: self._permute(tuple(i % max(self.ndim, 1) for i in _shape(d)))
    unsqueeze = _view("Unsqueeze", lambda a, i: np.expand_dims(a, i), lambda d, s, i: d.squeeze(i))
    _expand = _view("Expand", lambda a, s: np.lib.stride_tricks.as_strided(np.broadcast_to(a, s), s), lambda d, s, _: d.sum_to_size(s))
    as_strided = lambda self, size, stride, storage_offset=None: Tensor(
        self._s, self._off if storage_offset is None else storage_offset, tuple(size), tuple(stride), self.dtype)

    def squeeze(self, dim=None):
        dims = [i for i in (range(self.ndim) if dim is None else _dims(dim, self.ndim) or ()) if self.shape[i] == 1]
        return _rec("Squeeze", self._seen(self._a.squeeze(tuple(dims))), (self,), lambda d, s=self.shape: (d.reshape(s),))

    def expand(self, *shape):
        shape = _shape(shape)
        lead = len(shape) - self.ndim
        return self._expand(tuple(self.shape[i - lead] if s == -1 else s for i, s in enumerate(shape)))

    broadcast_to = expand
    expand_as = lambda self, o: self.expand(o.shape)

    def reshape(self, *shape):
        a = self._a.reshape(_shape(shape))
        return _rec("View", self._looked(a), (self,), lambda d, s=self.shape: (d.reshape(s),))

    def view(self, *shape):
        if isinstance(shape[0], dtype):
            dt, n = shape[0], self.dtype.itemsize
            if dt.itemsize == n:
                return Tensor(self._s, self._off, self.shape, self.stride(), dt)
            last = self.shape[-1] * n // dt.itemsize
            strides = [s * n // dt.itemsize for s in self.stride()[:-1]] + [1]
            return Tensor(self._s, self._off * n // dt.itemsize, (*self.shape[:-1], last), strides, dt)
        a = self._a.reshape(_shape(shape))
        if not np.may_share_memory(a, self._a) and a.size:
            raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension spans "
                               "across two contiguous subspaces). Use .reshape(...) instead.")
        return _rec("View", self._looked(a), (self,), lambda d, s=self.shape: (d.reshape(s),))

    view_as = reshape_as = lambda self, o: self.reshape(o.shape)
    ravel = lambda self: self.reshape(-1)

    def flatten(self, start=0, end=-1, start_dim=None, end_dim=None):
        s, n = self.shape, max(self.ndim, 1)
        a, b = (start if start_dim is None else start_dim) % n, (end if end_dim is None else end_dim) % n
        return self.reshape(*s[:a], math.prod(s[a:b + 1]), *s[b + 1:]) if s else self.reshape(1)

    def unflatten(self, dim, sizes):
        d = dim % self.ndim
        return self.reshape(*self.shape[:d], *sizes, *self.shape[d + 1:])

    def narrow(self, dim, start, length):
        return self[(slice(None), ) * (dim % self.ndim) + (slice(start, start + length), )]

    select = lambda self, dim, i: self[(slice(None), ) * (dim % self.ndim) + (i, )]

    def split(self, size, dim=0):
        n = self.shape[dim]
        sizes = [min(size, n - i) for i in range(0, n, size)] if isinstance(size, int) else list(size)
        starts = np.cumsum([0, *sizes])
        return tuple(self.narrow(dim, int(i), int(s)) for i, s in zip(starts, sizes))

    unfold = lambda self, dim, size, step: self._seen(np.moveaxis(np.lib.stride_tricks.sliding_window_view(self._a, size, dim), 0, 0)[
        (slice(None), ) * (dim % self.ndim) + (slice(None, None, step), )])
    chunk = lambda self, n, dim=0: self.split(-(-self.shape[dim] // n), dim)
    unbind = lambda self, dim=0: tuple(self.select(dim, i) for i in range(self.shape[dim]))
    diagonal = lambda self: self._seen(self._a.diagonal())

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    # copies and types
    def clone(self, memory_format=None):
        return _rec("Clone", _stored(self._a.copy(order="K"), self.dtype), (self,), lambda d: (d,))

    def contiguous(self, memory_format=None):
        if self.is_contiguous():
            return self
        return _rec("Clone", _stored(np.ascontiguousarray(self._a), self.dtype), (self,), lambda d: (d,))

    def to(self, *args, dtype=None, device=None, copy=False, **kw):
        for x in args:
            dtype = x if isinstance(x, globals()["dtype"]) else x.dtype if isinstance(x, Tensor) else dtype
            _check_device(x)
        _check_device(device)
        if dtype in (None, self.dtype):
            return self.clone() if copy else self
        v = _val(self)
        if dtype.kind == BOOL:
            v = v != 0
        return _rec("ToCopy", _new(v, dtype), (self,), lambda d: (d,))

    type_as = lambda self, o: self.to(o.dtype)
    cpu = lambda self: self

    def cuda(self, *a):
        _check_device("cuda")

    float = lambda self: self.to(float32)
    double = lambda self: self.to(float64)
    half = lambda self: self.to(float16)
    bfloat16 = lambda self: self.to(bfloat16)
    int = lambda self: self.to(int32)
    long = lambda self: self.to(int64)
    short = lambda self: self.to(int16)
    bool = lambda self: self.to(bool_)

    def numpy(self):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return _val(self)

    def item(self):
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return _val(self).item()

    tolist = lambda self: _val(self).tolist()
    __float__ = lambda self: float(self.item())
    __int__ = lambda self: int(self.item())
    __complex__ = lambda self: complex(self.item())
    __array__ = lambda self, dtype=None, copy=None: np.asarray(self.numpy(), dtype)
    __array_priority__ = 1000
    __len__ = lambda self: self._a.shape[0]
    __contains__ = lambda self, x: bool((self == x).any())
    __format__ = lambda self, spec: self.item().__format__(spec) if not self.ndim else object.__format__(self, spec)

    def __index__(self):
        if self.dtype.kind > INT or self.numel() != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __bool__(self):
        if self.numel() != 1:
            raise RuntimeError(f"Boolean value of Tensor with {'no values' if not self.numel() else 'more than one value'} is ambiguous")
        return bool(self.item())

    def __repr__(self):
        from torch._show import show
        return show(self)

    def __deepcopy__(self, memo):
        return self.detach().clone().requires_grad_(self.requires_grad)

    def __getitem__(self, i):
        i = _index(i)
        a = self._a[i]
        out = self._looked(a) if isinstance(a, np.ndarray) else self._seen(self._a[(*i, ...)] if isinstance(i, tuple) else self._a[i, ...])
        return _rec("Index", out, (self,), lambda d, s=self.shape: (_put(d, s, i),))

    # changes in place
    def _touch(self):
        """Before a change in place."""
        if self.requires_grad and self._node is None and _grad[0]:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        self._s.version += 1

    def _rebase(self, name, ins, vjp, *saved):
        if _grad[0] and any(isinstance(t, Tensor) and t.requires_grad for t in ins):
            node = _node_type(name + "Backward0")(ins, vjp)
            node.keep(saved)
            node.out_meta[0] = (self.shape, self.dtype)
            self.requires_grad, self._node, self._nr = True, node, 0
        return self

    def __setitem__(self, i, v):
        self._touch()
        i = _index(i)
        self._a[i] = _encode(_val(v), self.dtype)

        def back(d):
            mine = d.clone()
            mine.detach()[i] = 0
            return mine, (lambda: d[i]) if isinstance(v, Tensor) else None
        self._rebase("CopySlices", (self, v), back)

    def copy_(self, other, non_blocking=False):
        self._touch()
        self._a[...] = _encode(_val(other), self.dtype)
        return self._rebase("Copy", (self, other), lambda d: (lambda: d * 0, d))

    def fill_(self, v):
        self._touch()
        self._a[...] = _encode(_val(v), self.dtype)
        return self._rebase("Fill", (self,), lambda d: (d * 0,))

    zero_ = lambda self: self.fill_(0)


def _moved(n, s, d):
    s, d = ([x] if isinstance(x, int) else list(x) for x in (s, d))
    s, d = [i % n for i in s], [i % n for i in d]
    order = [i for i in range(n) if i not in s]
    for to, frm in sorted(zip(d, s)):
        order.insert(to, frm)
    return order


Tensor.movedim = Tensor.moveaxis = lambda self, s, d: self.permute(_moved(self.ndim, s, d)) if self.ndim else self


def _check_device(x):
    if isinstance(x, (str, device)) and device(x).type == "cuda":
        raise RuntimeError("No CUDA device in this page: the kernels run in Triton's interpreter on the CPU.")


def _index(i):
    one = lambda k: (k._a.item() if not k.ndim and k.dtype.kind == INT else k._a) if isinstance(k, Tensor) else k
    return tuple(one(k) for k in i) if isinstance(i, tuple) else one(i)


def _put(d, shape, i):
    out = np.zeros(shape, d.dtype.calc)
    np.add.at(out, i, _val(d))
    return _rec("IndexPut", _new(out, d.dtype), (d,), lambda g: (g[_as_index(i)],))


def _as_index(i):
    one = lambda k: _new(k) if isinstance(k, np.ndarray) else k
    return tuple(one(k) for k in i) if isinstance(i, tuple) else one(i)
