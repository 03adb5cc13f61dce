"""What a record says about the machine it was made on, and how a caption says it."""

import ast
import datetime
import os
import platform
import re
import shutil
import subprocess
from functools import cache
from importlib import metadata
from typing import Any

from scripts import ROOT
from scripts.provenance.records import RecordError

SMI_FIELDS = "driver_version,power.limit,clocks.max.sm,clocks.max.memory"


def machine_name(cpu: bool, together: int = 1) -> str:
    """The folder for this machine's records: `cpu`, or the GPU's name as its driver spells it, as a slug; with how many work
    together, where several do."""
    if cpu:
        return "cpu"
    import torch

    name = re.sub(r"[^a-z0-9]+", "-", torch.cuda.get_device_name().lower()).strip("-")
    return name if together == 1 else f"{name}-x{together}"


def primary_machine() -> str:
    """The machine whose numbers the pages show, as mkdocs.yml names it."""
    return machine_named("primary")


def several_machine() -> str:
    """The one whose numbers the pages show of programs that run on several GPUs together."""
    return machine_named("several")


def machine_named(key: str) -> str:
    file = ROOT / "mkdocs.yml"
    match = re.search(rf"^  {key}: (\S+)$", file.read_text(encoding="utf-8"), re.MULTILINE) if file.exists() else None
    if not match:
        raise RecordError(f"mkdocs.yml: extra.{key} names no machine")
    return match.group(1)


def measured_on(environment: dict[str, Any], *dates: str) -> str:
    """The machine, the versions and the date of a measurement, as a caption ends; the dates, where there were several."""
    labels = {"driver": "driver", "cuda": "CUDA", "torch": "torch", "triton": "Triton"}
    versions = ", ".join(f"{label} {environment[key]}" for key, label in labels.items())
    return f"Measured on an {environment['gpu']}, {versions}, {' and '.join(dates or [environment['measured_at'][:10]])}."


def environment(cpu: bool, together: int = 1) -> dict[str, Any]:
    import torch
    import triton

    found: dict[str, Any] = {"machine": machine_name(cpu, together), "gpu": None, "driver": None, "cuda": None}
    found |= {"torch": torch.__version__, "triton": triton.__version__, "python": platform.python_version()}
    found |= {"power_limit_w": None, "sm_clock_mhz": None, "memory_clock_mhz": None}
    if not cpu:
        found |= {"gpu": torch.cuda.get_device_name(), "cuda": torch.version.cuda}
        driver, power, sm_clock, memory_clock = smi()
        found |= {
            "driver": driver,
            "power_limit_w": number(power),
            "sm_clock_mhz": number(sm_clock, int),
            "memory_clock_mhz": number(memory_clock, int),
        }
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    return found | {"measured_at": now.isoformat().replace("+00:00", "Z")} | commit()


def smi() -> list[str]:
    """The driver's own words on the first visible GPU, as fields of SMI_FIELDS. The clocks are the highest it allows."""
    asked = (uuids() or ["0"])[0]
    line = asked_of_smi(f"--query-gpu={SMI_FIELDS}", "--format=csv,noheader,nounits", f"--id={asked}").splitlines()[0]
    return [field.strip() for field in line.split(",")]


def asked_of_smi(*arguments: str) -> str:
    """What nvidia-smi answers; an error in words where it is not there or fails."""
    try:
        said = subprocess.run(["nvidia-smi", *arguments], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        hint = "It comes with the driver; a container has it if NVIDIA_DRIVER_CAPABILITIES names utility."
        raise RecordError(f"nvidia-smi is not on the PATH, and records keep what it tells of the driver. {hint}") from None
    except subprocess.CalledProcessError as error:
        raise RecordError(f"nvidia-smi ended with status {error.returncode}: {(error.stdout + error.stderr).strip()}") from None
    if not said.strip():
        raise RecordError("nvidia-smi says nothing of this GPU, and records keep what it tells of the driver.")
    return said.strip()


def visible() -> list[str]:
    """The GPUs that CUDA shows, as CUDA_VISIBLE_DEVICES spells them."""
    import torch

    spelled, count = os.environ.get("CUDA_VISIBLE_DEVICES"), torch.cuda.device_count()
    return spelled.split(",")[:count] if spelled else [str(number) for number in range(count)]


@cache
def uuids() -> list[str]:
    """What nvidia-smi calls each GPU that CUDA shows; nothing where PyTorch does not tell or nvidia-smi does not know it.

    A number may mean another card where two kinds are in one machine: nvidia-smi counts along the bus, CUDA the fastest first.
    """
    import torch

    found = [torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count())]
    names = [f"GPU-{getattr(properties, 'uuid', '')}" for properties in found]
    try:
        known = asked_of_smi("--query-gpu=uuid", "--format=csv,noheader").split()
    except RecordError:  # one of several may be broken
        return []
    return names if set(names) <= set(known) else []


def named_for_smi(gpus: str) -> str:
    """How nvidia-smi is asked for one or several GPUs that are spelled as in CUDA_VISIBLE_DEVICES."""
    by_spelling = dict(zip(visible(), uuids(), strict=False))
    return ",".join(by_spelling.get(gpu, gpu) for gpu in gpus.split(","))


def number(said: str, kind: type[int] | type[float] = float) -> float | None:
    """What the driver says as a number; none where it says that the card tells no such thing, as laptops do of a power limit."""
    try:
        return kind(said)
    except ValueError:
        return None


def commit() -> dict[str, Any]:
    """The commit of the checkout, and whether the code differs from it.

    A copy without git takes the commit from BLOCKWISE_COMMIT: who made the copy knows. That it is the code of that commit is
    for the digests to show, when the records are laid into a checkout.
    """
    try:
        git = ["git", "-C", str(ROOT)]
        changed = subprocess.run(
            [*git, "status", "--porcelain", "--", "kernels", "snippets", "scripts", "docs/labs"],
            capture_output=True,
            text=True,
            check=True,
        )
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        told = os.environ.get("BLOCKWISE_COMMIT", "")
        if not re.fullmatch("([0-9a-f]{40})?", told):
            raise RecordError(f"BLOCKWISE_COMMIT: expected a commit's 40 hexadecimal digits, got {told!r}") from None
        return {"commit": told}
    return {"commit": head.stdout.strip()} | ({"changed": True} if changed.stdout.strip() else {})


def rivals(text: str) -> dict[str, str]:
    """The versions of what a program is measured beside: the packages that it imports, the vendor's libraries, a compiler."""
    nodes = list(ast.walk(ast.parse(text)))
    modules = {alias.name.split(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {(node.module or "").split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
    installed = metadata.packages_distributions()
    names = {name for module in modules for name in installed.get(module, [])}
    names |= {name for each in installed.values() for name in each if re.match("nvidia-(cublas|cudnn)", name)}
    found = {name: metadata.version(name) for name in sorted(names)}
    import torch

    if cudnn := torch.backends.cudnn.version():
        found["cudnn"] = str(cudnn)
    if "nvcc" in text and (compiler := shutil.which("nvcc")):
        said = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
        if version := re.search(r"release [\d.]+, V([\d.]+)", said):
            found["nvcc"] = version[1]
    return found
