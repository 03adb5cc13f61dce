"""Softmax: rows of every length, forward and backward."""

from scripts.launches import SHARED_BYTES, launched

SHORT = {1: 184, 2: 104, 4: 80, 8: 80, 16: 80, 32: 80, 64: 80, 128: 72, 256: 64, 500: 48, 512: 64}
# Lengths that nothing divides, in blocks of every size: each element has an address of its own.
SHORT |= {3: 184, 5: 200, 9: 200, 17: 200, 33: 128, 65: 104, 129: 96, 257: 64}
SHORT_BACKWARD = {1: 88, 2: 72, 4: 56, 8: 56, 16: 48, 32: 48, 64: 48, 128: 56, 250: 64, 256: 64, 512: 64}
SHORT_BACKWARD |= {3: 112, 5: 120, 9: 120, 17: 112, 33: 136, 65: 104, 129: 88}
EVEN = {1: 32, 8: 48, 64: 32, 256: 64, 512: 64, 1024: 40, 2048: 56, 4096: 120}
FULL_BACKWARD = {1: 32, 8: 48, 64: 40, 256: 40, 512: 40, 1024: 48, 2048: 48, 4096: 48}
ODD = {513: 64, 700: 48, 1000: 48, 1025: 64, 2049: 96, 3004: 72, 5001: 96, 9001: 64}
ODD_BACKWARD = {257: 64, 500: 64, 513: 72, 700: 64, 1000: 64, 1025: 80, 2049: 144, 3004: 96, 5001: 64, 6004: 80, 9001: 128}
ODD_BACKWARD |= {12_680: 104, 20_008: 128}
ROW = {1024: 40, 2048: 40, 4001: 96, 4096: 64, 8192: 48, 16384: 40, 32768: 64}
ROW_BACKWARD = {528: 32, 1040: 32, 2064: 32, 4016: 40, 8192: 48, 16384: 40, 32768: 64}
LONG = {16385: 48, 20_008: 48, 32768: 48, 32769: 48, 65536: 48, 65537: 64, 73728: 48, 98304: 64, 100_000: 48, 262144: 64}
# 16,384 elements of float32 on 1,024 threads: Triton 3.6.0 spills one register pair of them for sm_80.
LONG_SPILLS = {65536: 8, 98304: 8, 262144: 8}
LONG_BACKWARD = {8192: 56, 9001: 56, 65536: 64, 65537: 40, 100_000: 56, 131072: 64}
SPLIT = {20_000: 48, 40_000: 48, 65536: 48, 100_000: 48, 131072: 48, 262144: 48, 262145: 104, 2**19: 48, 2**20: 72}
SPLIT_BACKWARD = {40_000: 48, 65536: 48, 100_000: 48, 131072: 48, 262144: 48, 262145: 104, 2**19: 48, 2**20: 96}
# The addresses of rows of three to nine elements are more than fits, and so are two long rows of float32.
SHORT_SPILLS, SHORT_BACKWARD_SPILLS, ODD_BACKWARD_SPILLS = {3: 48}, {3: 48, 5: 48, 9: 48}, {20_008: 128}

SHORT_FILE, ROW_FILE, LONG_FILE = "kernels/softmax/short.py", "kernels/softmax/softmax.py", "kernels/softmax/long.py"
SPLIT_FILE = "kernels/softmax/split.py"
SPECIMENS = [
    *launched(f"{SHORT_FILE}:softmax_short_kernel", "softmax_short", 100_001, SHORT, SHORT_SPILLS),
    *launched(f"{SHORT_FILE}:softmax_short_kernel", "softmax_short", 2**17, EVEN, prefix="full-"),
    *launched(
        f"{SHORT_FILE}:softmax_short_backward_kernel",
        "softmax_short_backward",
        100_001,
        SHORT_BACKWARD,
        SHORT_BACKWARD_SPILLS,
        shared=2 * SHARED_BYTES,
    ),
    *launched(f"{SHORT_FILE}:softmax_short_backward_kernel", "softmax_short_backward", 2**17, FULL_BACKWARD, prefix="full-"),
    *launched(f"{SHORT_FILE}:softmax_short_kernel", "softmax_short", 4096, ODD, prefix="odd-"),
    *launched(
        f"{SHORT_FILE}:softmax_short_backward_kernel", "softmax_short_backward", 4096, ODD_BACKWARD, ODD_BACKWARD_SPILLS, "odd-"
    ),
    *launched(f"{ROW_FILE}:softmax_kernel", "softmax_row", 4096, ROW),
    *launched(f"{ROW_FILE}:softmax_backward_kernel", "softmax_row_backward", 4096, ROW_BACKWARD),
    *launched(f"{LONG_FILE}:softmax_long_kernel", "softmax_long", 512, LONG, LONG_SPILLS),
    *launched(f"{LONG_FILE}:softmax_long_backward_kernel", "softmax_long_backward", 512, LONG_BACKWARD),
    *launched(f"{SPLIT_FILE}:softmax_parts_kernel", "softmax_split", 32, SPLIT),
    *launched(f"{SPLIT_FILE}:softmax_split_kernel", "softmax_split", 32, SPLIT),
    *launched(f"{SPLIT_FILE}:softmax_parts_backward_kernel", "softmax_split_backward", 32, SPLIT_BACKWARD),
    *launched(f"{SPLIT_FILE}:softmax_split_backward_kernel", "softmax_split_backward", 32, SPLIT_BACKWARD),
]
