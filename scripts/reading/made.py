"""What a kernel's record of the compiler lens holds: the texts of its launches with their places, figures, passes, layouts.

Runs the compiler, so it wants a process in which Triton's interpreter is off.
"""

import ast
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from scripts import ROOT
from scripts import compile as compiler
from scripts.launches import Specimen
from scripts.reading import places
from scripts.reading.held import held
from scripts.reading.listing import Listing
from scripts.reading.occupancy import occupancy
from scripts.reading.passes import changes

LONGEST = 60_000  # characters of AMD's assembly that are kept
SHORTEST = 3  # lines of a run that is told as "as for the first"


def made(asked: list[tuple[Specimen, str]]) -> dict[str, Any]:
    """The listing of a kernel, and what each launch became for its target; of the first also what each pass changed."""
    listing = Listing(asked[0][0].kernel)
    found = [launch(one, target, listing, with_passes=number == 0) for number, (one, target) in enumerate(asked)]
    first = found[0].get("stages", {})
    for entry in found[1:]:
        for stage, lines in entry.get("stages", {}).items():
            entry["stages"][stage] = beside(lines, first.get(stage, []))
    return {"listing": listing.parts, "launches": found}


def launch(one: Specimen, target: str, listing: Listing, with_passes: bool) -> dict[str, Any]:
    import triton

    told: dict[str, Any] = {"label": one.label, "target": target, "triton": triton.__version__, "launch": one.launch}
    function, arguments, options = launch_of(one)
    with Dump(with_passes) as dump:
        try:
            compiled = compiler.compiled(function, arguments, options, target)
        except Exception as error:
            if target == "gfx942":
                return told | {"refused": type(error).__name__}
            raise
    ttgir = places.of_mlir(compiled.asm["ttgir"], listing.line_of)
    stages = {"ttir": places.of_mlir(compiled.asm["ttir"], listing.line_of), "ttgir": ttgir}
    if "ptx" in compiled.asm:
        stages["ptx"] = places.of_ptx(compiled.asm["ptx"], listing.line_of)
        if target == "sm_90":
            stages["sass"] = places.of_sass(machine_code(compiled, target, options, listing))
    else:
        stages["amdgcn"] = places.of_amdgcn(compiled.asm["amdgcn"], listing.line_of)
        if sum(map(len, stages["amdgcn"].lines)) > LONGEST:
            del stages["amdgcn"]
    if target != "sm_90":
        del stages["ttir"]  # but for what the backend asks at its start, it is that of sm_90
    told |= {"figures": figures(compiled, target), "stages": {name: text.kept() for name, text in stages.items()}}
    if with_passes:
        found, count = changes(dump.text)
        told["passes"] = {"count": count, "changed": [change._asdict() for change in found]}
    return told | held("\n".join(ttgir.lines))


def launch_of(shown: Specimen) -> compiler.Launch:
    """What a specimen launches, by functions that know where they stand in the source."""
    if shown.path.startswith("kernels/"):
        return compiler.launch_of(shown)
    function = getattr(program(shown.path), shown.function)
    given = {name: value for name, value in shown.arguments.items() if name in function.arg_names}
    return function, given, {name: value for name, value in shown.arguments.items() if name not in given} | shown.options


def program(path: str) -> ModuleType:
    """The imports, constants and functions of a program, without what it does, each on the line where it stands."""
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    kept = [
        node for node in body if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef) or compiler.is_constant(node)
    ]
    module = ModuleType(Path(path).stem)
    module.__file__ = str(ROOT / path)
    exec(compile(ast.Module(kept, []), module.__file__, "exec"), module.__dict__)
    return module


def machine_code(compiled: Any, target: str, options: dict[str, Any], listing: Listing) -> str:
    """The kernel assembled once more, from PTX whose places are lines of the listing, and disassembled."""
    from triton import knobs
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    gpu = GPUTarget("cuda", int(target[3:]), 32)
    backend = make_backend(gpu)
    stages: dict[str, Any] = {}
    text = places.for_assembler(compiled.asm["ptx"], listing.line_of)
    backend.add_stages(stages, backend.parse_options(dict(compiled.metadata._asdict()) | options), None)
    cubin = stages["cubin"](text, compiled.metadata._asdict())
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [knobs.nvidia.nvdisasm.path, "-g", "-c", file.name]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def figures(compiled: Any, target: str) -> dict[str, Any]:
    """What a program takes, and how many a multiprocessor holds."""
    metadata = compiled.metadata
    total = re.search(r'"ttg.total-num-warps" = (\d+)', compiled.asm["ttgir"])
    warps = int(total[1]) if total else metadata.num_warps
    told = {"num_warps": metadata.num_warps, "num_stages": metadata.num_stages, "warps": warps, "shared": metadata.shared}
    if target == "gfx942":
        return told | compiler.amd_resources(compiled.asm["amdgcn"])
    told |= compiler.nvidia_resources(compiled.asm["cubin"])
    columns = getattr(metadata, "tmem_size", 0) or 0
    return told | occupancy(target, warps, told["registers"], told["shared"], columns)._asdict()


def beside(lines: list[str], first: list[str]) -> list[str]:
    """The lines, with runs that the first launch's text has too as "=from count", counted from 0."""
    found: list[str] = []
    for kind, start, end, from_, to in difflib.SequenceMatcher(None, first, lines, autojunk=False).get_opcodes():
        if kind == "equal" and end - start >= SHORTEST:
            found.append(f"={start} {end - start}")
        else:
            found += lines[from_:to]
    return found


class Dump:
    """What MLIR prints before each pass, while this is open; it prints past Python, to where errors go."""

    def __init__(self, wanted: bool):
        self.wanted, self.text = wanted, ""

    def __enter__(self) -> "Dump":
        if self.wanted:
            os.environ["MLIR_ENABLE_DUMP"] = "1"
            self.file = tempfile.TemporaryFile()
            sys.stderr.flush()
            self.kept = os.dup(2)
            os.dup2(self.file.fileno(), 2)
        return self

    def __exit__(self, *_: object) -> None:
        if self.wanted:
            del os.environ["MLIR_ENABLE_DUMP"]
            os.dup2(self.kept, 2)
            os.close(self.kept)
            self.file.seek(0)
            self.text = self.file.read().decode("utf-8", "replace")
            self.file.close()
