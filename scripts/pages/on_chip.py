"""What "on chip" is for a recorded kernel: registers, or shared memory too, as the records of compiled kernels tell it."""

from typing import Any

from scripts.provenance import records

TARGET = "sm_90"


def kept(trace: dict[str, Any]) -> tuple[bool, str]:
    """Whether the recorded blocks are known to stay in registers, and what the compiler made of the kernel, in words.

    A record of other blocks says nothing of these. So it is quoted with its own.
    """
    path = records.record_path("cpu", "compiled", trace["kernel"])
    found = [made for made in records.read(path)["specimens"] if made["target"] == TARGET] if path.exists() else []
    if not found:
        return False, ""
    alike = [made for made in found if constants(made).items() <= trace["arguments"].items()]
    if alike and all(made["shared_bytes"] == made["spill_bytes"] == 0 for made in alike):
        return True, "compiled with these blocks, it uses registers and no shared memory"
    made = found[0]
    blocks = ", ".join(f"{name} = {value}" for name, value in constants(made).items())
    shared = f"{made['shared_bytes']:,} bytes of shared memory" if made["shared_bytes"] else "no shared memory"
    return False, f"compiled with {blocks}, it uses registers and {shared}" if blocks else ""


def constants(made: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in made["configuration"].items() if not name.startswith("num_")}
