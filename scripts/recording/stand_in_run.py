"""Run one program as if an H200 were here: the compiler of this Python's Triton compiles its kernels, and nothing is launched.

    python scripts/recording/stand_in_run.py PROGRAM [WORD ...]

What it warns of is printed to standard error, as `warned: ...`. scripts/gallery.py starts it.
"""

import runpy
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from scripts.recording.refusals import StandIn, stand_in


class Tuning(StandIn):
    """Times nothing either: an autotuner finds every configuration equally fast."""

    @staticmethod
    def get_benchmarker():
        return lambda call, quantiles=None, **_: [1.0 for _ in (call(), 1, 1)]


def main() -> None:
    import torch
    import triton.language  # noqa: F401
    from triton.runtime import driver

    stand_in()
    driver.set_active(Tuning())
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    del sys.argv[0]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as warned:
        import os

        os.environ["TRITON_CACHE_DIR"] = folder  # an empty one, so that everything is compiled
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        finally:
            for each in warned:
                print(f"warned: {each.category.__name__}: {each.message}", file=sys.stderr)


if __name__ == "__main__":
    main()
