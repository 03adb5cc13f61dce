"""The published data: its form, and every number worked out again from the records. (The list of programs: tests/docs.)"""

import collections
import csv
import json
import math
import re
import statistics
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scripts import prepare
from scripts.provenance import records
from tests.baked import trees
from tests.docs import pages

COLUMNS = "gpu,op,direction,shape,dtype,implementation,timing,ms_p20,ms_p50,ms_p80,bytes,flops,commit,measured_at"
KEY = COLUMNS.split(",")[:7]
DIRECTIONS = {"fwd", "bwd", "fwdbwd"}
DTYPES = {"fp32": 4, "fp16": 2, "bf16": 2, "e4m3": 1, "fp8": 1}
FLAT, MATRIX, PRODUCT = (r"x".join([r"[1-9]\d*"] * sides) for sides in (1, 2, 3))
PEERS = {"blockwise", "eager", "compile"}


class Operation(NamedTuple):
    """How an operation's rows are spelled, and the elements that it reads and writes in terms of its shape's sides.

    A backward pass moves half as much again as its forward pass (two read, one written) where nothing else is said.
    """

    shape: str
    implementations: set[str]
    elements: Callable[..., int]
    backward: Callable[..., int] | None = None

    def moved(self, direction: str, *sides: int) -> int:
        if direction != "fwd" and self.backward:
            return self.backward(*sides)
        return self.elements(*sides) * (3 if direction == "bwd" else 2) // 2


def tensors(count: int) -> Callable[..., int]:
    """So many tensors of the shape."""
    return lambda *sides: count * math.prod(sides)


def of_a_product(m: int, k: int, n: int) -> int:
    """The two factors and the result."""
    return m * k + k * n + m * n


def of_heads(batches: int, tokens: int, queries: int, keys: int, width: int) -> int:
    """The queries and the keys, read and written."""
    return 2 * batches * tokens * (queries + keys) * width


def blocks(*sizes: int, sign: str = "block_") -> set[str]:
    return {f"{sign}{size}" for size in sizes}


CAPPED = {"warps4", "warps4_cap64", "warps8", "warps8_cap48", "warps8_cap32", "warps16", "warps16_cap32", "warps32"}
LADDER = {"unfused", "row", "eager", "long", "split", "three_walks", "online", "blockwise"} | blocks(
    *(2**k for k in range(6)), sign="rows_"
)
PRECISIONS = {"ieee", "tf32", "tf32x3", "bf16x3", "bf16x6", "fp16", "fp16_sums", "bf16", "fp8", "fp8_promoted", "eager"}
PRECISIONS |= {"eager_ieee", "eager_tf32", "eager_fp16_sums", "scaled_mm_fast", "scaled_mm_slow"}
STEPS = {"naive", "tiles", "cores", "grouped", "descriptors", "persistent", "specialized", "split", "eager"}
PRODUCTS = {"blockwise_nn", "blockwise_nt", "eager", "eager_nt", "compile", "compile_max", "last_adds"}
SCALED = {"blockwise_tensor", "blockwise_row"} | {
    f"scaled_mm_{kind}_{sums}" for kind in ("tensor", "row") for sums in ("fast", "slow")
}
FEATURES = {"pointers", "host", "persistent", "flattened", "made_here", "specialized", "eager"}
SPLIT_TAILS = {"all", "all_2", "all_3", "all_4", "last", "later", "all_128", "all_128_4", "later_128"}
TAILS = SPLIT_TAILS | {"pieces_2", "pieces_4", "pieces_128_4", "pieces_128_8", "whole", "gluon", "blockwise_nn", "eager"}
STREAMED = {"loads", "gluon_4", "cuda_plain", "cuda_unrolled", "eager"} | blocks(2, 4, 8, sign="stages_")
STREAMED |= blocks(4, 8, sign="cuda_ring_")
FUSED = {"fused", "separate", "eager", "cublas", "addmm", "compile", "compile_max"}
OTHERS = PEERS | {"compile_max", "liger", "flash_triton"}
INSIDE = {"blockwise", "operator", "compiled"}
TOOLS = {"eager", "compile", "triton", "cuda"}
OPERATIONS = {
    "add": Operation(FLAT, PEERS, tensors(3)),
    "softmax": Operation(MATRIX, PEERS | {"row", "compile_max", "liger", "unfused"}, tensors(2)),
    # Why write a kernel: the MLP's first half, tokens x width x hidden width, and its parts.
    "mlp_half": Operation(PRODUCT, PEERS | {"product", "linear", "norm_linear"}, of_a_product),
    "mlp_tail": Operation(MATRIX, PEERS | {"eager_two", "one_by_one"}, tensors(2)),
    "clipped_norm": Operation(MATRIX, PEERS, tensors(2)),
    "wave": Operation(FLAT, PEERS, tensors(2)),
    # The block model: one kernel, with blocks of several lengths and several warps.
    "double": Operation(FLAT, {f"{b}_warps_{w}" for b in blocks(64, 256, 1024, 4096) for w in (1, 2, 4, 8)}, tensors(2)),
    "tile_copy": Operation(MATRIX, {"blockwise", "int32"}, tensors(2)),
    "negate": Operation(FLAT, {"eager", "masked", "maskless", "split"}, tensors(2)),
    # SRAM and HBM: the second side of a strided copy is its stride; a sweep moves the same bytes at every size in MB.
    "blocked_add": Operation(FLAT, blocks(32, *(2**k for k in range(7, 15)), sign="block"), tensors(3)),
    "strided_copy": Operation(MATRIX, {"blockwise"}, lambda count, stride: 2 * count),
    "working_set_read": Operation(FLAT, {"blockwise"}, lambda megabytes: 0),
    "working_set_copy": Operation(FLAT, {"blockwise"}, lambda megabytes: 0),
    "memory_relu": Operation(FLAT, {"eager"}, tensors(2)),
    "memory_amax": Operation(FLAT, {"eager"}, tensors(1)),
    "memory_widen": Operation(FLAT, {"blockwise", "eager"}, tensors(3)),  # what is written is twice as wide
    "roofline_add": Operation(FLAT, {"blockwise"}, tensors(3)),
    "roofline_softmax": Operation(MATRIX, {"blockwise"}, tensors(2)),
    "product": Operation(PRODUCT, blocks(*(2**k for k in range(4, 9)), sign="tile") | {"library"}, of_a_product),
    "matmul_by_tile": Operation(PRODUCT, blocks(16, 32, 64, 128), of_a_product),
    "add_by_block": Operation(FLAT, blocks(*(2**k for k in range(7, 13))), tensors(3)),
    # Patterns: every other column is half a matrix; a reduction writes next to nothing.
    **dict.fromkeys(("square", "add_row", "transpose"), Operation(MATRIX, {"blockwise", "eager"}, tensors(2))),
    "add_row_strided": Operation(MATRIX, {"blockwise", "eager"}, tensors(1)),
    **dict.fromkeys(("row_sum", "largest"), Operation(MATRIX, {"blockwise", "eager"}, tensors(1))),
    "histogram": Operation(MATRIX, {"blockwise", "atomic", "eager"}, tensors(1)),
    "capped_softmax": Operation(MATRIX, CAPPED, tensors(2)),
    # The ladder: the chapter's steps beside the library; and the two ways to a gradient, of autograd's chapter.
    "softmax_ladder": Operation(MATRIX, LADDER, tensors(2)),
    "softmax_persistent": Operation(MATRIX, {"row", "blockwise"} | blocks(*range(4), sign="ahead_"), tensors(2)),
    "softmax_gradient": Operation(MATRIX, {"save", "recompute"}, tensors(2)),
    # Reductions: what is written is next to nothing. The patterns' totals are of a matrix. An atomic for each of so many.
    "total": Operation(rf"{FLAT}|{MATRIX}", {"blockwise", "atomic", "eager", "two_launches", "last", "lock"}, tensors(1)),
    "contend": Operation(FLAT, {"relaxed", "ordered", "floats"}, lambda places: 0),
    "contend_scattered": Operation(FLAT, {"scattered"}, lambda places: 0),
    **dict.fromkeys(("sum", "max"), Operation(FLAT, PEERS | {"compile_max"}, tensors(1))),
    **dict.fromkeys(("sum_dim-1", "sum_dim0", "max_dim-1", "max_dim0"), Operation(MATRIX, PEERS | {"compile_max"}, tensors(1))),
    **dict.fromkeys(("histc", "histc_one_bin"), Operation(MATRIX, {"blockwise", "atomic", "eager"}, lambda count, bins: count)),
    # Norms: two tensors forward, three backward; their parameters are next to nothing.
    "layernorm": Operation(MATRIX, OTHERS, tensors(2)),
    "rmsnorm": Operation(MATRIX, OTHERS | {"eager_hf"}, tensors(2)),
    "norm_step": Operation(MATRIX, {"blockwise", "eager", "atomic", "locks", "two_kernels"}, tensors(2)),
    # Dropout keeps no mask: its backward pass reads one tensor and writes one.
    "dropout": Operation(FLAT, PEERS | {"compile_max", "one_each"}, tensors(2), tensors(2)),
    "dropout_add": Operation(MATRIX, PEERS, tensors(3)),
    **dict.fromkeys(("gelu", "gelu_erf", "bias_gelu"), Operation(MATRIX, PEERS | {"compile_max"}, tensors(2))),
    **dict.fromkeys(("swiglu", "geglu", "swiglu_halves"), Operation(MATRIX, OTHERS, tensors(3), tensors(5))),
    # The loss reads its logits once, and with the gradient writes as many.
    "cross_entropy": Operation(MATRIX, OTHERS | {"flash_triton_ip"}, tensors(1), tensors(2)),
    # The ladder of matrix products: all its steps in one run, and each step's own program.
    "matmul_ladder": Operation(PRODUCT, STEPS | {"stages", "whole", "wide"}, of_a_product),
    **{f"matmul_{step}": Operation(PRODUCT, {step, "eager"}, of_a_product) for step in STEPS - {"eager"}},
    "matmul_grouped": Operation(PRODUCT, {"rows", "grouped", "eager"}, of_a_product),
    "matmul_stages": Operation(PRODUCT, {f"stages_{n}" for n in range(1, 6)} | {"wide_3", "wide_4", "eager"}, of_a_product),
    "matmul_tiles": Operation(PRODUCT, {"tiles", "tiles_16", "eager"}, of_a_product),
    "matmul_split": Operation(PRODUCT, {f"parts_{2**k}" for k in range(5)} | {"eager"}, of_a_product),
    # Matrix products: the order of tiles; and precision, where 8-bit floats give a result of 16 bits.
    "tile_order": Operation(PRODUCT, {"eager"} | blocks(1, 2, 4, 8, 16, 32, sign="group_"), of_a_product),
    "precision": Operation(PRODUCT, PRECISIONS, of_a_product),
    "precision_scaled": Operation(PRODUCT, PRECISIONS, lambda m, n, k: of_a_product(m, n, k) + m * n),
    # Matrix products beside cuBLAS, and what is fused with them. A norm alone reads and writes rows of the first two sides.
    "mm": Operation(PRODUCT, PRODUCTS, of_a_product),
    "scaled_mm": Operation(PRODUCT, SCALED, lambda m, n, k: of_a_product(m, n, k) + m * n),
    "hopper_features": Operation(PRODUCT, FEATURES, of_a_product),
    "wide_tile": Operation(PRODUCT, {"wide_tile", "wide_tile_3", "wide_tile_g4", "whole", "blockwise_nn", "eager"}, of_a_product),
    "tail": Operation(PRODUCT, TAILS, of_a_product),
    "one_wave": Operation(PRODUCT, {"blockwise", "persistent", "eager"}, of_a_product),
    "narrow": Operation(PRODUCT, {"straight", "turned", "blockwise_nn", "eager"}, of_a_product),
    **dict.fromkeys(
        (f"epilogue_{name}" for name in ("gelu", "silu", "bias", "product")), Operation(PRODUCT, FUSED, of_a_product)
    ),
    "epilogue_residual": Operation(PRODUCT, FUSED, lambda m, n, k: of_a_product(m, n, k) + m * n),
    "epilogue_kept": Operation(PRODUCT, {"alone", "kept"}, of_a_product),
    "ln_linear": Operation(PRODUCT, PEERS, of_a_product, lambda m, k, n: 2 * of_a_product(m, n, k)),
    **dict.fromkeys(
        ("ln_linear_fold", "ln_linear_product"), Operation(PRODUCT, PEERS | {"folded", "folded_prepared"}, of_a_product)
    ),
    "ln_linear_norm": Operation(PRODUCT, {"blockwise", "eager"}, lambda m, k, n: 2 * m * k),
    # Inside PyTorch: what the compiler writes beside the library, attention by heads, and functions alone and as operators.
    **dict.fromkeys(
        (f"inductor_{name}" for name in ("softmax", "layer_norm", "rms_norm", "bias_gelu")),
        Operation(MATRIX, PEERS | {"compile_max"}, tensors(2)),
    ),
    "inductor_swiglu": Operation(MATRIX, PEERS | {"compile_max"}, tensors(3)),
    "inductor_cross_entropy": Operation(MATRIX, PEERS | {"compile_max"}, tensors(1)),
    "inductor_flex_causal": Operation(rf"{MATRIX}x{MATRIX}", {"eager", "compile", "sdpa"}, tensors(4)),
    **dict.fromkeys(("inside_softmax", "inside_layer_norm"), Operation(MATRIX, INSIDE, tensors(2))),
    "inside_swiglu": Operation(MATRIX, INSIDE, tensors(3)),
    "inside_matmul": Operation(MATRIX, INSIDE, lambda m, n: 2 * m * n + n * n),
    # Beside CUDA C++, in each tool; and what Triton makes hard.
    "beside_add": Operation(FLAT, TOOLS, tensors(3)),
    "beside_row_sum": Operation(MATRIX, TOOLS, tensors(1)),
    "beside_softmax": Operation(MATRIX, TOOLS, tensors(2)),
    **dict.fromkeys(("beside_naive", "beside_tiled", "beside_product"), Operation(PRODUCT, TOOLS, of_a_product)),
    "divide_by_sum": Operation(FLAT, {"two_launches", "barrier", "barrier_cooperative", "eager"}, tensors(2)),
    "streamed_sum": Operation(MATRIX, STREAMED, tensors(1)),
    "ragged_sum": Operation("even|shuffled|unlucky", {"row_each", "share", "queue", "eager"}, tensors(0)),
    # Choose your tool: a chain with three inputs of full size; a norm forward and backward; bags of rows.
    "tool_chain": Operation(MATRIX, TOOLS, tensors(4)),
    "tool_epilogue": Operation(PRODUCT, TOOLS | {"library"}, of_a_product),
    "tool_norm": Operation(MATRIX, TOOLS, tensors(2), tensors(5)),
    "tool_bags": Operation(r"\d+ bags", TOOLS, tensors(0)),
    "rope": Operation(r"B\d+S\d+H\d+/\d+D\d+", OTHERS | {"blockwise_whole"}, of_heads, of_heads),
}
# Where lengths are drawn at random, the bytes follow from the additions. A bag's numbers are rows of 256, and 8 bytes an index.
BY_ADDITIONS: dict[str, Callable[[int], int]] = {
    "ragged_sum": lambda added: 4 * added,
    "tool_bags": lambda added: 4 * (added + 65536 * 256) + added // 256 * 8,
}
NONE = Operation("", set(), tensors(0))
PRIMARY = prepare.primary_machine()


@pytest.fixture(scope="module", autouse=True)
def prepared() -> None:
    pages.prepare()


@pytest.fixture(scope="module")
def raw() -> list[dict[str, Any]]:
    """The primary machine's records, as they lie there."""
    paths = sorted((records.ROOT / "docs/baked" / PRIMARY).rglob("*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.parent.name != "charts"]


def table(root: Path = records.ROOT) -> tuple[str, list[dict[str, str]]]:
    text = (root / "docs/data/benchmarks.csv").read_text(encoding="utf-8")
    return text.splitlines()[0], list(csv.DictReader(text.splitlines(), strict=True))


# data/benchmarks.csv


def faults(row: dict[str, str]) -> list[str]:
    """The fields of a row that are not as the format has them."""
    times = [float(row[f"ms_p{quantile}"]) for quantile in (20, 50, 80)]
    operation = OPERATIONS.get(row["op"], NONE)
    right = {
        "gpu": re.fullmatch(r"NVIDIA \S.*|AMD \S.*", row["gpu"]),
        "op": operation is not NONE,
        "shape": re.fullmatch(operation.shape, row["shape"]),
        "direction": row["direction"] in DIRECTIONS,
        "dtype": row["dtype"] in DTYPES,
        "implementation": row["implementation"] in operation.implementations,
        "timing": row["timing"] in ("call", "graph"),
        "quantiles": 0 < times[0] <= times[1] <= times[2] < math.inf,
        "bytes": re.fullmatch(r"[1-9]\d*", row["bytes"]),
        "flops": re.fullmatch(r"([1-9]\d*)?", row["flops"]),
        "commit": re.fullmatch(r"([0-9a-f]{40})?", row["commit"]),
        "measured_at": re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["measured_at"]),
    }
    return [f"{field} of {','.join(row.values())}" for field, fine in right.items() if not fine]


def test_the_columns_are_those_of_the_format():
    header, rows = table()
    assert header == COLUMNS
    assert rows and all(None not in row and None not in row.values() for row in rows)


def test_every_row_is_spelled_as_the_format_says():
    assert [fault for row in table()[1] for fault in faults(row)] == []


def test_the_first_seven_columns_are_a_key():
    keys = [tuple(row[column] for column in KEY) for row in table()[1]]
    assert sorted(keys) == sorted(set(keys))


def test_every_row_is_a_measurement_of_the_records_and_every_measurement_a_row(raw):
    expected = []
    for record in raw:
        environment = record["environment"]
        for row in record.get("measurements", []):
            flops = "" if row["flops"] is None else str(row["flops"])
            fields = [environment["gpu"], *(row[field] for field in KEY[1:]), *map(str, row["ms"]), str(row["bytes"]), flops]
            expected.append([*fields, environment["commit"], environment["measured_at"]])
    found = [list(row.values()) for row in table()[1] if row["gpu"] == raw[0]["environment"]["gpu"]]
    assert sorted(found) == sorted(expected)


def test_the_bytes_are_those_of_the_definition():
    """Each input read once, each output written once."""
    wrong, sweeps = [], {}
    for row in table()[1]:
        if row["op"] in BY_ADDITIONS:
            if int(row["bytes"]) != BY_ADDITIONS[row["op"]](int(row["flops"])):
                wrong.append(list(row.values()))
            continue
        elements = OPERATIONS[row["op"]].moved(row["direction"], *map(int, re.findall(r"\d+", row["shape"])))
        if not elements:
            sweeps.setdefault(row["op"], set()).add(row["bytes"])
        elif int(row["bytes"]) != elements * DTYPES[row["dtype"]]:
            wrong.append(list(row.values()))
    assert wrong == []
    assert sweeps.keys() == {"working_set_read", "working_set_copy", "contend", "contend_scattered"}
    # A sweep reads, copies or adds whole blocks, the same number of them within one in a hundred whatever the size.
    assert all(max(map(int, moved)) < 1.01 * min(map(int, moved)) for moved in sweeps.values())


GOOD = {"gpu": "NVIDIA H200", "op": "softmax", "direction": "fwd", "shape": "4x8", "dtype": "fp32", "implementation": "eager"}
GOOD |= {"timing": "call", "ms_p20": "1", "ms_p50": "2", "ms_p80": "3", "bytes": "256", "flops": "", "commit": ""}
GOOD |= {"measured_at": "2000-01-01T00:00:00Z"}
BAD = [
    ("op", "Softmax"),
    ("direction", "forward"),
    ("shape", "(4, 8)"),
    ("shape", "32"),
    ("dtype", "float32"),
    ("implementation", "torch"),
    ("timing", "cuda graph"),
    ("ms_p20", "2.5"),
    ("ms_p50", "nan"),
    ("ms_p80", "inf"),
    ("ms_p20", "0"),
    ("bytes", ""),
    ("flops", "None"),
    ("flops", "1.5"),
    ("commit", "main"),
    ("measured_at", "2000-01-01 00:00:00Z"),
    ("measured_at", "2000-01-01T00:00:00+02:00"),
    ("gpu", "nvidia-h200"),
]


@pytest.mark.parametrize("field, value", BAD)
def test_a_planted_fault_is_found(field, value):
    found = faults(GOOD | {field: value})
    assert faults(GOOD) == [] and found[0].startswith("quantiles" if field.startswith("ms_") else field)


# generated/figures.json

Leaves = dict[tuple[str, ...], Any]


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Everything in a nest of mappings and lists, by its path."""
    if isinstance(value, dict | list) and value:
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, (*path, str(key)))
    else:
        yield path, value


def expected_figures(raw: list[dict[str, Any]]) -> Leaves:
    found: Leaves = {}
    copies, products = [], []
    for record in raw:
        name = record["name"].replace("/", "_")
        for row in record.get("measurements", []):
            median = row["ms"][1] / 1000
            path = ("m", row["op"], row["direction"], row["shape"], row["dtype"], row["timing"], row["implementation"])
            found |= {(*path, "us"): median * 1e6, (*path, "gbps"): row["bytes"] / median / 1e9, (*path, "bytes"): row["bytes"]}
        for ceiling in (record["ceilings"],) if "ceilings" in record else ():
            copies.append(ceiling["copy"]["bytes"] / ceiling["copy"]["ms"][1] * 1000 / 1e9)
            products.append(ceiling["matmul"]["flops"] / ceiling["matmul"]["ms"][1] * 1000 / 1e12)
            found |= {("ceiling", name, "copy_gbps"): copies[-1], ("ceiling", name, "matmul_tflops"): products[-1]}
        for part in {entry["implementation"] for entry in record.get("counters", [])}:
            entries = [entry for entry in record["counters"] if entry["implementation"] == part]
            read, written = (sum(entry[f"dram_{way}_bytes"] for entry in entries) for way in ("read", "write"))
            sums = {"dram_read_bytes": read, "dram_write_bytes": written, "bytes": read + written, "kernels": len(entries)}
            sums |= {"ms": math.fsum(entry["ms"] for entry in entries), "each": entries}
            found |= {("counted", name, part, *path): value for path, value in leaves(sums)}
        for specimen in record.get("specimens", []):
            kernel, label = specimen["specimen"].split("/")
            found |= {("compiled", kernel, label, *path): value for path, value in leaves(specimen)}
    kept = {record["name"]: record["figures"] for _, record in records.all_records("cpu") if "figures" in record}
    kept |= {record["name"]: record["figures"] for record in raw if "figures" in record}
    kept = {name.replace("/", "_"): contents for name, contents in kept.items()}
    found |= {("kept", *path): value for path, value in leaves(kept)}
    found |= {("ceiling", "copy_gbps"): statistics.median(copies), ("ceiling", "matmul_tflops"): statistics.median(products)}
    newest = sorted(record["environment"]["measured_at"] for record in raw)[-1]
    (last,) = {json.dumps(record["environment"]) for record in raw if record["environment"]["measured_at"] == newest}
    found |= {("baked", key): value for key, value in json.loads(last).items()}
    found |= {("results", *path): value for path, value in leaves(expected_results(raw))}
    for path in (records.ROOT / "docs/programs").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        found["programs", f"{path.parent.name}_{path.stem}", "lines"] = text.count("\n")
    return found


LIBRARY = {"add", "gelu", "bias_gelu", "swiglu", "geglu", "dropout", "dropout_add", "softmax", "layernorm", "rmsnorm", "rope"}
LIBRARY |= {"gelu_erf", "swiglu_halves", "cross_entropy", "sum", "sum_dim-1", "sum_dim0", "max", "max_dim-1", "max_dim0"}
COPIED = set(LIBRARY)  # what at best runs at the rate of a copy
LIBRARY |= {"histc", "histc_one_bin"}
RIVALS = {"eager", "compile", "compile_max", "liger", "flash_triton", "flash_triton_ip"}


def expected_results(raw: list[dict[str, Any]]) -> dict[str, Any]:
    """Won, level and lost, counted anew from the medians."""
    leads: dict[str, list[tuple[float, bool]]] = {"call": [], "graph": []}
    last: dict[tuple, list[tuple[bool, float, float]]] = collections.defaultdict(list)
    for record in raw:
        for ours in record.get("measurements", []):
            if ours["op"] in LIBRARY and ours["implementation"] == "blockwise":
                key = [ours[part] for part in ("op", "direction", "shape", "dtype", "timing")]
                same = [row for row in record["measurements"] if [row[part] for part in KEY[1:5]] + [row["timing"]] == key]
                rivals = [row["ms"][1] for row in same if row["implementation"] in RIVALS]
                if not rivals:
                    continue
                copy = record["ceilings"]["copy"]
                microseconds = ours["bytes"] * copy["ms"][1] / copy["bytes"] * 1000
                leads[ours["timing"]].append((min(rivals) / ours["ms"][1], microseconds >= 20))
                if microseconds >= 20:
                    last[tuple(key[:4])].append(
                        (ours["timing"] == "graph", min(rivals) / ours["ms"][1], min(rivals) * 1000 / microseconds)
                    )
    found: dict[str, Any] = {"cases": len(leads["call"]), "large": sum(big for _, big in leads["call"]), "floor_us": 20}
    for timing, all_of in leads.items():
        for name, kept in (("all", all_of), ("large", [lead for lead in all_of if lead[1]])):
            level = sum(0.98 <= ratio <= 1.02 for ratio, _ in kept)
            won = sum(ratio > 1.02 for ratio, _ in kept)
            found[f"{timing}_{name}"] = {"won": won, "level": level, "lost": len(kept) - won - level}
    ratios = sorted(ratio for ratio, big in leads["call"] if big)
    middle = (ratios[len(ratios) // 2] + ratios[(len(ratios) - 1) // 2]) / 2
    found |= {"mean": math.prod(ratios) ** (1 / len(ratios)), "median": middle}
    for name, place, ops in (("mean_alone", 1, LIBRARY), ("mean_copied", 1, COPIED), ("limit_copied", 2, COPIED)):
        logs = [math.log(max(timings)[place]) for key, timings in last.items() if key[0] in ops]  # the replay's if there is one
        found[name] = math.exp(sum(logs) / len(logs))
    return found


def test_every_figure_is_worked_out_from_the_records(raw):
    found = dict(leaves(json.loads((records.ROOT / "docs/generated/figures.json").read_text(encoding="utf-8"))))
    expected = expected_figures(raw)
    assert found.keys() == expected.keys() and len(found) > 500
    differ = {path: (found[path], expected[path]) for path in found if not alike(found[path], expected[path])}
    assert differ == {}


def alike(one: Any, other: Any) -> bool:
    return math.isclose(one, other, rel_tol=1e-12) if isinstance(one, float) and isinstance(other, float) else one == other


# Several machines, in a small checkout


@pytest.fixture
def tree(tmp_path) -> Path:
    tree = trees.checkout(tmp_path)
    trees.put(tree, {"mkdocs.yml": "extra:\n  primary: first-gpu\n", "docs/index.md": "# A page\n"})
    return tree


def measured(tree: Path, machine: str, name: str, implementation: str, **fields: Any) -> None:
    row = {"op": "add", "direction": "fwd", "shape": "8", "dtype": "fp32", "implementation": implementation, "timing": "call"}
    row |= {"ms": [0.5, 1.0, 2.0], "bytes": 96, "flops": None, "configuration": None}
    environment = {"machine": machine, "gpu": machine.upper(), "measured_at": "2000-01-01T00:00:00Z", "commit": ""}
    environment |= {"driver": "1", "cuda": "2", "torch": "3", "triton": "4", "python": "5"} | fields.pop("made", {})
    trees.lay(tree, name, machine, environment=environment, measurements=[row], **fields)


def prepare_in(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(**trees.command(tree, script="prepare.py"), capture_output=True)


def test_another_gpu_s_stale_records_are_left_out_and_its_fresh_ones_are_not(tree):
    measured(tree, "first-gpu", "tiny/plus", "fresh")
    measured(tree, "first-gpu", "tiny/times", "stale", hash="of other code")
    measured(tree, "second-gpu", "tiny/plus", "fresh")
    measured(tree, "second-gpu", "tiny/times", "stale", hash="of other code")
    done = prepare_in(tree)
    assert done.returncode == 0, done.stderr
    header, rows = table(tree)
    found = [(row["gpu"], row["implementation"]) for row in rows]
    assert header == COLUMNS and found == [("FIRST-GPU", "fresh"), ("FIRST-GPU", "stale"), ("SECOND-GPU", "fresh")]
    assert (rows[0]["flops"], rows[0]["commit"]) == ("", "")


def test_the_text_speaks_of_the_primary_machine_and_its_newest_measurement(tree):
    measured(tree, "first-gpu", "tiny/plus", "one", made={"measured_at": "2000-01-03T00:00:00Z"})
    measured(tree, "first-gpu", "tiny/times", "one", made={"measured_at": "2000-01-02T00:00:00Z"}, hash="of other code")
    measured(tree, "second-gpu", "tiny/plus", "one", made={"measured_at": "2000-01-04T00:00:00Z"})
    assert prepare_in(tree).returncode == 0
    figures = json.loads((tree / "docs/generated/figures.json").read_text(encoding="utf-8"))
    assert (figures["baked"]["gpu"], figures["baked"]["measured_at"]) == ("FIRST-GPU", "2000-01-03T00:00:00Z")
    assert (tree / "docs/generated/outputs/gpu/tiny/plus.txt").read_text(encoding="utf-8") == "µ\n"
    assert not (tree / "docs/generated/outputs/gpu/tiny/plus.sanitizer.txt").exists()


def test_what_the_sanitizer_found_can_be_included(tree):
    found = {"tool": "memcheck", "part": "", "errors": 1, "output": ["========= Invalid", "========= ERROR SUMMARY: 1 error"]}
    measured(tree, "first-gpu", "tiny/plus", "one", sanitizer=found)
    assert prepare_in(tree).returncode == 0
    text = (tree / "docs/generated/outputs/gpu/tiny/plus.sanitizer.txt").read_text(encoding="utf-8")
    assert text == "========= Invalid\n========= ERROR SUMMARY: 1 error\n"


def test_the_charts_are_the_primary_machine_s(tree):
    for machine in ("first-gpu", "second-gpu"):
        measured(tree, machine, "tiny/plus", "one")
        environment = records.read(records.record_path(machine, "program", "tiny/plus", trees.baked(tree)))["environment"]
        sidecar = {"name": "one", "title": "One.", "alt": "", "columns": ["a"], "rows": [[1]], "environment": environment}
        folder = f"docs/baked/{machine}/charts"
        trees.put(
            tree,
            {f"{folder}/one.json": json.dumps(sidecar), f"{folder}/one.wide.svg": "<svg/>", f"{folder}/one.narrow.svg": "<svg/>"},
        )
    done = prepare_in(tree)
    assert done.returncode == 0, done.stderr
    for file in ("data/charts/one.json", "generated/charts/one.html"):
        text = (tree / "docs" / file).read_text(encoding="utf-8")
        assert "FIRST-GPU" in text and "SECOND-GPU" not in text


@pytest.mark.parametrize("machine", ["first-gpu", "second-gpu", "cpu"])
def test_a_corrupt_record_stops_it_with_one_line(tree, machine):
    trees.put(tree, {f"docs/baked/{machine}/tiny/plus.json": "{"})
    done = prepare_in(tree)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(rf"\S+/{machine}/tiny/plus\.json: not a readable record .*\n", done.stderr)


def test_it_works_before_the_first_bake(tree):
    done = prepare_in(tree)
    assert done.returncode == 0, done.stderr
    assert table(tree) == (COLUMNS, [])
