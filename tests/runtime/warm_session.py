"""The page's Python in a process of CPython: each request runs in a fork of it, which has imported the session and nothing else.

Started by page_python.py with a folder as build.py lays it out. A line of JSON asks for several calls in one fork: of
`session.run` or `session.lab`, or for a text to be run, whose `result` comes back. A file takes the answers and what was printed.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path


def called(kind, request):
    """One call, with what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        if kind == "text":
            namespace = {"__name__": "text"}
            exec(compile(request["source"], "<text>", "exec"), namespace)
            done = namespace["result"]
        else:
            done = json.loads(getattr(session, kind)(json.dumps(request)))
    return {"done": done, "out": printed.getvalue().splitlines()}


def answer(calls, file):
    with tempfile.TemporaryDirectory() as folder:
        session.FOLDER = Path(folder) / "run"
        with open(file, "w", encoding="utf-8") as out:
            json.dump([called(kind, request) for kind, request in calls], out)


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    from runtime import session

    for line in sys.stdin:
        asked = json.loads(line)
        process = os.fork()
        if process == 0:
            status = 1
            try:
                answer(asked["calls"], asked["file"])
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        _, status = os.waitpid(process, 0)
        print(json.dumps(status), flush=True)
