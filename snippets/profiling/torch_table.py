"""torch.profiler: the table of a small piece of work, narrow enough to read, and what its trace holds."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

import json
import tempfile
from collections import Counter
from pathlib import Path

from kernels.tools.benchmark import keep


# --8<-- [start:kernel]
@triton.jit
def gate_rows_kernel(x_ptr, gate_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    gate = tl.load(gate_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x * tl.sigmoid(gate), mask=offsets < n)
# --8<-- [end:kernel]


# --8<-- [start:work]
x, gate = torch.randn(2, 4096, 4096, device="cuda").unbind()
weight = torch.randn(4096, 4096, device="cuda")
y = torch.empty_like(x)


def work():
    with torch.profiler.record_function("gate"):
        gate_rows_kernel[(triton.cdiv(x.numel(), 1024),)](x, gate, y, x.numel(), BLOCK=1024)
    with torch.profiler.record_function("project"):
        return torch.relu(y @ weight)
# --8<-- [end:work]


# --8<-- [start:profile]
for _ in range(3):  # compile, and warm up
    work()
torch.cuda.synchronize()
with torch.profiler.profile() as profile:  # the CPU and, where there is one, the GPU
    for _ in range(10):
        work()
    torch.cuda.synchronize()
# --8<-- [end:profile]

# --8<-- [start:table]
print(f"{'name':36}{'calls':>6}{'self CPU':>12}{'self GPU':>12}{'GPU, each':>11}")
rows = sorted(profile.key_averages(), key=lambda row: -row.self_device_time_total)
for row in rows:
    gpu = row.self_device_time_total
    if gpu or row.self_cpu_time_total > 100:
        print(f"{row.key[:35]:36}{row.count:6}{row.self_cpu_time_total:9.0f} us{gpu:9.0f} us{gpu / row.count:8.1f} us")
# --8<-- [end:table]

# --8<-- [start:trace]
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "trace.json"
    profile.export_chrome_trace(str(path))
    size, events = path.stat().st_size, json.loads(path.read_text())["traceEvents"]
kinds = Counter(event["cat"] for event in events if "cat" in event and event["ph"] == "X")
print(f"the trace: {size / 1e3:.0f} kB,", ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
own = next(event for event in events if event.get("cat") == "kernel" and event["name"].startswith("gate_rows"))
args = ("grid", "block", "registers per thread", "shared memory", "est. achieved occupancy %")
print("our kernel:", ", ".join(f"{name} {own['args'][name]}" for name in args if name in own["args"]))
# --8<-- [end:trace]
assert any(row.key == "gate_rows_kernel" for row in rows)
keep(figures={"kinds": dict(kinds), "bytes": size})
