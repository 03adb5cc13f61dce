"""Record what every program of a Triton kernel does, under Triton's interpreter.

    record(add_kernel, lambda: add_kernel[(4,)](x, y, out, 1000, BLOCK=256), {"x": x, "y": y, "out": out})

A recording lists, program by program, the statements of the kernel that changed something: a variable that was
set, a round of a loop, a reduction, a product of matrices, a load, a store, an atomic. The interpreter runs programs
one after another; a recording keeps no order between them, because a GPU promises none. For the same reason it keeps
no value that an atomic returned.

Three seams are used, present alike in Triton 3.6 to 3.9: Python's own line tracing for the kernel's variables, the
public names `tl.max`, `tl.min` and `tl.sum`, and some methods of the interpreter's builder (see `attached`).

Offsets count elements from a tensor's first one, as the kernel's pointers do. Where a tensor is a view whose elements
do not lie one after another, its strides are recorded, and an offset between its elements is outside of it.
Numbers are coded as runs, [first, count, step], lanes as [state, first, count, step]; where rows of a block repeat with
a constant shift, as [times, shift, [run, ...]].

`python -m scripts.recording.recorder NAME` prints the recording of one run of `scripts/recording/cases/`, such as
first_kernel/add, as JSON.
"""

import ast
import importlib
import inspect
import io
import itertools
import json
import sys
import tokenize
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from types import FrameType
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime.interpreter import InterpretedFunction, InterpreterBuilder

REDUCTIONS = ("max", "min", "sum")
ATOMICS = {"FADD": "add", "UMAX": "max", "UMIN": "min"}
MOST_VALUES = 256
GUARD_BYTES = 2**22
Event = dict[str, Any]


def runs(numbers: list[int]) -> list[list[int]]:
    """Code a list as [first, count, step] runs."""
    coded: list[list[int]] = []
    for number in numbers:
        if coded:
            first, count, step = coded[-1]
            if count == 1 or number == first + count * step:
                coded[-1] = [first, count + 1, number - first if count == 1 else step]
                continue
        coded.append([number, 1, 0])
    return coded


def repeated(rows: list[list[list[Any]]]) -> list[list[Any]]:
    """Code rows of runs, those that repeat the row before with a constant shift as [times, shift, row]."""

    def shift(row: list[list[Any]], then: list[list[Any]]) -> int | None:
        shifts = {after[-3] - before[-3] for before, after in zip(row, then, strict=False)}
        alike = [run[:-3] + run[-2:] for run in row] == [run[:-3] + run[-2:] for run in then]
        return shifts.pop() if alike and len(shifts) == 1 else None

    groups: list[list[Any]] = []
    last: list[list[Any]] = []
    for row in rows:
        step = shift(last, row)
        if groups and step is not None and (groups[-1][0] == 1 or step == groups[-1][1]):
            groups[-1][:2] = [groups[-1][0] + 1, step]
        else:
            groups.append([1, 0, row])
        last = row
    return [item for group in groups for item in (group[2] if group[0] == 1 else [group])]


def rows_of(data: np.ndarray) -> list[list[Any]]:
    """The rows of a block; a column is taken as one row."""
    width = data.shape[-1] if data.ndim and data.shape[-1] > 1 else data.size
    return data.reshape(-1, width).tolist()


def block_runs(data: np.ndarray) -> list[list[Any]]:
    return repeated([runs(row) for row in rows_of(data)])


def lane_runs(offsets: np.ndarray, mask: np.ndarray, inside: np.ndarray) -> list[list[Any]]:
    """Code lanes in row-major order as [state, first offset, count, step] runs; a state is on, masked or outside."""

    def state(offset: int, on: bool) -> str:
        return "masked" if not on else "on" if 0 <= offset < inside.size and inside[offset] else "outside"

    def coded(row: list[int], mask: list[bool]) -> list[list[Any]]:
        lanes = [(state(offset, on), offset) for offset, on in zip(row, mask, strict=True)]
        groups = itertools.groupby(lanes, key=lambda lane: lane[0])
        return [[name, *run] for name, group in groups for run in runs([offset for _, offset in group])]

    return repeated([coded(row, on) for row, on in zip(rows_of(offsets), rows_of(mask), strict=True)])


def printable(value: Any) -> str:
    """Four digits: what a reader sees, and few enough that every machine writes the same ones."""
    if not np.issubdtype(value.dtype, np.floating):
        return str(int(value))
    return "?" if np.isnan(value) else f"{value + 0.0:.4g}"


def printable_values(data: np.ndarray, known: np.ndarray | bool = True) -> Event:
    """The values in row-major order, a question mark for each lane whose value nothing defines."""
    known = np.broadcast_to(known, data.shape)
    return {"values": " ".join(printable(value) if shown else "?" for value, shown in zip(data.flat, known.flat, strict=True))}


def unconverted(node: ast.expr) -> ast.expr:
    """Give the `x` of `x.to(...)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="to")):
            return inner
    return node


def without_comments(text: str) -> str:
    """Leave out what the hash of the code leaves out, so that an edited comment makes no recording stale."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    return "\n".join(lines)


class Source:
    """A kernel's text without its comments, and its statements by line."""

    def __init__(self, kernel: InterpretedFunction):
        self.function = kernel.fn
        lines, self.first = inspect.getsourcelines(self.function)
        self.code = without_comments("".join(lines))
        kept = [(self.first + i, line) for i, line in enumerate(self.code.splitlines()) if line.strip()]
        self.text = [line for _, line in kept]
        self.shown_line = {line: number for number, (line, _) in enumerate(kept, start=1)}
        self.statements = self._statements()

    def _statements(self) -> dict[int, tuple[int, int, ast.stmt]]:
        """Map each line of the file to its innermost statement: first line, last line of the header, node."""
        found = {}
        for node in ast.walk(ast.parse(self.code)):
            if isinstance(node, ast.stmt):
                body = getattr(node, "body", None)
                last = max(node.lineno, body[0].lineno - 1 if body else node.end_lineno or 0)
                while self.first + last - 1 not in self.shown_line:
                    last -= 1
                for line in range(node.lineno, last + 1):
                    found[self.first + line - 1] = (self.first + node.lineno - 1, self.first + last - 1, node)
        return found

    def place(self, line: int) -> Event:
        first, last, _ = self.statements[line]
        shown_first, shown_last = self.shown_line[first], self.shown_line[last]
        return {"line": shown_first} | ({"last_line": shown_last} if shown_last > shown_first else {})

    def call_text(self, line: int, name: str) -> Event:
        """Find the text of the only call of `tl.<name>` in the statement at `line`."""
        statement = self.statements[line][2]
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call) and ast.unparse(node.func) == f"tl.{name}"]
        text = ast.get_source_segment(self.code, calls[0]) if len(calls) == 1 else None
        return {"text": text} if text else {}

    def names(self, line: int) -> Event:
        """Name the two variables that the statement at `line` adds, or the one it transposes, if it does nothing else."""
        match self.statements[line][2]:
            case ast.Assign(value=ast.BinOp(left=left, op=ast.Add(), right=right)):
                names = [node.id for node in map(unconverted, (left, right)) if isinstance(node, ast.Name)]
                return {"adds": names} if len(names) == 2 else {}
            case ast.Assign(value=ast.Call(func=func, args=[ast.Name(id=name), *_])) if ast.unparse(func) == "tl.trans":
                return {"transposes": name}
            case ast.Assign(value=ast.Attribute(value=ast.Name(id=name), attr="T")):
                return {"transposes": name}
        return {}

    def binds(self, line: int) -> set[str]:
        """The variables that the statement at `line` may set."""
        nodes = ast.walk(self.statements[line][2])
        return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}

    def loop(self, line: int) -> ast.For | None:
        node = self.statements[line][2]
        return node if isinstance(node, ast.For) else None

    def body(self, loop: ast.For) -> range:
        """The lines of the file that a loop repeats."""
        return range(self.first + loop.body[0].lineno - 1, self.first + (loop.end_lineno or 0))


def own_offsets(tensor: torch.Tensor) -> np.ndarray:
    """For each offset from a tensor's first element to its last in memory: is it one of the tensor's elements?"""
    offsets = torch.zeros((), dtype=torch.int64)
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        offsets = offsets[..., None] + torch.arange(size) * stride
    inside = np.zeros(int(offsets.max()) + 1 if offsets.numel() else 0, dtype=bool)
    inside[offsets.flatten().numpy()] = True
    return inside


class Recorder:
    def __init__(self, kernel: InterpretedFunction, tensors: dict[str, torch.Tensor], most_values: int, numbers: bool):
        self.most_values, self.numbers = most_values, numbers
        self.source = Source(kernel)
        self.tensors = tensors
        self.inside = {name: own_offsets(tensor) for name, tensor in tensors.items()}
        self.arguments: dict[str, int | float] = {}
        self.programs: dict[tuple[int, ...], list[Event]] = {}
        self.grid: tuple[int, ...] = ()
        self.program: tuple[int, ...] = ()
        self.axis: int | None = None
        self.line = 0
        self.seen: dict[str, Any] = {}
        self.results: list[tuple[np.ndarray, Event]] = []

    def values(self, data: np.ndarray, known: np.ndarray | bool = True) -> Event:
        """What a block holds; of a large one nothing is kept."""
        return printable_values(data, known) if data.size <= self.most_values else {}

    def emit(self, op: str, **fields: Any) -> Event:
        event = {"op": op, **self.source.place(self.line), **fields}
        self.programs[self.program].append(event)
        return event

    # Memory

    def extent(self, name: str) -> tuple[int, int]:
        """The addresses from a tensor's first element to behind its last."""
        begin = self.tensors[name].data_ptr()
        return begin, begin + self.inside[name].size * self.tensors[name].element_size()

    def owner(self, addresses: np.ndarray) -> str:
        """Name the tensor that holds most of the lanes, or else the one nearest to the first of them."""

        def held(name: str) -> int:
            begin, end = self.extent(name)
            return int(((addresses >= begin) & (addresses < end)).sum())

        def distance(name: str) -> int:
            (begin, end), first = self.extent(name), int(addresses.flat[0])
            return max(begin - first, first - end, 0)

        return max(self.tensors, key=lambda name: (held(name), -distance(name)))

    def lanes(self, pointers: np.ndarray, mask: np.ndarray | bool = True) -> Event:
        addresses = pointers.astype(np.int64)
        on = np.broadcast_to(mask, addresses.shape)
        name = self.owner(addresses[on] if on.any() else addresses)
        tensor = self.tensors[name]
        offsets = (addresses - tensor.data_ptr()) // tensor.element_size()
        return {"tensor": name, "lanes": lane_runs(offsets, on, self.inside[name])}

    def access(self, op: str, pointers: Any, mask: Any, **fields: Any) -> Event:
        shape = [] if pointers.data.size == 1 else list(pointers.data.shape)
        text = self.source.call_text(self.line, op)
        return self.emit(op, **text, shape=shape, **self.lanes(pointers.data, mask.data.astype(bool)), **fields)

    def on_load(self, pointers: Any, mask: Any, other: Any, result: Any) -> None:
        # Without `other` the interpreter puts a zero into the masked lanes; a GPU promises nothing about them.
        # A NaN says so, and spreads to whatever is computed from it.
        if other is None and np.issubdtype(result.data.dtype, np.floating):
            result.data[~mask.data.astype(bool)] = np.nan
        # What lies beyond a tensor's last element is chance.
        on, addresses = mask.data.astype(bool), pointers.data.astype(np.int64)
        begin, end = self.extent(self.owner(addresses[on] if on.any() else addresses))
        within = (addresses >= begin) & (addresses < end)
        fields = self.values(result.data, within & on if other is None else within | ~on)
        if other is not None and np.unique(other.data).size == 1:
            fields = {"other": printable(other.data.flat[0])} | fields
        self.results.append((result.data, self.access("load", pointers, mask, **fields)))

    def on_store(self, pointers: Any, value: Any, mask: Any) -> None:
        stored = np.broadcast_to(value.data, pointers.data.shape)
        self.access("store", pointers, mask, **self.values(stored, mask.data.astype(bool)))

    def on_atomic(self, kind: Any, pointers: Any, value: Any, mask: Any, result: Any) -> None:
        op = f"atomic_{ATOMICS.get(kind.name, kind.name.lower())}"
        given = np.broadcast_to(value.data, pointers.data.shape)
        self.results.append((result.data, self.access(op, pointers, mask, **self.values(given, mask.data.astype(bool)))))

    def on_dot(self, a: Any, b: Any, result: Any) -> None:
        shapes = {"of": [list(a.data.shape), list(b.data.shape)], "shape": list(result.data.shape)}
        fields = {"dtype": str(result.dtype), **shapes, **self.values(result.data)}
        self.results.append((result.data, self.emit("dot", **self.source.call_text(self.line, "dot"), **fields)))

    def on_reduction(self, name: str, block: Any, axis: Any, result: Any) -> None:
        result = result if isinstance(result, tl.tensor) else result[0]  # the second one holds indices
        shape = [int(size) for size in block.shape]
        made = [int(size) for size in result.shape]
        along = {"axis": int(getattr(axis, "value", axis)), "result": made} if made else {}
        fields = {"dtype": str(result.dtype), "shape": shape, **along, **self.values(result.handle.data)}
        self.results.append((result.handle.data, self.emit(name, **self.source.call_text(self.line, name), **fields)))

    # Variables, from one line of the kernel to the next

    def trace_calls(self, frame: FrameType, event: str, _: Any) -> Callable | None:
        code = frame.f_code
        if code.co_name != self.source.function.__name__ or code.co_filename != self.source.function.__code__.co_filename:
            return None
        self.seen = {name: self.content(value) for name, value in frame.f_locals.items()}
        self.arguments = {name: value for name, value in map(self.argument, frame.f_locals.items()) if value is not None}
        self.line = 0
        return self.trace_lines

    def trace_lines(self, frame: FrameType, event: str, _: Any) -> Callable:
        # A statement of several lines passes each of them, some twice, before it is done.
        moved = self.line and self.source.statements[frame.f_lineno] != self.source.statements[self.line]
        if event == "return" or moved:
            loop = self.source.loop(self.line) if moved else None
            if loop and event == "line" and frame.f_lineno in self.source.body(loop):
                self.on_round(loop, frame.f_locals)
            self.settle(frame.f_locals)
        if event == "line":
            self.line = frame.f_lineno
        return self.trace_lines

    @staticmethod
    def content(value: Any) -> Any:
        return value.handle.data if isinstance(value, tl.tensor) else value

    @staticmethod
    def argument(item: tuple[str, Any]) -> tuple[str, int | float | None]:
        name, value = item
        if isinstance(value, tl.tensor):
            value = None if value.dtype.is_ptr() else value.handle.data.item()
        return name, value if isinstance(value, int | float) else None

    def settle(self, variables: dict[str, Any]) -> None:
        for name, value in variables.items():
            content = self.content(value)
            before = self.seen.get(name)
            if content is before or (isinstance(content, int | float) and content == before):
                continue
            self.seen[name] = content
            # A shift of the interpreter's puts a copy in the place of its operand's array, also within `tl.rand`.
            if name not in self.source.binds(self.line):
                continue
            made = next((event for data, event in self.results if data is content), None)
            if made is not None:
                made["into"] = name
            else:
                self.on_variable(name, value)
        self.results, self.axis = [], None

    def on_round(self, loop: ast.For, variables: dict[str, Any]) -> None:
        """A loop begins a round: its variable counts as set, also to the value that it had."""
        if isinstance(loop.target, ast.Name):
            name = loop.target.id
            value = self.content(variables[name])
            number = int(value.item() if isinstance(value, np.ndarray) else value)
            last = self.source.shown_line[max(line for line in self.source.body(loop) if line in self.source.shown_line)]
            self.emit("loop", name=name, until=last, shape=[], runs=[[number, 1, 0]])
            self.seen[name] = value

    def on_variable(self, name: str, value: Any) -> None:
        if isinstance(value, int | float):
            self.emit("set", name=name, shape=[], runs=[[int(value) if isinstance(value, bool) else value, 1, 0]])
        elif isinstance(value, tl.tensor):
            shape = [int(size) for size in value.shape]
            if shape and not self.numbers and not value.dtype.is_floating():
                return
            computed = any(isinstance(node, ast.BinOp) for node in ast.walk(self.source.statements[self.line][2]))
            own_number = self.axis is not None and not shape and not computed
            op: Event = {"op": "program_id", "axis": self.axis} if own_number else {"op": "set"}
            self.emit(**op, name=name, dtype=str(value.dtype), shape=shape, **self.block(value))

    def block(self, value: Any) -> Event:
        data = value.handle.data
        if value.dtype.is_ptr():
            return self.lanes(data)
        if value.dtype.is_floating():
            return {**self.source.names(self.line), **self.values(data)}
        return {**self.source.names(self.line), "runs": block_runs(data.astype(int))}

    # Switching on and off

    @contextmanager
    def attached(self) -> Iterator[None]:
        builder, saved = InterpreterBuilder, []

        def wrap(owner: Any, name: str, make: Callable[[Callable], Callable]) -> None:
            saved.append((owner, name, getattr(owner, name)))
            setattr(owner, name, make(getattr(owner, name)))

        wrap(builder, "set_grid_idx", self.around_grid_index)
        wrap(builder, "create_get_program_id", self.around_program_id)
        wrap(builder, "create_masked_load", self.around_load)
        wrap(builder, "create_masked_store", self.around_store)
        wrap(builder, "create_atomic_rmw", self.around_atomic)
        wrap(builder, "create_dot", self.around_dot)
        for name in REDUCTIONS:
            wrap(tl, name, self.around_reduction(name))
        tracer = sys.gettrace()
        sys.settrace(self.trace_calls)
        try:
            yield
        finally:
            sys.settrace(tracer)
            for owner, name, original in reversed(saved):
                setattr(owner, name, original)

    def around_grid_index(self, original: Callable) -> Callable:
        def set_grid_idx(builder: Any, *index: int) -> Any:
            self.grid, self.program = tuple(builder.grid_dim), index
            self.programs[index] = []
            return original(builder, *index)

        return set_grid_idx

    def around_program_id(self, original: Callable) -> Callable:
        def create_get_program_id(builder: Any, axis: int) -> Any:
            self.axis = axis
            return original(builder, axis)

        return create_get_program_id

    def around_load(self, original: Callable) -> Callable:
        def create_masked_load(builder: Any, pointers: Any, mask: Any, other: Any, *rest: Any, **named: Any) -> Any:
            result = original(builder, pointers, mask, other, *rest, **named)
            self.on_load(pointers, mask, other, result)
            return result

        return create_masked_load

    def around_store(self, original: Callable) -> Callable:
        def create_masked_store(builder: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
            self.on_store(pointers, value, mask)
            return original(builder, pointers, value, mask, *rest, **named)

        return create_masked_store

    def around_atomic(self, original: Callable) -> Callable:
        def create_atomic_rmw(builder: Any, kind: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
            result = original(builder, kind, pointers, value, mask, *rest, **named)
            self.on_atomic(kind, pointers, value, mask, result)
            return result

        return create_atomic_rmw

    def around_dot(self, original: Callable) -> Callable:
        def create_dot(builder: Any, a: Any, b: Any, *rest: Any, **named: Any) -> Any:
            result = original(builder, a, b, *rest, **named)
            self.on_dot(a, b, result)
            return result

        return create_dot

    def around_reduction(self, name: str) -> Callable[[Callable], Callable]:
        def around(original: Callable) -> Callable:
            def reduction(block: Any, *rest: Any, **named: Any) -> Any:
                result = original(block, *rest, **named)
                axis = rest[0] if rest else named.get("axis")
                self.on_reduction(name, block, axis, result)
                return result

            return reduction

        return around


def set_apart(tensors: dict[str, torch.Tensor]) -> None:
    """Move each tensor's memory to where nothing else lies near, so that no stray pointer ends up in another tensor.

    What lies around is NaN when it is read as a floating-point number: undefined, for the recording.
    """
    moved: dict[int, torch.Tensor] = {}
    for tensor in tensors.values():
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in moved:
            apart = torch.full((storage.nbytes() + 2 * GUARD_BYTES,), 0xFF, dtype=torch.uint8)
            apart[GUARD_BYTES:-GUARD_BYTES] = torch.empty(0, dtype=torch.uint8).set_(storage)
            moved[storage.data_ptr()] = moved[apart.untyped_storage().data_ptr()] = apart
        place = tensor.storage_offset() + GUARD_BYTES // tensor.element_size()
        if moved[storage.data_ptr()].data_ptr() != storage.data_ptr():
            tensor.set_(moved[storage.data_ptr()].untyped_storage(), place, tensor.shape, tensor.stride())


def described(tensor: torch.Tensor) -> Event:
    told = {"shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch.")}
    return told if tensor.is_contiguous() else told | {"strides": list(tensor.stride())}


def record(
    kernel: InterpretedFunction,
    launch: Callable[[], Any],
    tensors: dict[str, torch.Tensor],
    most_values: int = MOST_VALUES,
    numbers: bool = True,
) -> Event:
    """Run `launch`, which launches `kernel` once on `tensors`, and return what each program did.

    `tensors` names every tensor that the launch passes; the values of blocks beyond `most_values` lanes are not kept,
    and without `numbers` no block of integers or truth values is.
    """
    if not isinstance(kernel, InterpretedFunction):
        raise RuntimeError("kernel: expected one defined under TRITON_INTERPRET=1; triton was imported without it")
    set_apart(tensors)
    recorder = Recorder(kernel, tensors, most_values, numbers)
    with recorder.attached():
        launch()
    axes = max(axis for axis in (1, 2, 3) if axis == 1 or recorder.grid[axis - 1] > 1)
    return {
        "kernel": recorder.source.function.__name__,
        "source": recorder.source.text,
        "arguments": recorder.arguments,
        "grid": list(recorder.grid[:axes]),
        "tensors": {name: described(tensor) for name, tensor in tensors.items()},
        "programs": [{"id": list(index[:axes]), "events": events} for index, events in sorted(recorder.programs.items())],
    }


if __name__ == "__main__":
    chapter, name = sys.argv[1].split("/")
    with redirect_stdout(sys.stderr):  # a program whose kernel is recorded prints when it is imported
        recording = record(**importlib.import_module(f"scripts.recording.cases.{chapter}").RUNS[name]())
    json.dump(recording, sys.stdout)
