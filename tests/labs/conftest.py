"""The checker and the labs are tried on the CPU, under the interpreter, and on a GPU. Both need torch and triton."""

import importlib.util

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
    collect_ignore_glob = ["test_*.py"]
