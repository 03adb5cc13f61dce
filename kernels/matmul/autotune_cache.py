"""What searches for a configuration leave on disk: one file for each GPU, version of Triton, dtype, layout and shape.

The folder is BLOCKWISE_CACHE where that is set, else `blockwise` in the user's cache folder. A file is either whole or not
there, whoever writes beside it and whenever they are interrupted.
"""

import hashlib
import json
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch
import triton

from kernels.matmul.plan import matmul_kind, matmul_layout


def cache_folder() -> Path:
    """Where the results of searches are kept."""
    own = os.environ.get("BLOCKWISE_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "blockwise"


def search_key(a: torch.Tensor, b: torch.Tensor) -> dict[str, Any]:
    """All that the best configuration may depend on, as it stands in the file."""
    layouts = [matmul_layout(matrix) or f"strides {matrix.stride()}" for matrix in (a, b)]
    gpu = torch.cuda.get_device_name(a.device)
    names = {"gpu": gpu, "triton": triton.__version__, "dtype": str(a.dtype).removeprefix("torch.")}
    return names | {"products": matmul_kind(a.dtype), "layouts": layouts, "m": a.shape[0], "n": b.shape[1], "k": a.shape[1]}


def search_file(key: dict[str, Any]) -> Path:
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    return cache_folder() / f"matmul-{key['m']}x{key['n']}x{key['k']}-{key['dtype']}-{digest}.json"


def candidate_name(kernel: str, configuration: dict[str, int]) -> str:
    return json.dumps([kernel, configuration], sort_keys=True)


def read_tried(path: Path, key: dict[str, Any]) -> list[dict[str, Any]]:
    """What earlier searches have left; nothing where there is no such file, or one that says something else."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        whole = kept["key"] == key and all({"kernel", "configuration", "ms"} <= entry.keys() for entry in kept["tried"])
        return kept["tried"] if whole else []
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def write_tried(path: Path, key: dict[str, Any], tried: list[dict[str, Any]]) -> None:
    """Leave a whole file or none: another process may read it, and this one may be interrupted."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"key": key, "tried": tried}, file, indent=1)
            os.replace(part, path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"the search for a matmul configuration is not kept: {error}; set BLOCKWISE_CACHE to a folder"
        warnings.warn(message, stacklevel=2)
