"""The capstone's hardware survey: what this GPU says of itself, what it reaches, and what follows for a kernel."""
# needs: cuda
import sys

# --8<-- [start:imports]
import time

import torch
# --8<-- [end:imports]


def said(device):
    """What the driver says of the GPU."""
    found = torch.cuda.get_device_properties(device)
    return {
        "name": found.name,
        "compute capability": f"{found.major}.{found.minor}",
        "multiprocessors": found.multi_processor_count,
        "memory, GB": round(found.total_memory / 1e9, 1),
        "L2 cache, MB": round(found.L2_cache_size / 1e6, 1),
        "registers of a multiprocessor": found.regs_per_multiprocessor,
        "threads of a multiprocessor": found.max_threads_per_multi_processor,
    }


# --8<-- [start:reached]
def seconds(call, device, rounds=20):
    """The middle time of several calls."""
    times = []
    for _ in range(rounds + 3):  # the first ones warm up
        if device == "cuda":
            torch.cuda.synchronize()
        began = time.perf_counter()
        call()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return sorted(times[3:])[rounds // 2]


def reached(device, elements=2**28, side=8192):
    """Bytes a second of a large copy, and operations a second of a large product in bfloat16."""
    x = torch.randn(elements, device=device)
    y = torch.empty_like(x)
    a, b = torch.randn(2, side, side, device=device).bfloat16()
    # [write] time y.copy_(x) and a @ b with seconds(); a copy reads and writes, and a product adds and multiplies side**3 times
    bytes_a_second = 2 * x.nbytes / seconds(lambda: y.copy_(x), device)
    flops_a_second = 2 * side**3 / seconds(lambda: a @ b, device)
    # [/write]
    return bytes_a_second, flops_a_second
# --8<-- [end:reached]


# --8<-- [start:follows]
def ridge(bytes_a_second, flops_a_second):
    """Operations a byte above which a kernel waits for arithmetic, not memory."""
    # [write] operations a second divided by bytes a second
    return flops_a_second / bytes_a_second
    # [/write]


def least_seconds(moved, flops, bytes_a_second, flops_a_second):
    """The least time of a kernel that moves so many bytes and does so many operations."""
    # [write] memory and arithmetic work at the same time, so it is the longer of both
    return max(moved / bytes_a_second, flops / flops_a_second)
    # [/write]
# --8<-- [end:follows]


def main():
    if not torch.cuda.is_available():
        print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
        return 2
    for what, value in said("cuda").items():
        print(f"{what}: {value}")
    rates = reached("cuda")
    print(f"copy: {rates[0] / 1e9:.0f} GB/s, product: {rates[1] / 1e12:.0f} TFLOP/s")
    print(f"memory is what a kernel waits for below {ridge(*rates):.0f} operations a byte")
    n = 2**26
    for name, moved, flops in (("add", 12 * n, n), ("softmax", 4 * n, 5 * n), ("product of 8192", 6 * n, 2 * 8192**3)):
        print(f"{name}: {least_seconds(moved, flops, *rates) * 1e6:.1f} us at least")
    return 0


if __name__ == "__main__":
    sys.exit(main())
