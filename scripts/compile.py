"""Compile kernels for GPUs that need not be here, and read off what they take.

    python scripts/compile.py                               every specimen, for sm_80, sm_90 and sm_100
    python scripts/compile.py --target sm_90 softmax_kernel every specimen of one kernel, for one GPU
    python scripts/compile.py --json FILE                   the figures as JSON
    python scripts/compile.py --text ptx NAME               the text of one specimen (or ttir, ttgir, amdgcn)

The compiler runs in processes of its own, in which Triton's interpreter is off. Neither a GPU nor a driver is needed.
"""

import argparse
import ast
import importlib
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts.launches import SPECIMENS, Specimen
from scripts.provenance.records import ROOT

# A jitted function, its arguments by name, and the compiler's options.
Launch = tuple[Any, dict[str, Any], dict[str, Any]]

TARGETS = ("sm_80", "sm_90", "sm_100")
INSTRUCTIONS = ("bar.sync", "shfl", "ex2", "div", "ld.shared", "st.shared")


def this_gpu() -> str:
    import torch

    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}"


def compile_all(targets: list[str], names: list[str] | None = None, python: str = sys.executable) -> list[dict[str, Any]]:
    """The figures of the named specimens, of all if none is named, for every target; `python` decides on the Triton."""
    chosen = [specimen.name for specimen in SPECIMENS if names is None or specimen.name in names]
    jobs = [(name, target) for name in chosen for target in targets]
    workers = min(32, os.cpu_count() or 1)
    shares = [jobs[start::workers] for start in range(workers) if jobs[start::workers]]
    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(lambda share: ask_worker(python, "figures", share), shares))
    found = {(entry["specimen"], entry["target"]): entry for part in parts for entry in part}
    return [found[job] for job in jobs]


def text(name: str, target: str, kind: str) -> str:
    """The compiler's own text for one specimen, free of paths and line numbers."""
    return ask_worker(sys.executable, kind, [(name, target)])[0]


def ask_worker(python: str, kind: str, jobs: list[tuple[str, str]]) -> list[Any]:
    """Run this file in a process where the interpreter is off and every version compiles alike."""
    variables = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    variables |= {"TRITON_DEFAULT_FP_FUSION": "1", "TRITON_DISABLE_LINE_INFO": "1"}
    command = [python, str(Path(__file__).resolve()), "--worker", kind]
    result = subprocess.run(command, input=json.dumps(jobs), env=variables, cwd=ROOT, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"the compiler's process ended with status {result.returncode}\n{result.stderr.strip()[-2000:]}")
    return json.loads(result.stdout.splitlines()[-1])


def work(kind: str, jobs: list[tuple[str, str]]) -> list[Any]:
    by_name = {specimen.name: specimen for specimen in SPECIMENS}
    if kind == "figures":
        return [measured(by_name[name], target) for name, target in jobs]
    return [compiled(*launch_of(by_name[name]), target).asm[kind] for name, target in jobs]


def measured(specimen: Specimen, target: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"specimen": specimen.name, "target": target, "launch": specimen.launch}
    try:
        function, arguments, options = launch_of(specimen)
        kernel = compiled(function, arguments, options, target)
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        return entry | {"error": f"{type(error).__name__}: {lines[-1]}"}
    constants = {name: value for name, value in arguments.items() if is_constexpr(function, name)}
    entry["configuration"] = constants | {"num_warps": kernel.metadata.num_warps, "num_stages": kernel.metadata.num_stages}
    entry |= amd_resources(kernel.asm["amdgcn"]) if "amdgcn" in kernel.asm else nvidia_resources(kernel.asm["cubin"])
    entry |= {"shared_bytes": kernel.metadata.shared, "wide_addresses": addresses_are_wide(kernel.asm["ttir"])}
    return entry | (instructions(kernel.asm["ptx"]) if "ptx" in kernel.asm else {})


def launch_of(specimen: Specimen) -> Launch:
    """What a specimen launches."""
    module = load(specimen.path)
    function = getattr(module, specimen.function)
    if not specimen.launcher:
        given = {name: value for name, value in specimen.arguments.items() if name in function.arg_names}
        options = {name: value for name, value in specimen.arguments.items() if name not in function.arg_names}
        return function, given, options | specimen.options
    launches = record_launches(getattr(module, specimen.launcher), type(function), specimen.shape, specimen.dtype)
    wanted = [launch for launch in launches if launch[0] is function]
    if len(wanted) != 1:
        raise ValueError(
            f"{specimen.launcher} launches {[launch[0].__name__ for launch in launches]}, not {specimen.function} once"
        )
    return wanted[0]


def load(path: str) -> ModuleType:
    """A module of the library; or the imports and functions of a program, without what it does."""
    if path.startswith("kernels/"):
        return importlib.import_module(path.removesuffix(".py").replace("/", "."))
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    kept = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef) or is_constant(node)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / Path(path).name
        file.write_text("\n\n".join(ast.unparse(node) for node in kept), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def is_constant(node: ast.stmt) -> bool:
    """Whether a statement names a constant that kernels may use."""
    return isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("tl.constexpr(")


def record_launches(launcher: Any, kernel_type: Any, shape: tuple[int, ...], dtype: str) -> list[Launch]:
    """What `launcher` launches when it is given tensors that have a shape and a dtype and no memory."""
    import torch

    launches: list[Launch] = []

    def record(self, *values, grid, warmup, **keywords):
        given = {name: value for name, value in keywords.items() if name in self.arg_names}
        arguments = inspect.signature(self.fn).bind(*values, **given).arguments
        launches.append((self, dict(arguments), {name: value for name, value in keywords.items() if name not in given}))

    like = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[dtype]
    required = [p for p in inspect.signature(launcher).parameters.values() if p.default is p.empty]
    tensors = [torch.empty(shape, dtype=like, device="meta") for _ in required]
    run, kernel_type.run = kernel_type.run, record
    try:
        launcher(*tensors)
    finally:
        kernel_type.run = run
    return launches


def is_constexpr(function: Any, name: str) -> bool:
    return function.params[function.arg_names.index(name)].is_constexpr


def compiled(function: Any, arguments: dict[str, Any], options: dict[str, Any], target: str) -> Any:
    """Compile for a target as a launch with these arguments would."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    signature, constants, attributes = {}, {}, {}
    for position, name in enumerate(function.arg_names):
        value = arguments[name]
        signature[name], divisible = specialized(value)
        if is_constexpr(function, name) or signature[name] == "constexpr":
            signature[name], constants[(position,)] = "constexpr", value
        elif divisible:
            attributes[(position,)] = [["tt.divisibility", 16]]
    gpu = GPUTarget("cuda", int(target[3:]), 32) if target.startswith("sm_") else GPUTarget("hip", target, 64)
    source = ASTSource(fn=function, signature=signature, constexprs=constants, attrs=attributes)
    return triton.compile(source, target=gpu, options=options)


def specialized(value: Any) -> tuple[str, bool]:
    """The type that Triton gives an argument at launch, and whether it knows that 16 divides it."""
    if isinstance(value, str):
        return value, True
    if hasattr(value, "data_ptr"):
        name = {"float32": "*fp32", "float16": "*fp16", "bfloat16": "*bf16"}[str(value.dtype).removeprefix("torch.")]
        return name, value.data_ptr() % 16 == 0
    if isinstance(value, float):
        return "fp32", False
    if value is None or isinstance(value, bool) or value == 1:
        return "constexpr", False
    return "i32" if -(2**31) <= value < 2**31 else "i64", value % 16 == 0


def nvidia_resources(cubin: bytes) -> dict[str, int]:
    from triton import knobs

    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [knobs.nvidia.cuobjdump.path, "-res-usage", file.name]
        usage = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = {name: int(value) for name, value in re.findall(r"\b(REG|STACK|LOCAL):(\d+)", usage)}
    return {"registers": found["REG"], "spill_bytes": found["STACK"] + found["LOCAL"]}


def amd_resources(assembly: str) -> dict[str, int]:
    found = {name: int(value) for name, value in re.findall(r"\.(vgpr_count|private_segment_fixed_size):\s+(\d+)", assembly)}
    return {"registers": found["vgpr_count"], "spill_bytes": found["private_segment_fixed_size"]}


def addresses_are_wide(ttir: str) -> bool:
    """Whether every program id is widened to 64 bits before anything is computed from it."""
    for name in re.findall(r"(%\S+) = tt\.get_program_id", ttir):
        uses = [line for line in ttir.splitlines() if re.search(rf"{re.escape(name)}\b", line.partition(" = ")[2])]
        if not all("arith.extsi" in line and "to i64" in line for line in uses):
            return False
    return True


def instructions(ptx: str) -> dict[str, Any]:
    """How often selected instructions stand in the text; loads and stores of global memory by their width in bits."""
    counts: dict[str, Any] = {"loads": Counter(), "stores": Counter(), "instructions": dict.fromkeys(INSTRUCTIONS, 0)}
    for mnemonic in re.findall(r"^\s*(?:@!?%p\d+ )?([a-z]\w*(?:\.[\w:]+)+)", ptx, re.MULTILINE):
        if mnemonic.startswith(("ld.global", "st.global")):
            counts["loads" if mnemonic[0] == "l" else "stores"][width(mnemonic)] += 1
        for name in INSTRUCTIONS:
            counts["instructions"][name] += mnemonic == name or mnemonic.startswith(f"{name}.")
    return counts


def width(mnemonic: str) -> int:
    parts = mnemonic.split(".")
    elements = next((int(part[1:]) for part in parts if re.fullmatch(r"v\d", part)), 1)
    return elements * int(parts[-1][1:])


def table(found: list[dict[str, Any]]) -> str:
    lines = [f"{'specimen':44}{'target':8}{'warps':>6}{'registers':>10}{'spilled':>8}{'shared':>8}  loads, stores (bits: count)"]
    for entry in found:
        if "error" in entry:
            lines.append(f"{entry['specimen']:44}{entry['target']:8}{entry['error']}")
            continue
        figures = (
            f"{entry['configuration']['num_warps']:6}{entry['registers']:10}{entry['spill_bytes']:8}{entry['shared_bytes']:8}"
        )
        accesses = "  ".join(str(entry[kind])[1:-1] for kind in ("loads", "stores") if kind in entry)
        lines.append(f"{entry['specimen']:44}{entry['target']:8}{figures}  {accesses}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="kernels or specimens; all if none is given")
    parser.add_argument("--target", action="append", metavar="sm_NN", help="a GPU, such as sm_90 or gfx942; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    parser.add_argument("--text", metavar="KIND", help="print ptx, ttir, ttgir or amdgcn instead of figures")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        print(json.dumps(work(arguments.worker, json.load(sys.stdin))))
        return 0
    wanted = set(arguments.names)
    names = [specimen.name for specimen in SPECIMENS if not wanted or {specimen.name, specimen.function} & wanted]
    targets = arguments.target or list(TARGETS)
    if not names:
        kernels = ", ".join(dict.fromkeys(specimen.function for specimen in SPECIMENS))
        print(f"no specimen is called {' or '.join(arguments.names)}; kernels: {kernels}", file=sys.stderr)
        return 2
    if arguments.text:
        print("\n".join(text(name, target, arguments.text) for name in names for target in targets))
        return 0
    found = compile_all(targets, names)
    print(table(found))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return int(any("error" in entry for entry in found))


if __name__ == "__main__":
    sys.exit(main())
