"""Record what every program of a Triton kernel does, under Triton's interpreter.

    record(add_kernel, lambda: add_kernel[(4,)](x, y, out, 1000, BLOCK=256), {"x": x, "y": y, "out": out})

A recording lists, program by program, the statements of the kernel that changed something: a variable that was
set, a reduction, a load, a store. The interpreter runs programs one after another; a recording keeps no order
between them, because a GPU promises none.

Three seams are used, present alike in Triton 3.6 to 3.9: Python's own line tracing for the kernel's variables, the
public names `tl.max`, `tl.min` and `tl.sum`, and four methods of the interpreter's builder (see `attached`).

`python -m scripts.recorder NAME` prints the recording of one run of `scripts/traced/`, such as first_kernel/add, as JSON.
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
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime.interpreter import InterpretedFunction, InterpreterBuilder

REDUCTIONS = ("max", "min", "sum")
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


def lane_runs(offsets: np.ndarray, mask: np.ndarray, size: int) -> list[list[Any]]:
    """Code lanes in row-major order as [state, first offset, count, step] runs; a state is on, masked or outside."""

    def state(offset: int, on: bool) -> str:
        return "masked" if not on else "on" if 0 <= offset < size else "outside"

    lanes = [(state(offset, on), offset) for offset, on in zip(offsets.ravel().tolist(), mask.ravel().tolist(), strict=True)]
    groups = itertools.groupby(lanes, key=lambda lane: lane[0])
    return [[name, *run] for name, group in groups for run in runs([offset for _, offset in group])]


def printable(value: Any) -> str:
    """Four digits: what a reader sees, and few enough that every machine writes the same ones."""
    if not np.issubdtype(value.dtype, np.floating):
        return str(int(value))
    return "?" if np.isnan(value) else f"{value + 0.0:.4g}"


def printable_values(data: np.ndarray, known: np.ndarray | bool = True) -> str:
    """The values in row-major order, a question mark for each lane whose value nothing defines."""
    known = np.broadcast_to(known, data.shape)
    return " ".join(printable(value) if shown else "?" for value, shown in zip(data.flat, known.flat, strict=True))


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

    def added(self, line: int) -> Event:
        """Name the two variables that the statement at `line` adds, if it does nothing else."""
        match self.statements[line][2]:
            case ast.Assign(value=ast.BinOp(left=left, op=ast.Add(), right=right)):
                names = [node.id for node in map(unconverted, (left, right)) if isinstance(node, ast.Name)]
                return {"adds": names} if len(names) == 2 else {}
        return {}


class Recorder:
    def __init__(self, kernel: InterpretedFunction, tensors: dict[str, torch.Tensor]):
        for name, tensor in tensors.items():
            if not tensor.is_contiguous():
                raise ValueError(f"{name}: expected a contiguous tensor, got strides {tensor.stride()}")
        self.source = Source(kernel)
        self.tensors = tensors
        self.arguments: dict[str, int | float] = {}
        self.programs: dict[tuple[int, ...], list[Event]] = {}
        self.grid: tuple[int, ...] = ()
        self.program: tuple[int, ...] = ()
        self.axis: int | None = None
        self.line = 0
        self.seen: dict[str, Any] = {}
        self.loads: list[tuple[np.ndarray, Event]] = []

    def emit(self, op: str, **fields: Any) -> Event:
        event = {"op": op, **self.source.place(self.line), **fields}
        self.programs[self.program].append(event)
        return event

    # Memory

    def owner(self, addresses: np.ndarray) -> str:
        """Name the tensor that holds most of the lanes, or else the one nearest to the first of them."""

        def held(tensor: torch.Tensor) -> int:
            begin = tensor.data_ptr()
            return int(((addresses >= begin) & (addresses < begin + tensor.nbytes)).sum())

        def distance(tensor: torch.Tensor) -> int:
            begin, first = tensor.data_ptr(), int(addresses.flat[0])
            return max(begin - first, first - begin - tensor.nbytes, 0)

        return max(self.tensors, key=lambda name: (held(self.tensors[name]), -distance(self.tensors[name])))

    def lanes(self, pointers: np.ndarray, mask: np.ndarray | bool = True) -> Event:
        addresses = pointers.astype(np.int64)
        name = self.owner(addresses)
        tensor = self.tensors[name]
        offsets = (addresses - tensor.data_ptr()) // tensor.element_size()
        return {"tensor": name, "lanes": lane_runs(offsets, np.broadcast_to(mask, offsets.shape), tensor.numel())}

    def access(self, op: str, pointers: Any, mask: Any, **fields: Any) -> Event:
        shape = [] if pointers.data.size == 1 else list(pointers.data.shape)
        text = self.source.call_text(self.line, op)
        return self.emit(op, **text, shape=shape, **self.lanes(pointers.data, mask.data.astype(bool)), **fields)

    def on_load(self, pointers: Any, mask: Any, other: Any, result: Any) -> None:
        # Without `other` the interpreter puts a zero into the masked lanes; a GPU promises nothing about them.
        # A NaN says so, and spreads to whatever is computed from it.
        if other is None and np.issubdtype(result.data.dtype, np.floating):
            result.data[~mask.data.astype(bool)] = np.nan
        fields = {"values": printable_values(result.data)}
        if other is not None and np.unique(other.data).size == 1:
            fields = {"other": printable(other.data.flat[0])} | fields
        self.loads.append((result.data, self.access("load", pointers, mask, **fields)))

    def on_store(self, pointers: Any, value: Any, mask: Any) -> None:
        stored = np.broadcast_to(value.data, pointers.data.shape)
        self.access("store", pointers, mask, values=printable_values(stored, mask.data.astype(bool)))

    def on_reduction(self, name: str, block: Any, result: Any) -> None:
        shape = [int(size) for size in block.shape]
        self.emit(name, **self.source.call_text(self.line, name), shape=shape, values=printable_values(result.handle.data))

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
            load = next((event for data, event in self.loads if data is content), None)
            if load is not None:
                load["into"] = name
            else:
                self.on_variable(name, value)
        self.loads, self.axis = [], None

    def on_variable(self, name: str, value: Any) -> None:
        if isinstance(value, int | float):
            self.emit("set", name=name, shape=[], runs=[[value, 1, 0]])
        elif isinstance(value, tl.tensor):
            shape = [int(size) for size in value.shape]
            computed = any(isinstance(node, ast.BinOp) for node in ast.walk(self.source.statements[self.line][2]))
            own_number = self.axis is not None and not shape and not computed
            op: Event = {"op": "program_id", "axis": self.axis} if own_number else {"op": "set"}
            self.emit(**op, name=name, dtype=str(value.dtype), shape=shape, **self.block(value))

    def block(self, value: Any) -> Event:
        data = value.handle.data
        if value.dtype.is_ptr():
            return self.lanes(data)
        if value.dtype.is_floating():
            return {**self.source.added(self.line), "values": printable_values(data)}
        return {"runs": runs(data.ravel().astype(int).tolist())}

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

    def around_reduction(self, name: str) -> Callable[[Callable], Callable]:
        def around(original: Callable) -> Callable:
            def reduction(block: Any, *rest: Any, **named: Any) -> Any:
                result = original(block, *rest, **named)
                self.on_reduction(name, block, result)
                return result

            return reduction

        return around


def record(kernel: InterpretedFunction, launch: Callable[[], Any], tensors: dict[str, torch.Tensor]) -> Event:
    """Run `launch`, which launches `kernel` once on `tensors`, and return what each program did."""
    if not isinstance(kernel, InterpretedFunction):
        raise RuntimeError("kernel: expected one defined under TRITON_INTERPRET=1; triton was imported without it")
    recorder = Recorder(kernel, tensors)
    with recorder.attached():
        launch()
    axes = max(axis for axis in (1, 2, 3) if axis == 1 or recorder.grid[axis - 1] > 1)
    return {
        "kernel": recorder.source.function.__name__,
        "source": recorder.source.text,
        "arguments": recorder.arguments,
        "grid": list(recorder.grid[:axes]),
        "tensors": {
            name: {"shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch.")}
            for name, tensor in tensors.items()
        },
        "programs": [{"id": list(index[:axes]), "events": events} for index, events in sorted(recorder.programs.items())],
    }


if __name__ == "__main__":
    chapter, name = sys.argv[1].split("/")
    json.dump(record(**importlib.import_module(f"scripts.traced.{chapter}").RUNS[name]()), sys.stdout)
