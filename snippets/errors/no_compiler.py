"""Triton builds a small C module, and there is no C compiler."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

from kernels.tools.errors import error_of, error_of_program

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:imports]

# --8<-- [start:wrong]
source = """
#include <Python.h>
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "probe"};
PyMODINIT_FUNC PyInit_probe(void) { return PyModule_Create(&module); }
"""
program = f"""
from triton.runtime.build import compile_module_from_src

compile_module_from_src({source!r}, "probe")
"""
said = error_of_program(program, PATH="", CC=None, TRITON_CACHE_DIR="cache")  # the mistake
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
from triton.runtime.build import compile_module_from_src

print(compile_module_from_src(source, "probe").__name__)
#> probe
# --8<-- [end:right]
