"""Choose your stack: one pattern with every tool, its lines of code, its speed and what it cannot do, each figure from a record.

    data(machine)  ->  what the element in the browser reads: patterns, tools, figures, links

A tool without a time in its pattern's record is shown as not measured. The standard library alone.
"""

from pathlib import Path
from typing import Any

from scripts.provenance import records
from scripts.provenance.environment import measured_on

Record = dict[str, Any]
# The positions, from the least to write to the most, by the name of their times in the records.
TOOLS = {
    "eager": "Library call",
    "library": "One fused library call",
    "compile": "Compiler",
    "triton": "Triton",
    "cuda": "CUDA C++",
}
# Of each pattern: its name, its program, the chapter that explains it, and the case that is shown.
PATTERNS: dict[str, dict[str, str]] = {
    "matmul": {
        "name": "Plain matmul",
        "program": "cuda/tensor_cores",
        "chapter": "deeper/cuda-tensor-cores/#a-product-on-tensor-cores-in-both-languages",
        "case": "beside_product fwd 8192x8192x8192 bf16",
    },
    "epilogue": {
        "name": "Matmul with an epilogue",
        "program": "tools/epilogue",
        "chapter": "deeper/tools-epilogue/#a-linear-layer-with-gelu-with-every-tool",
        "case": "tool_epilogue fwd 8192x4096x4096 bf16",
    },
    "chain": {
        "name": "Element-wise chain",
        "program": "tools/chain",
        "chapter": "deeper/tools-chain/#a-chain-of-steps-with-every-tool",
        "case": "tool_chain fwd 16384x4096 bf16",
    },
    "softmax": {
        "name": "Softmax",
        "program": "cuda/softmax",
        "chapter": "deeper/cuda-softmax/#softmax-in-both-languages",
        "case": "beside_softmax fwd 16384x4096 bf16",
    },
    "norm": {
        "name": "Norm with backward",
        "program": "tools/norm",
        "chapter": "deeper/tools-norm/#a-norm-with-its-gradients-with-every-tool",
        "case": "tool_norm bwd 16384x4096 bf16",
    },
    "irregular": {
        "name": "Irregular access",
        "program": "tools/bags",
        "chapter": "deeper/tools-bags/#an-irregular-access-with-every-tool",
        "case": "tool_bags fwd 65536 bags fp32",
    },
}
# What a tool cannot do, in general or for one pattern.
CANNOT = {
    "eager": "Keep a result on the chip between two calls.",
    "library": "Anything but the few finishes that the library has.",
    "compile": "Promise a kernel: what it makes is its own choice, and changes with its version.",
    "triton": "Say which warp does what, or where in shared memory something lies.",
    "cuda": "Run on another make of GPU, or fit the next generation without being written again.",
    "eager matmul": "Anything after the sum but the library's few finishes: any other activation is another pass.",
    "compile matmul": "Add anything: by default it calls the same library.",
    "triton matmul": "Say which warps load and which multiply.",
    "cuda matmul": "Use wgmma or the tensor memory accelerator: at this length it has mma and cp.async.",
    "cuda epilogue": "Use wgmma or the tensor memory accelerator: at this length it has mma and cp.async.",
    "cuda softmax": "Rows of more than 4096 numbers: registers are dealt out by hand, for this length.",
    "triton softmax": "Rows that do not fit into a program's registers: those need another kernel.",
    "cuda norm": "Rows of more than 4096 numbers, or of another type.",
    "cuda chain": "Run on another make of GPU, or take a number of columns that 8 does not divide.",
    "eager softmax": "Change how the call is done inside.",
    "eager norm": "Change how the call is done inside.",
    "eager irregular": "Any other finish than sum, mean and maximum.",
    "compile irregular": "Fuse into the call: it leaves it to the library.",
    "cuda irregular": "Rows of another width than 256.",
}


def data(machine: str, baked: Path = records.BAKED) -> Record:
    """Every pattern with its tools. Figures that are in no record are None."""
    patterns, made = [], None
    for key, pattern in PATTERNS.items():
        path = records.record_path(machine, "program", pattern["program"], baked)
        record = records.read(path) if path.exists() else {}
        made = record.get("environment") or made
        found = {"key": key, "name": pattern["name"], "case": spelled(pattern["case"]), "tools": rows(key, pattern, record)}
        patterns.append(found | {"chapter": pattern["chapter"], "program": f"programs/{pattern['program']}.py"})
    return {"patterns": patterns, "made": measured_on(made) if made else ""}


def spelled(case: str) -> str:
    """A case in words: its shape, its type, and what of it is timed."""
    _, direction, *shape, dtype = case.split()
    what = "forward and backward" if direction == "bwd" else "forward"
    sizes = " × ".join(f"{int(number):,}" for number in shape[0].split("x"))
    return f"{' '.join([sizes, *shape[1:]])}, {dtype}, {what}"


def rows(key: str, pattern: dict[str, str], record: Record) -> list[Record]:
    figures = record.get("figures", {})
    op, direction, *shape, dtype = pattern["case"].split()
    case = (op, direction, " ".join(shape), dtype, "call")
    times = {
        row["implementation"]: row["ms"]
        for row in record.get("measurements", [])
        if (row["op"], row["direction"], row["shape"], row["dtype"], row["timing"]) == case
    }
    best = min((ms[1] for ms in times.values()), default=None)
    found = []
    for tool, name in TOOLS.items():
        if tool == "library" and tool not in figures.get("lines", {}):
            continue  # most patterns have no such call
        ms = times.get(tool)
        build = figures.get(tool, {}).get("build_seconds") if tool in ("triton", "cuda") else None
        found.append({
            "tool": tool, "name": name, "lines": figures.get("lines", {}).get(tool), "build_seconds": build,
            "ms": ms, "speed": best / ms[1] if best and ms else None,
            "cannot": CANNOT.get(f"{tool} {key}", CANNOT[tool]), "why": "" if ms else why_not(tool, figures),
        })  # fmt: skip
    return found


def why_not(tool: str, figures: Record) -> str:
    """Why a tool has no time."""
    skipped = figures.get("cuda", {}).get("skipped") if tool == "cuda" else None
    failed = next((why for name, why in figures.get("failed", {}).items() if name.split()[-1] == tool), None)
    return skipped or failed or "no record of it yet"
