"""Is a fused kernel the same formula as the plain one? FPSan, of Triton 3.9, answers by bits where floats can only be near."""
# needs: cuda
import os
import subprocess
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import keep


# --8<-- [start:kernels]
@triton.jit
def plain_suspect_kernel(x_ptr, weight_ptr, out_ptr, N, scale, bias, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + columns, mask=columns < N, other=0.0)
    weight = tl.load(weight_ptr + columns, mask=columns < N, other=0.0)
    tl.store(out_ptr, scale * tl.sum(x * weight, axis=0) + bias)


@triton.jit
def folded_suspect_kernel(x_ptr, weight_ptr, out_ptr, N, end, scale, bias, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + columns, mask=columns < end, other=0.0)
        weight = tl.load(weight_ptr + columns, mask=columns < end, other=0.0)
        total += x * (scale * weight)
    tl.store(out_ptr, tl.sum(total, axis=0) + bias)
# --8<-- [end:kernels]


# --8<-- [start:compare]
def compare():
    x, weight = torch.randn(4000, device="cuda"), torch.randn(4000, device="cuda")
    weight[-1] = 1e-9  # so little that nobody would miss it
    plain, folded, short = torch.empty(3, 1, device="cuda")
    plain_suspect_kernel[(1,)](x, weight, plain, 4000, 0.3, 0.7, BLOCK=4096)
    folded_suspect_kernel[(1,)](x, weight, folded, 4000, 4000, 0.3, 0.7, BLOCK=256)
    folded_suspect_kernel[(1,)](x, weight, short, 4000, 3999, 0.3, 0.7, BLOCK=256)  # the mistake
    for name, out in (("folded", folded), ("folded, without its last column", short)):
        print(f"  {name}: {'the same' if torch.equal(out.view(torch.int32), plain.view(torch.int32)) else 'other'} bits")
        if os.environ.get("TRITON_INSTRUMENTATION_MODE") != "fpsan":  # there a number is only a name
            torch.testing.assert_close(out, plain, rtol=1e-4, atol=1e-4)
# --8<-- [end:compare]


def main():
    if sys.argv[1:] == ["compare"]:
        torch.manual_seed(0)
        compare()
        return
    found = {}
    lent = os.environ.get("BLOCKWISE_TRITON", "")  # a folder with a newer Triton, where the installed one is older
    path = os.pathsep.join(filter(None, [lent, os.environ.get("PYTHONPATH", "")]))
    version = "import triton; print(triton.__version__)"
    for mode in ("", "fpsan"):
        variables = os.environ | {"TRITON_INSTRUMENTATION_MODE": mode, "PYTHONPATH": path}
        for name, words in (("triton", ["-c", version]), ("said", [sys.argv[0], "compare"])):
            done = subprocess.run([sys.executable, *words], env=variables, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            found[name] = done.stdout
        if tuple(int(part) for part in found["triton"].split(".")[:2]) < (3, 9):
            print(f"needs: triton>=3.9 beside cuda; this is {found['triton'].strip()} (BLOCKWISE_TRITON=FOLDER lends one)")
            sys.exit(2)
        print(f"TRITON_INSTRUMENTATION_MODE={mode or '(not set)'}, Triton {found['triton']}{found['said']}", end="")
    keep(figures={"triton": found["triton"].strip()})


if __name__ == "__main__":
    main()
