"""The softmax kernel with its barriers taken out: what a race checker has to find before its silence counts."""
# needs: cuda
# sanitizers: racecheck
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
from triton.runtime import driver

from kernels.softmax.softmax import softmax_kernel

x = torch.randn(64, 4096, device="cuda")
y = torch.empty_like(x)
arguments = (x, y, x.stride(0), y.stride(0), x.shape[1])
kernel = softmax_kernel[(64,)](*arguments, BLOCK=4096, num_warps=8)
ptx = kernel.asm["ptx"]
barriers = ptx.count("bar.sync")
with tempfile.TemporaryDirectory() as folder:
    source, binary = Path(folder) / "racy.ptx", Path(folder) / "racy.cubin"
    source.write_text(ptx.replace("bar.sync", "// bar.sync"))
    major, minor = torch.cuda.get_device_capability()
    ptxas = Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"
    arch = f"sm_{major}{minor}" + ("a" if major >= 9 else "")
    subprocess.run([ptxas, f"--gpu-name={arch}", source, "-o", binary], check=True)
    code = binary.read_bytes()
utils, device = driver.active.utils, torch.cuda.current_device()
_, function, *_ = utils.load_binary(kernel.name, code, kernel.metadata.shared, device)
kernel.function = function
kernel[(64, 1, 1)](*arguments, 4096)
torch.cuda.synchronize()
print(f"{barriers} barriers taken out of the compiled kernel, which then ran")
