"""Run programs one after another, each in a process of its own that has imported torch and nothing else: that takes seconds.

With the argument `triton` it has imported Triton as well, with the interpreter turned on.

Started by program_runs.py with the Python of the bare environment. A line of JSON on standard input asks for a run, and a
line answers with its status. What the program prints goes to a file. The standard library, and torch.
"""

import atexit
import contextlib
import json
import os
import signal
import sys
import threading
import time
import traceback
import types


def behave_as(program: str, folder: str, environment: dict[str, str], output: str, library: str) -> int:
    """Be a Python that was started with this program: its own module, folder, environment and output."""
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    null = os.open(os.devnull, os.O_RDONLY)
    for opened, number in ((null, 0), (file, 1), (file, 2)):
        os.dup2(opened, number)
    os.chdir(folder)
    os.environ.update(environment)
    sys.argv = [program]
    sys.path[:0] = [library] if library else []
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    module.__dict__.update(__file__=program, __builtins__=__builtins__)
    try:
        with open(program, encoding="utf-8") as source:
            code = compile(source.read(), program, "exec")
        exec(code, module.__dict__)
        status = 0
    except SystemExit as done:
        status = done.code if isinstance(done.code, int) else 0 if done.code is None else 1
        if isinstance(done.code, str):
            print(done.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def run(seconds: float, **asked) -> int | None:
    """The exit status, or none for a program that did not end in time."""
    process = os.fork()
    if process == 0:
        os.setsid()
        status = 1
        try:
            status = behave_as(**asked)
        finally:
            os._exit(status)
    end = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return None
        time.sleep(0.02)


if __name__ == "__main__":
    with contextlib.suppress(ImportError):  # what needs it says so
        import torch  # noqa: F401

        if sys.argv[1:] == ["triton"]:
            os.environ["TRITON_INTERPRET"] = "1"
            import triton.language  # noqa: F401
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)
