"""What the capstone's Triton kernels share: the search for a configuration, on the GPU that a kernel meets."""
import torch
import triton

WARPS = (1, 2, 4, 8, 16)


# --8<-- [start:tuned]
def tuned(kernel, key, blocks=(None,)):
    """The kernel with its warps, and its block where some are named, chosen by time for each new value of the key."""
    configs = [
        triton.Config({"BLOCK": block} if block else {}, num_warps=warps) for block in blocks for warps in WARPS
    ]
    if not torch.cuda.is_available():
        configs = configs[:1]  # the interpreter has no GPU whose time it could take
    return triton.autotune(configs, key=key)(kernel)
# --8<-- [end:tuned]


def programs_of(device):
    """How many programs share the rows where each adds up gradients of its own."""
    return 4 * torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 8
