"""Where the watch hears of a kernel: the launch, five methods of Triton's `InterpreterBuilder`, and a block's truth.

They are present alike in Triton 3.6 to 3.9. All are put back when the watch ends.
"""

import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import triton.language as tl

from kernels.labs.watch.races import AccessLog
from kernels.labs.watch.regions import Region, near
from kernels.labs.watch.source import is_reader
from kernels.labs.watch.watch import Watch, undefined


def around_load(watch: Watch, original: Callable) -> Callable:
    def create_masked_load(builder: Any, pointers: Any, mask: Any, other: Any, *rest: Any, **named: Any) -> Any:
        asked = mask.data.astype(bool)
        moved, good, hits = watch.access("load", pointers.data, asked, None)
        make = type(pointers)
        result = original(builder, make(moved, pointers.dtype), make(good, mask.dtype), other, *rest, **named)
        if other is None and not asked.all():
            watch.fillers.append(watch.statement())
            result = make(undefined(result.data, ~good, watch.extremes), result.dtype)
        elif (asked & ~good).any():
            result = make(undefined(result.data, asked & ~good), result.dtype)
        watch.unset(hits, good, result.data)
        return result

    return create_masked_load


def around_store(watch: Watch, original: Callable) -> Callable:
    def create_masked_store(builder: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        moved, good, _ = watch.access("store", pointers.data, mask.data.astype(bool), value.data)
        make = type(pointers)
        return original(builder, make(moved, pointers.dtype), value, make(good, mask.dtype), *rest, **named)

    return create_masked_store


def around_atomic(watch: Watch, original: Callable) -> Callable:
    def create_atomic_rmw(builder: Any, kind: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        moved, good, hits = watch.access("atomic", pointers.data, mask.data.astype(bool), None)
        make = type(pointers)
        result = original(builder, kind, make(moved, pointers.dtype), value, make(good, mask.dtype), *rest, **named)
        for region, inside, _ in hits:
            old = result.data.reshape(good.shape)[inside & good]
            if region.role == "out" and np.issubdtype(old.dtype, np.floating) and np.isnan(old).any():
                watch.add("unset", region, statement=watch.statement())
        return result

    return create_atomic_rmw


def around_compare(watch: Watch, original: Callable) -> Callable:
    def create_atomic_cas(builder: Any, pointers: Any, *rest: Any, **named: Any) -> Any:
        moved, good, _ = watch.access("atomic", pointers.data, np.ones(pointers.data.shape, dtype=bool), None)
        if not good.all():
            raise IndexError("an atomic operation outside of every tensor")
        return original(builder, type(pointers)(moved, pointers.dtype), *rest, **named)

    return create_atomic_cas


def around_program(watch: Watch, original: Callable) -> Callable:
    def set_grid_idx(builder: Any, *index: int) -> Any:
        watch.grid, watch.program, watch.programs = tuple(builder.grid_dim), index, watch.programs + 1
        return original(builder, *index)

    return set_grid_idx


def around_launch(watch: Watch, original: Callable) -> Callable:
    def launch(executor: Any, *arguments: Any, **named: Any) -> Any:
        watch.launches += 1
        watch.log, watch.worked, before = AccessLog(), set(), watch.programs
        watch.sources.append(textwrap.dedent(inspect.getsource(executor.fn)))
        for name, tensor in (dict(zip(executor.arg_names, arguments, strict=False)) | named).items():
            if isinstance(tensor, torch.Tensor) and tensor.untyped_storage().data_ptr() not in watch.own:
                watch.own.add(tensor.untyped_storage().data_ptr())
                whole = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
                watch.regions.append(Region(name, "scratch", whole))
        result = original(executor, *map(near, arguments), **{name: near(value) for name, value in named.items()})
        started = watch.programs - before
        watch.idle.append((started - len(watch.worked), started))
        for race in watch.log.races():
            region = next((region for region in watch.regions if race.address in region.real), watch.regions[-1])
            watch.program = race.programs[0]
            what = dict(other_program=race.programs[1], statement=race.statements[0], other_statement=race.statements[1])
            what["other_kind"] = race.other_kind
            watch.add("race", region, lanes=np.flatnonzero(region.real == race.address), **what)
        return result

    return launch


def around_patch(watch: Watch, original: Callable) -> Callable:
    """A block of several lanes always counts as true for the interpreter; the compiler refuses to ask it."""

    def patch_tensor(tensor: Any, *rest: Any) -> Any:
        result = original(tensor, *rest)
        plain = tensor.__bool__

        def is_true(block: Any) -> bool:
            if block.handle.data.size > 1 and is_reader(sys._getframe(1).f_code.co_filename):
                watch.truths.append(watch.statement())
            return plain(block)

        tensor.__bool__ = is_true
        return result

    return patch_tensor


@contextmanager
def attached(watch: Watch) -> Iterator[None]:
    from triton.runtime import interpreter
    from triton.runtime.interpreter import GridExecutor, InterpreterBuilder

    methods = {
        "set_grid_idx": around_program,
        "create_masked_load": around_load,
        "create_masked_store": around_store,
        "create_atomic_rmw": around_atomic,
        "create_atomic_cas": around_compare,
    }
    seams: list[tuple[Any, str, Callable]] = [(GridExecutor, "__call__", around_launch)]
    seams += [(InterpreterBuilder, name, around) for name, around in methods.items()]
    seams += [(interpreter, "_patch_lang_tensor", around_patch)]
    saved = [(owner, name, getattr(owner, name)) for owner, name, _ in seams]
    truth = vars(tl.tensor).get("__bool__")
    try:
        for owner, name, around in seams:
            setattr(owner, name, around(watch, getattr(owner, name)))
        yield
    finally:
        for owner, name, original in saved:
            setattr(owner, name, original)
        if truth is not None:
            tl.tensor.__bool__ = truth
        elif "__bool__" in vars(tl.tensor):
            del tl.tensor.__bool__
