"""Which line of the project's code each line of the compiler's texts comes from. The standard library alone.

A place is a chain of (file, line), the innermost first: a line of Triton's own library, then the line of the kernel that calls
it. What a text says of places is taken out of it, and with it every path.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

Place = tuple[str, int]
Chain = tuple[Place, ...]
Resolve = Callable[[Chain], int]

DEFINED = re.compile(r"^(#loc\d*) = loc\((.*)\)\s*$")
FILE = re.compile(r'^"([^"]*)":(\d+):\d+(?: to .*)?$')
NAMED = re.compile(r'^"[^"]*"\((#loc\d*)\)$')
CALL = re.compile(r"^callsite\((#loc\d*) at (#loc\d*)\)$")
FUSED = re.compile(r"^fused(?:<.*>)?\[(.*)\]$")
USED = re.compile(r' loc\(((?:[^()"]|"[^"]*"|\((?:[^()"]|"[^"]*"|\([^()]*\))*\))*)\)')
LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+\d+.*?(?://\s*(.*))?$")
FILES = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
DEBUGGERS = re.compile(r"\s*(\.file\b|\$L__(tmp|func|debug)\w*:|//)")
INLINED = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+), function_name \S+, inlined_at (\d+) (\d+) (\d+)")
DEEPEST = 20  # callers of callers
CALLED_AT = re.compile(r"@\[ ([^:\s]+):(\d+):\d+")
SASS_LINE = re.compile(r'^\s*//## File "[^"]*", line (\d+)')
SASS_CODE = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s*(.*?)\s*;?\s*(?:/\*.*\*/)?$")
SASS_LABEL = re.compile(r"^(\.L_x_\d+|\.L_\w+):$")


class Text(NamedTuple):
    """A text without places, and for each of its lines the number of a line of the source, or 0."""

    lines: list[str]
    at: list[int]

    def kept(self) -> list[str]:
        """As records and pages hold it: each line after its number."""
        return [f"{number} {line}" for number, line in zip(self.at, self.lines, strict=True)]


def of_mlir(text: str, resolve: Resolve) -> Text:
    """TTIR or TTGIR, without the table of places at its ends."""
    table = {name: said for name, said in (found.groups() for found in map(DEFINED.match, text.splitlines()) if found)}
    chains: dict[str, Chain] = {}

    def chain(said: str) -> Chain:
        """What a place in words means, or the name of one in the table."""
        if said.startswith("#loc"):
            if said not in chains:
                chains[said] = ()  # what refers to itself comes to an end
                chains[said] = chain(table.get(said, "unknown"))
            return chains[said]
        if found := FILE.match(said):
            return ((found[1], int(found[2])),)
        if found := NAMED.match(said):
            return chain(found[1])
        if found := CALL.match(said):
            return chain(found[1]) + chain(found[2])
        if found := FUSED.match(said):
            return next(filter(None, map(chain, re.findall(r"#loc\d*", found[1]))), ())
        return ()

    lines, at = [], []
    for line in text.splitlines():
        if line.startswith("#loc"):
            continue
        used = USED.findall(line)
        lines.append(USED.sub("", line).rstrip())
        # A function's line names a place for each argument, and the last is the function's own.
        at.append(resolve(chain(used[-1])) if used else 0)
    return Text(lines, at)


def places_of(text: str) -> Callable[[re.Match[str]], Chain]:
    """What a `.loc` of this assembly means. Who called what was inlined stands after it: in a comment, or for later versions as
    `inlined_at`, one caller at a time, whose own caller stands at the `.loc` that is its own."""
    found = filter(None, map(FILES.match, text.splitlines()))
    files = {int(one[1]): f"{one[2]}/{one[3]}" if one[3] else one[2] for one in found}
    by_name = {path.rpartition("/")[2]: path for path in files.values()}
    callers = {at[:3]: at[3:] for at in INLINED.findall(text)}

    def place(said: re.Match[str]) -> Chain:
        chain = [(files.get(int(said[1]), ""), int(said[2]))]
        if here := INLINED.search(said[0]):
            at: tuple[str, ...] | None = here.groups()[3:]
            callers[here.groups()[:3]] = here.groups()[3:]
            while at and len(chain) < DEEPEST:
                chain.append((files.get(int(at[0]), ""), int(at[1])))
                at = callers.get(at)
        else:
            chain += [(by_name.get(name, name), int(number)) for name, number in CALLED_AT.findall(said[3] or "")]
        return tuple(chain)

    return place


def of_ptx(text: str, resolve: Resolve) -> Text:
    """PTX from its first line of code to the end of the kernel, without what is for debuggers."""
    place, lines, at, now = places_of(text), [], [], 0
    for line in text.splitlines():
        if line.lstrip().startswith(".section"):
            break
        if found := LOC.match(line):
            now = resolve(place(found))
            continue
        if DEBUGGERS.match(line) or not line.strip():
            continue
        is_code = re.match(r"\s+(@!?%p\d+ )?[a-z]", line) is not None
        lines.append(line.partition(" // ")[0].replace("\t", "    ").rstrip())
        at.append(now if is_code else 0)
        if line == "}":
            break
    return Text(lines, at)


def for_assembler(text: str, resolve: Resolve) -> str:
    """The same PTX, whose places are lines of one file "source": the machine code then says which line it comes from.

    The assembler keeps the innermost place alone, which may lie in Triton's library. So callers are looked up before.
    """
    place, lines = places_of(text), []
    for line in text.splitlines():
        if line.lstrip().startswith(".section"):
            break
        if FILES.match(line):
            continue
        if found := LOC.match(line):
            line = f"\t.loc\t1 {resolve(place(found))} 0"
        lines.append(line)
    return "\n".join([*lines, '\t.file\t1 "source"', ""])


def of_sass(disassembly: str) -> Text:
    """Machine code as nvdisasm writes it, with labels and without addresses; its places are lines of the source already."""
    lines, at, now = [], [], 0
    for line in disassembly.splitlines():
        if found := SASS_LINE.match(line):
            now = int(found[1])
        elif found := SASS_LABEL.match(line):
            lines.append(f"{found[1]}:")
            at.append(0)
        elif found := SASS_CODE.match(line):
            lines.append(f"    {found[1]}")
            at.append(now)
    while lines and (lines[-1].strip() == "NOP" or lines[-1].endswith(":")):
        lines.pop()  # what fills the last line of the instruction cache
    return Text(lines, at[: len(lines)])


def of_amdgcn(text: str, resolve: Resolve) -> Text:
    """AMD's assembly, from the kernel's label to its end."""
    place = places_of(text)
    lines, at, now, inside = [], [], 0, False
    for line in text.splitlines():
        inside |= re.match(r"^\w+:\s+; @", line) is not None
        if not inside:
            continue
        if re.match(r"\s*\.section|\.Lfunc_end", line):
            break
        if found := LOC.match(line.replace(";", "//")):
            now = resolve(place(found))
        elif re.match(r"\s+[sv]_|\s+(ds|global|buffer|flat|scratch)_|^\.LBB\S+:|^\w+:", line):
            code = line.partition(";")[0].rstrip().replace("\t", "    ")
            lines.append(code)
            at.append(now if code.startswith(" ") else 0)
    return Text(lines, at)
