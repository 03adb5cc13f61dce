"""What the capstone's Triton kernels share: the search for a configuration, on the GPU that a kernel meets."""
import torch
import triton

# --8<-- [start:tuned]
WARPS = (1, 2, 4, 8, 16)


def tuned(kernel, key, blocks=(None,)):
    """The kernel with the fastest number of warps, and block, for each value of the key."""
    configs = []
    for block in blocks:
        given = {"BLOCK": block} if block else {}
        configs += [triton.Config(given, num_warps=warps) for warps in WARPS]
    if not torch.cuda.is_available():
        configs = configs[:1]  # the interpreter has no GPU whose time it could take
    return triton.autotune(configs, key=key)(kernel)
# --8<-- [end:tuned]


def programs_of(device):
    """How many programs share the rows where each adds up gradients of its own."""
    return 4 * torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 8
