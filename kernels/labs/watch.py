"""Watch every access of a kernel under Triton's interpreter, lane by lane.

What lies outside of every tensor is not touched: those lanes are switched off, reads give NaN, and a finding is kept.
Masked lanes of a load without `other` are NaN too, because a GPU promises nothing about them.

The seams are `GridExecutor.__call__` and five methods of `InterpreterBuilder`, present alike in Triton 3.6 to 3.9. All are
put back when the watch ends.
"""

import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from kernels.labs.findings import Finding
from kernels.labs.races import AccessLog
from kernels.labs.regions import Region, near
from kernels.labs.source import running_line, statement_at


class Watch:
    def __init__(self, regions: list[Region]):
        self.regions = regions
        self.own = {region.tensor.untyped_storage().data_ptr() for region in regions}
        self.findings: list[Finding] = []
        self.fillers: list[str] = []  # loads that masked lanes off and gave no `other`
        self.sources: list[str] = []
        self.grid: tuple[int, ...] = ()
        self.program: tuple[int, ...] = ()
        self.launches = self.programs = self.most_lanes = 0
        self.log = AccessLog()
        self.statements: dict[tuple[str, int], str] = {}

    def statement(self) -> str:
        """The reader's statement that is running."""
        place = running_line()
        if place not in self.statements:
            self.statements[place] = statement_at(place)
        return self.statements[place]

    def add(self, kind: str, region: Region, **fields: Any) -> None:
        self.findings.append(Finding(kind, region, self.program, self.grid, **fields))

    def located(self, addresses: np.ndarray) -> tuple[np.ndarray, list[tuple[Region, np.ndarray, np.ndarray]]]:
        """Where each address truly lies (0: nowhere), and by region which lanes hit it and which elements."""
        real, hits = np.zeros(addresses.shape, dtype=np.int64), []
        for region in self.regions:
            inside, at = region.find(addresses)
            inside &= real == 0
            if inside.any():
                real[inside] = region.real[at[inside]]
                hits.append((region, inside, at[inside]))
        return real, hits

    def nearest(self, address: int) -> Region:
        return min(self.regions, key=lambda region: (not region.is_far, region.distance(address)))

    def access(self, kind: str, pointers: np.ndarray, on: np.ndarray, value: Any) -> tuple[np.ndarray, np.ndarray, list]:
        """Note one access; return the pointers and the mask with which it may go on, and what it hits."""
        addresses = pointers.astype(np.int64)
        real, hits = self.located(addresses)
        statement, self.most_lanes = self.statement(), max(self.most_lanes, addresses.size)
        wild = on & (real == 0)
        if wild.any():
            region = self.nearest(int(addresses[wild].flat[0]))
            what = dict(lanes=np.flatnonzero(wild), offsets=region.offsets(addresses[wild]), whole=not (on & ~wild).any())
            self.add("wild load" if kind == "load" else "wild store", region, statement=statement, shape=addresses.shape, **what)
        good = on & ~wild
        for region, inside, at in hits:
            if kind != "load":
                region.written[at[good[inside]]] = True
                region.skipped[at[~on[inside]]] = True
            if kind != "load" and region.role == "input" and good[inside].any():
                self.add("input", region, statement=statement, lanes=np.flatnonzero(inside & good))
        if kind == "store" and value is not None:
            self.same_element(addresses, good, value, statement)
        self.log.add(kind, real[good], self.program, statement)
        return np.where(real == 0, addresses, real).astype(np.uint64), good, hits

    def same_element(self, addresses: np.ndarray, good: np.ndarray, value: np.ndarray, statement: str) -> None:
        """Two lanes of one store that give one element different values: which one stays is chance."""
        targets, values = addresses[good], np.broadcast_to(value, addresses.shape)[good]
        order = np.argsort(targets, kind="stable")
        same = (np.diff(targets[order]) == 0) & (values[order][1:] != values[order][:-1])
        if same.any():
            lanes = np.flatnonzero(good)[order[np.flatnonzero(same)[0] :][:2]]
            region = self.nearest(int(addresses.flat[lanes[0]]))
            self.add("lanes", region, statement=statement, lanes=np.sort(lanes), offsets=region.offsets(addresses.ravel()[lanes]))

    def unset(self, hits: list, good: np.ndarray, values: np.ndarray) -> None:
        """A read of an output that nobody has written yet."""
        for region, inside, at in hits:
            if region.role == "out" and np.issubdtype(values.dtype, np.floating):
                fresh = np.zeros(inside.shape, dtype=bool)
                fresh[inside] = ~region.written[at]
                fresh &= good & np.isnan(values.reshape(good.shape))
                if fresh.any():
                    self.add("unset", region, statement=self.statement(), lanes=np.flatnonzero(fresh))

    def around_load(self, original: Callable) -> Callable:
        def create_masked_load(builder: Any, pointers: Any, mask: Any, other: Any, *rest: Any, **named: Any) -> Any:
            asked = mask.data.astype(bool)
            moved, good, hits = self.access("load", pointers.data, asked, None)
            make = type(pointers)
            result = original(builder, make(moved, pointers.dtype), make(good, mask.dtype), other, *rest, **named)
            unknown = ~good if other is None else asked & ~good
            if unknown.any():
                values = result.data.copy()
                values.view(f"u{values.itemsize}")[unknown] = 2 ** (8 * values.itemsize) - 1
                result = make(values, result.dtype)
            if other is None and not asked.all():
                self.fillers.append(self.statement())
            self.unset(hits, good, result.data)
            return result

        return create_masked_load

    def around_store(self, original: Callable) -> Callable:
        def create_masked_store(builder: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
            moved, good, _ = self.access("store", pointers.data, mask.data.astype(bool), value.data)
            make = type(pointers)
            return original(builder, make(moved, pointers.dtype), value, make(good, mask.dtype), *rest, **named)

        return create_masked_store

    def around_atomic(self, original: Callable) -> Callable:
        def create_atomic_rmw(builder: Any, kind: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
            moved, good, hits = self.access("atomic", pointers.data, mask.data.astype(bool), None)
            make = type(pointers)
            result = original(builder, kind, make(moved, pointers.dtype), value, make(good, mask.dtype), *rest, **named)
            for region, inside, _ in hits:
                old = result.data.reshape(good.shape)[inside & good]
                if region.role == "out" and np.issubdtype(old.dtype, np.floating) and np.isnan(old).any():
                    self.add("unset", region, statement=self.statement())
            return result

        return create_atomic_rmw

    def around_compare(self, original: Callable) -> Callable:
        def create_atomic_cas(builder: Any, pointers: Any, *rest: Any, **named: Any) -> Any:
            moved, good, _ = self.access("atomic", pointers.data, np.ones(pointers.data.shape, dtype=bool), None)
            if not good.all():
                raise IndexError("an atomic operation outside of every tensor")
            return original(builder, type(pointers)(moved, pointers.dtype), *rest, **named)

        return create_atomic_cas

    def around_program(self, original: Callable) -> Callable:
        def set_grid_idx(builder: Any, *index: int) -> Any:
            self.grid, self.program, self.programs = tuple(builder.grid_dim), index, self.programs + 1
            return original(builder, *index)

        return set_grid_idx

    def around_launch(self, original: Callable) -> Callable:
        def launch(executor: Any, *arguments: Any, **named: Any) -> Any:
            self.launches += 1
            self.log = AccessLog()
            self.sources.append(textwrap.dedent(inspect.getsource(executor.fn)))
            for name, tensor in (dict(zip(executor.arg_names, arguments, strict=False)) | named).items():
                if isinstance(tensor, torch.Tensor) and tensor.untyped_storage().data_ptr() not in self.own:
                    self.own.add(tensor.untyped_storage().data_ptr())
                    whole = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
                    self.regions.append(Region(name, "scratch", whole))
            result = original(executor, *map(near, arguments), **{name: near(value) for name, value in named.items()})
            for race in self.log.races():
                region = next((region for region in self.regions if race.address in region.real), self.regions[-1])
                self.program = race.programs[0]
                what = dict(other_program=race.programs[1], statement=race.statements[0], other_statement=race.statements[1])
                self.add("race", region, lanes=np.flatnonzero(region.real == race.address), **what)
            return result

        return launch

    @contextmanager
    def attached(self) -> Iterator[None]:
        from triton.runtime.interpreter import GridExecutor, InterpreterBuilder

        methods = {
            "set_grid_idx": self.around_program,
            "create_masked_load": self.around_load,
            "create_masked_store": self.around_store,
            "create_atomic_rmw": self.around_atomic,
            "create_atomic_cas": self.around_compare,
        }
        seams: list[tuple[Any, str, Callable]] = [(GridExecutor, "__call__", self.around_launch)]
        seams += [(InterpreterBuilder, name, around) for name, around in methods.items()]
        saved = [(owner, name, getattr(owner, name)) for owner, name, _ in seams]
        try:
            for owner, name, around in seams:
                setattr(owner, name, around(getattr(owner, name)))
            yield
        finally:
            for owner, name, original in saved:
                setattr(owner, name, original)
