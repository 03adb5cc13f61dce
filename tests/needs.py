"""The one way in which a test may be skipped: it needs hardware, or files, that this machine does not have and cannot have."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch


def needs(what: str) -> pytest.MarkDecorator:
    """Skip a test on a machine without `what`. Each test so marked stands in tests/skips.txt."""
    return pytest.mark.skipif(not {"cuda": torch.cuda.is_available, "sm_90": is_hopper}[what](), reason=f"needs: {what}")


def is_hopper() -> bool:
    return torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)


def needs_type(what: str) -> pytest.MarkDecorator:
    """Skip a test on a GPU without 8-bit floats, `fp8`. Triton's interpreter has them. Each stands in tests/skips.txt, too."""
    lacks = torch.cuda.is_available() and torch.cuda.get_device_capability() < (8, 9)
    return pytest.mark.skipif(lacks, reason=f"needs: {what}")


def need_free_memory(gigabytes: int) -> None:
    """Skip the rest of a test on a GPU with less free memory."""
    free, _ = torch.cuda.mem_get_info()
    if free < gigabytes * 2**30:
        pytest.skip(f"needs: cuda with {gigabytes} GB free")


def need_runtime(what: str) -> Path:
    """The folder of what runs programs in the page, built where it is not. CI has `what` that fetches; others may lack it."""
    from runtime import build  # here, for the copies of the checkout in which kernels are mutated have no runtime

    try:
        return build.build()
    except build.BuildError as error:
        if os.environ.get("CI"):
            pytest.fail(f"the runtime could not be built: {error}", pytrace=False)
        pytest.skip(f"needs: {what}")


def needs_package(what: str) -> pytest.MarkDecorator:
    """Skip a test where `package NAME` is absent, which the project does not install. Each stands in tests/skips.txt, too."""
    return pytest.mark.skipif(find_spec(what.removeprefix("package ")) is None, reason=f"needs: {what}")
