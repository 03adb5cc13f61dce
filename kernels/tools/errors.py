"""What Triton says to a launch that it refuses, for pages about errors. Not part of the public interface."""

import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import torch


# --8<-- [start:error_of]
def error_of(launch):
    """The last words of a call's traceback, as Python prints them, or what it warns of, or "no error".

    Where they end at a caret and say nothing, the words of the error that caused it, which Python prints first, stand before.
    """
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)  # as Python does
        try:
            launch()
            if torch.cuda.is_available():
                torch.cuda.synchronize()  # by now the GPU has said what it has to say
        except Exception as error:
            causes = [error]
            while causes[-1].__cause__:
                causes.append(causes[-1].__cause__)
            last, first = ("".join(traceback.format_exception_only(each)).strip() for each in (error, causes[-1]))
            return f"{first}\n\n{last}" if last.endswith("^") else last
    return "\n".join(f"{each.category.__name__}: {each.message}" for each in warned) or "no error"
# --8<-- [end:error_of]


def error_of_program(text, **environment):
    """The last words of a program in a Python of its own, with these variables of the environment set, or unset by None."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "program.py").write_text(text, encoding="utf-8")
        variables = {name: value for name, value in (os.environ | environment).items() if value is not None}
        done = subprocess.run([sys.executable, "program.py"], cwd=folder, env=variables, capture_output=True, text=True)
    lines = done.stderr.rstrip().splitlines()
    starts = [at for at, line in enumerate(lines) if line[:1].strip() and not line.startswith("Traceback")]
    return "\n".join(lines[starts[-1] :]) if done.returncode and starts else "no error"
