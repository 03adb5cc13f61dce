"""What was found, as text."""

from typing import Any

NO_BYTES = "unknown, for none of its arguments is a tensor with elements: questions about memory are not asked"


def report(found: dict[str, Any]) -> str:
    """What was found, as text."""
    lines = [f"{found['gpu']}: copy {found['copy'] / 1e9:,.0f} GB/s, product {found['product'] / 1e12:,.0f} TFLOP/s"]
    if whole := found["whole"]:
        spent = f"{whole['wall_us']:,.1f} us by the clock, {whole['gpu_us']:,.1f} us of the GPU"
        lines += [f"a call: {spent}, {whole['idle']:.0%} idle"]
    for row in found["kernels"]:
        least = max(row["memory_us"], row["product_us"])
        lines += ["", f"{row['kernel']}: {row['launches']} {'launch' if row['launches'] == 1 else 'launches'} a call"]
        told = {
            "GPU": f"{row['us']:,.1f} us, alone and with a cold cache",
            "host": f"{row['host_us']:,.1f} us to launch it",
            "bytes": f"{row['bytes'] / 1e6:,.2f} MB in its tensors, at the copy's rate {row['memory_us']:,.1f} us",
        }
        if not row["bytes"]:
            told["bytes"] = NO_BYTES
        if row["flops"]:
            told["operations"] = f"{row['flops'] / 1e9:,.2f} billion, at the product's rate {row['product_us']:,.1f} us"
        if least:
            rate = f"{row['bytes'] / row['us'] / 1e3:,.0f} GB/s, " if row["bytes"] else ""
            told["reached"] = f"{rate}the least time is {least / row['us']:.0%} of its time"
        if "memory_bytes" in row:
            told["counted"] = f"{row['memory_bytes'] / 1e6:,.2f} MB in memory, {row['cache_bytes'] / 1e6:,.2f} MB in the L2 cache"
        told["compiled"] = f"{row['registers']} registers, {row['spilled']} bytes spilled, {row['shared']:,} bytes shared"
        told["programs"] = f"{row['programs']:,} of {row['warps']} warps on {row['multiprocessors']} multiprocessors"
        held = f"{row['resident']} a multiprocessor (limit: {row['held_by']})"
        told["at once"] = f"{held}, {row['waves']:.2f} waves, occupancy {row['occupancy']:.0%}"
        lines += [f"  {name:11}{text}" for name, text in told.items()]
        lines += [f"  {line}" for line in row["verdict"]]
    return "\n".join(lines)
