"""The checker's tests watch lanes, which only the interpreter can: they are of the CPU, and need torch and triton."""

import importlib.util

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    import torch

    collect_ignore_glob = ["test_checker.py"] if torch.cuda.is_available() else []
