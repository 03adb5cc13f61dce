"""A kernel that looks rows of a table up, and trusts the numbers of the rows that it is given."""
# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:lookup]
@triton.jit
def lookup_suspect_kernel(table_ptr, ids_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    row = tl.load(ids_ptr + tl.program_id(0))
    x = tl.load(table_ptr + row * n_columns + columns, mask=mask)
    tl.store(y_ptr + tl.program_id(0) * n_columns + columns, x, mask=mask)


def lookup(table, ids):
    y = torch.empty(len(ids), table.shape[1], device=table.device)
    block = triton.next_power_of_2(table.shape[1])
    lookup_suspect_kernel[(len(ids),)](table, ids, y, table.shape[1], BLOCK=block)
    return y
# --8<-- [end:lookup]
