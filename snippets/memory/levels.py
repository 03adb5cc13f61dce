"""The sizes of this GPU's memories, and what one compiled kernel takes of the two on the chip."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton

from kernels.tools.benchmark import keep
from kernels.softmax.softmax import softmax_kernel

gpu = torch.cuda.get_device_properties(0)
bus = triton.runtime.driver.active.utils.get_device_properties(0)
sizes = {
    "multiprocessors": gpu.multi_processor_count,
    "register_bytes": 4 * gpu.regs_per_multiprocessor,
    "shared_bytes": gpu.shared_memory_per_multiprocessor,
    "shared_bytes_a_program": gpu.shared_memory_per_block_optin,
    "l2_bytes": gpu.L2_cache_size,
    "memory_bytes": gpu.total_memory,
    # Twice a clock (in kilohertz), as many bits cross as the bus is wide.
    "bus_gbps": 2 * bus["mem_clock_rate"] * bus["mem_bus_width"] // 8_000_000,
}
for name, size in sizes.items():
    print(f"{name:24} {size:16,}")

x = torch.randn(4, 8192, device="cuda")
y = torch.empty_like(x)
compiled = softmax_kernel[(4,)](x, y, 8192, 8192, 8192, BLOCK=8192, num_warps=8)
row = {
    "row_threads": 32 * compiled.metadata.num_warps,
    "row_registers_a_thread": compiled.n_regs,
    "row_register_bytes": 4 * compiled.n_regs * 32 * compiled.metadata.num_warps,
    "row_shared_bytes": compiled.metadata.shared,
}
print("A program of softmax with one row of 8192 takes:")
for name, size in row.items():
    print(f"{name:24} {size:16,}")
torch.testing.assert_close(y, torch.softmax(x, dim=-1))
keep(figures=sizes | row)
