"""Which addresses a load or store of the compiled text asks for: its integer arithmetic, done for one program.

    lanes = addresses(ttgir, "tt.load", {"stride": 8})     offsets from the pointer argument, in elements, lane by lane
"""

import re
from collections.abc import Callable, Mapping
from operator import add, mul, sub

from scripts.layouts.bits import LayoutError

Value = int | list[int]
ARITHMETIC: dict[str, Callable[[int, int], int]] = {"addi": add, "muli": mul, "subi": sub}
STATEMENT = re.compile(r"^\s*(?:(%\S+) = )?([a-z_]+\.[a-z_]+)\b(.*)$")


def addresses(ttgir: str, operation: str, arguments: Mapping[str, int], program: int = 0) -> list[int]:
    """The offsets of the first such operation on a block of one axis; `arguments` are the integers that the kernel is given."""
    known: dict[str, Value] = {name: 0 for name in re.findall(r"(%\w+): !tt\.ptr", ttgir)}
    known |= {f"%{name}": value for name, value in arguments.items()}
    for found in filter(None, map(STATEMENT.match, ttgir.splitlines())):
        result, name, rest = found.groups()
        named = re.findall(r"%[\w#]+", rest.split(" : ")[0])
        if name == operation:
            value = known.get(named[0])
            if not isinstance(value, list):
                raise LayoutError(f"the text does not say which addresses {operation} asks for")
            return value
        if result and (made := computed(name, rest, [known.get(one) for one in named], program)) is not None:
            known[result] = made
    raise LayoutError(f"the text has no {operation}")


def computed(name: str, rest: str, given: list[Value | None], program: int) -> Value | None:
    """What a statement makes of whole numbers; None where it is of another kind."""
    kind = name.rpartition(".")[2]
    if kind == "constant" and (number := re.match(r" (-?\d+) : i\d+", rest)):
        return int(number[1])
    if kind == "get_program_id":
        return program
    if kind == "make_range":
        ends = {key: int(value) for key, value in re.findall(r"(start|end) = (\d+)", rest)}
        return list(range(ends["start"], ends["end"]))
    if kind == "splat" and isinstance(given[0], int) and (size := re.search(r"-> tensor<(\d+)x[!a-z]", rest)):
        return [given[0]] * int(size[1])
    if kind in ("extsi", "trunci") and len(given) == 1:
        return given[0]
    if kind in ARITHMETIC or kind == "addptr":
        return combined(ARITHMETIC.get(kind, add), *given)
    return None


def combined(operation: Callable[[int, int], int], one: Value | None, other: Value | None) -> Value | None:
    if isinstance(one, int) and isinstance(other, int):
        return operation(one, other)
    if isinstance(one, list) and isinstance(other, list):
        return [operation(*pair) for pair in zip(one, other, strict=True)]
    return None
