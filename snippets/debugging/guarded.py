"""A tensor that ends where a page begins which nobody may touch: the interpreter dies at the line that reads past it."""
import os

import torch

os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
print("Triton's interpreter runs the kernel on the CPU, whether there is a GPU or not.")

from snippets.debugging.lookup import lookup

# --8<-- [start:guarded]
import ctypes
import faulthandler
import linecache
import mmap
import os
import re
import tempfile

import torch


def guarded(x):
    """A copy of a tensor on the CPU, up against a page that is forbidden."""
    size = x.numel() * x.element_size()
    end = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, end + mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address + end), mmap.PAGESIZE, 0) == 0
    return torch.frombuffer(memory, dtype=x.dtype, count=x.numel(), offset=end - size).view(x.shape).copy_(x)


def line_of_fault(launch):
    """Run a launch in a copy of this process; where that dies, the line of the kernel that it died at."""
    with tempfile.TemporaryFile("w+") as report:
        if (child := os.fork()) == 0:
            faulthandler.enable(report)
            torch.set_num_threads(1)  # a copy of a process has none of its threads
            launch()
            os._exit(0)
        os.waitpid(child, 0)
        report.seek(0)
        found = re.search(r'File "(.*)", line (\d+) in \w+_kernel', report.read())
    return linecache.getline(found[1], int(found[2])).strip() if found else "no fault"
# --8<-- [end:guarded]


# --8<-- [start:found]
table = torch.rand(1000, 64)
ids = torch.tensor([3, 999, 1000, 5])  # rows are counted from 0, so there is no row 1000
print("as it is:", line_of_fault(lambda: lookup(table, ids)))
#> as it is: no fault
print("guarded:", line_of_fault(lambda: lookup(guarded(table), ids)))
#> guarded: x = tl.load(table_ptr + row * n_columns + columns, mask=mask)
# --8<-- [end:found]
