"""The one way in which a test may be skipped: it needs hardware that this machine does not have."""

import fcntl
import os
import tempfile
from pathlib import Path
from typing import TextIO

import pytest
import torch

HELD: list[TextIO] = []


def needs(what: str) -> pytest.MarkDecorator:
    """Skip a test on a machine without `what`. Each test so marked stands in tests/skips.txt."""
    return pytest.mark.skipif(not {"cuda": torch.cuda.is_available}[what](), reason=f"needs: {what}")


def need_free_memory(gigabytes: int) -> None:
    """Wait until no other test of this kind runs on the GPU; skip the rest of the test on one with less free memory."""
    name = f"blockwise-large-test-{os.environ.get('CUDA_VISIBLE_DEVICES', '')}.lock"
    HELD.append((Path(tempfile.gettempdir()) / name).open("w"))
    fcntl.flock(HELD[-1], fcntl.LOCK_EX)
    free, _ = torch.cuda.mem_get_info()
    if free < gigabytes * 2**30:
        pytest.skip(f"needs: cuda with {gigabytes} GB free")


def give_memory_back() -> None:
    """After a test: what `need_free_memory` waited for is another's again."""
    if HELD:
        torch.cuda.empty_cache()
        while HELD:
            HELD.pop().close()
