"""Hear what one version of Triton says to the programs of the error index. scripts/errors.py starts it with that one's Python.

    python scripts/recording/refusals.py compiler|interpreter

A line on standard input names a program; a line of JSON answers with what its calls of `error_of` returned, in order, and
with how the program ended. Each runs in a fork of this process, which has torch and Triton loaded already. The compiler's
turn needs no GPU: a driver that stands in for an H200's names the card and launches nothing, and tensors stay on the CPU.
What a program prints after a launch is then worth nothing, and is not kept.
"""

import json
import os
import re
import runpy
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 120
# What differs from one machine or run to the next and tells a reader nothing.
LOCAL = (
    (re.compile(r"0x[0-9a-f]{6,}"), "0x…"),
    (re.compile(r"(?:/[\w.+-]+)+/site-packages/"), "…/"),
    (re.compile(r"(?<![…\w])(?:/[\w.+-]+)+/(?=[\w.+-]+\.\w+)"), ""),
    (re.compile(r"\btmp[a-z0-9_]{8}\b"), "tmp…"),
)


class StandIn:
    """A driver of an H200 that compiles for it and launches nothing."""

    class utils:
        load_binary = staticmethod(lambda *_: (1, 1, 0, 0, 1024))
        get_device_properties = staticmethod(
            lambda *_: {"max_shared_mem": 232448, "multiprocessor_count": 132, "max_num_regs": 65536, "warpSize": 32}
        )

    launcher_cls = staticmethod(lambda *_: lambda *_, **__: None)
    get_current_device = get_current_stream = staticmethod(lambda *_: 0)

    @staticmethod
    def get_current_target():
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 90, 32)

    @staticmethod
    def get_active_torch_device():
        import torch

        return torch.device("cpu")


def stand_in() -> None:
    """Make programs believe that there is a GPU, and keep their tensors on the CPU."""
    import torch
    from torch.overrides import TorchFunctionMode
    from triton.runtime import driver

    class OnCPU(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if str(kwargs.get("device", "")).startswith("cuda"):
                kwargs["device"] = "cpu"
            return function(*(("cpu" if arg == "cuda" else arg) if isinstance(arg, str) else arg for arg in args), **kwargs)

    driver.set_active(StandIn())
    torch.cuda.is_available = lambda: True
    torch.cuda.synchronize = lambda *_: None
    OnCPU().__enter__()


def plain(text: str) -> str:
    for pattern, instead in LOCAL:
        text = pattern.sub(instead, text)
    return text


def heard(name: str, folder: str) -> dict:
    """Run a program in this process, which ends afterwards."""
    from kernels.tools import errors

    said: list[str] = []

    def noted(function):
        def call(*arguments, **named):
            text = function(*arguments, **named)
            said.append(plain(text))
            return text

        return call

    errors.error_of, errors.error_of_program = noted(errors.error_of), noted(errors.error_of_program)
    os.environ["TRITON_CACHE_DIR"] = f"{folder}/cache"
    os.chdir(folder)
    ended = ""
    try:
        runpy.run_path(str(ROOT / "snippets" / "errors" / f"{name}.py"), run_name="__main__")
    except SystemExit:
        pass
    except BaseException as error:
        ended = plain("".join(traceback.format_exception_only(error)).strip())
    return {"said": said, "ended": ended}


def answer(name: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        child = os.fork()
        if child == 0:
            try:
                quiet = os.open(os.devnull, os.O_RDWR)
                for number in (0, 1, 2):
                    os.dup2(quiet, number)
                import signal

                signal.alarm(SECONDS)
                report.write_text(json.dumps(heard(name, folder)), encoding="utf-8")
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        if not report.exists():
            return {"said": [], "ended": f"no end within {SECONDS} s, or a crash"}
        return json.loads(report.read_text(encoding="utf-8"))


def main() -> None:
    sys.path.insert(0, str(ROOT))
    way = sys.argv[1]
    os.environ.pop("TRITON_INTERPRET", None)
    if way == "interpreter":
        os.environ["TRITON_INTERPRET"] = "1"
    import torch  # noqa: F401
    import triton.language  # noqa: F401

    if way == "compiler":
        stand_in()
    for line in sys.stdin:
        print(json.dumps(answer(line.strip())), flush=True)


if __name__ == "__main__":
    main()
