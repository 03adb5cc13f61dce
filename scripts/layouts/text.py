"""The compiler's text: the layouts that it names, and the operations that move tensors with them."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from scripts.layouts.bits import LayoutError
from scripts.layouts.distributed import Blocked, Distributed, DotOperand, Linear, Mma, Slice
from scripts.layouts.shared import NvmmaShared, Padded, Shared, Swizzled

Layout = Distributed | Shared
TOKEN = re.compile(r'\s*("[^"]*"|#?[A-Za-z_][\w.]*|-?\d+|:\+|<\{|\}>|.)', re.DOTALL)
MOVES = re.compile(r"\b(tt\.load|tt\.store|tt\.descriptor_load|tt\.descriptor_store|ttg\.(?:local_load|local_store|local_alloc"
                   r"|async_copy_global_to_local)|ttng\.async_tma_copy_(?:global_to_local|local_to_global))\b")  # fmt: skip
TYPE = re.compile(r"(?:tensor|!ttg\.memdesc|(?<=-> ))<((?:\d+x)+)(!?[\w.]+(?:<\w+>)?), (?=#)")


class Access(NamedTuple):
    """One operation that moves a tensor; of a copy into shared memory, both layouts."""

    line: int
    operation: str
    shape: tuple[int, ...]
    dtype: str
    registers: Distributed | None
    shared: Shared | None


def parse(ttgir: str) -> dict[str, Layout]:
    """Every layout that the text gives a name; kinds that this room does not read are left out."""
    found: dict[str, Layout] = {}
    for name, text in re.findall(r"^(#\w+) = (#ttg\.\w+<.*>)\s*$", ttgir, re.MULTILINE):
        if re.match(r"#ttg\.(blocked|slice|nvidia_mma|dot_op|linear|swizzled_shared|nvmma_shared|padded_shared)<", text):
            found[name] = layout_of(text, found)
    return found


def layout_of(text: str, named: dict[str, Layout] | None = None) -> Layout:
    """The layout that a text begins with: a name, or the layout itself."""
    return Reader(text, named or {}).layout()


def accesses(ttgir: str) -> list[Access]:
    """Every operation of the text that moves a tensor between memory, shared memory and registers."""
    named = parse(ttgir)
    found = []
    for number, line in enumerate(ttgir.splitlines(), 1):
        if not (operation := MOVES.search(line)):
            continue
        types = list(TYPE.finditer(line))
        layouts = [layout_of(line[match.end() :], named) for match in types]
        registers = next((layout for layout in layouts if isinstance(layout, Distributed)), None)
        shared = next((layout for layout in layouts if isinstance(layout, Shared)), None)
        if types:
            shape = tuple(int(side) for side in types[0][1].rstrip("x").split("x"))
            dtype = re.sub(r"!tt\.ptr<(\w+)>", r"\1", types[0][2])
            found.append(Access(number, operation[1], shape, dtype, registers, shared))
    return found


class Reader:
    """Reads `#ttg.kind<{key = value, ...}>`, with lists, numbers, and layouts within."""

    def __init__(self, text: str, named: dict[str, Layout]):
        self.tokens, self.named = [*reversed(TOKEN.findall(text))], named

    def next(self, wanted: str = "") -> str:
        token = self.tokens.pop() if self.tokens else ""
        if not token or wanted and token != wanted:
            raise LayoutError(f"expected {wanted or 'more'} where the text has {token or 'an end'}")
        return token

    def until(self, end: str, read: Callable[[], Any]) -> list[Any]:
        """What `read` reads again and again, with commas between, up to an end."""
        found = []
        while self.tokens[-1:] != [end]:
            found.append(read())
            if self.tokens[-1:] == [","]:
                self.next()
        self.next(end)
        return found

    def layout(self) -> Layout:
        name = self.next()
        if not name.startswith("#ttg."):
            if name not in self.named:
                raise LayoutError(f"the text names no layout {name}")
            return self.named[name]
        if name == "#ttg.padded_shared":
            return self.padded()
        self.next("<{")
        return made(name.removeprefix("#ttg."), dict(self.until("}>", self.field)))

    def field(self) -> tuple[str, Any]:
        name = self.next()
        self.next("=")
        return name, self.value()

    def value(self) -> Any:
        if self.tokens[-1:] and self.tokens[-1].startswith("#"):
            return self.layout()
        token = self.next()
        if token == "[":
            return tuple(self.until("]", self.value))
        return token == "true" if token in ("true", "false") else int(token)

    def gap(self) -> tuple[int, int]:
        every, _, left = self.next(), self.next(":+"), self.next()
        return int(every), int(left)

    def padded(self) -> Padded:
        self.next("<")
        self.next("[")
        gaps = self.until("]", self.gap)
        self.next("{")
        given = dict(self.until("}>", self.field))
        if "order" not in given:
            raise LayoutError("padded_shared is read here with an order")
        return Padded(tuple(gaps), given["order"])


def made(kind: str, given: dict[str, Any]) -> Layout:
    """The layout of a kind, from the fields that the text gives it."""
    if given.get("CGALayout") or given.get("block"):
        raise LayoutError("layouts over several programs of a cluster are not read here")
    match kind:
        case "blocked":
            return Blocked(given["sizePerThread"], given["threadsPerWarp"], given["warpsPerCTA"], given["order"])
        case "slice":
            return Slice(given["dim"], given["parent"])
        case "nvidia_mma":
            return Mma(given["versionMajor"], given["warpsPerCTA"], given["instrShape"])
        case "dot_op":
            return DotOperand(given["opIdx"], given["parent"], given.get("kWidth", 0))
        case "linear":
            return Linear((given["register"], given["lane"], given["warp"]))
        case "swizzled_shared":
            return Swizzled(given["vec"], given["perPhase"], given["maxPhase"], given["order"])
        case "nvmma_shared" if not given.get("fp4Padded"):
            return NvmmaShared(given["swizzlingByteWidth"], given["transposed"], given["elementBitWidth"])
    raise LayoutError(f"{kind} is not read here")
