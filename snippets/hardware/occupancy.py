"""How many programs fit on a multiprocessor? Compile a kernel for an H200 and divide. No GPU is needed."""
import re

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

from kernels.hardware import programs_that_fit
from kernels.softmax import softmax_kernel
