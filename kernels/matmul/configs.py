"""The tiles that ship for matrix products, by family of GPU and by kernel. `kernels.matmul.plan` chooses among them.

Those of `sm_90` were found by measurement on an H200. Those of other families were not measured on their GPUs: tests say that
they compile there and fit. A GPU that no family names gets the small tiles of `default`. Nothing is searched for at run time.
"""

NAMES = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages")
HOPPER_NAMES = (*NAMES, "DESCRIPTOR_STORE")
NARROW_NAMES = ("WIDE", "NARROW", "BLOCK_K", "num_warps", "num_stages")

# Tiles by family and arithmetic, the largest first. The first that gives the GPU enough programs is taken, or the last.
TILES: dict[str, dict[str, list[tuple[int, ...]]]] = {
    "sm_80": {
        "half": [(128, 256, 32, 8, 8, 3), (128, 128, 32, 8, 4, 4), (64, 64, 64, 8, 4, 4)],
        "tf32": [(128, 128, 32, 8, 8, 3), (64, 64, 32, 8, 4, 4)],
        "ieee": [(128, 128, 16, 8, 8, 3), (64, 64, 16, 8, 4, 3)],
    },
    "sm_90": {
        "half": [(128, 256, 64, 8, 8, 3), (128, 128, 64, 8, 8, 4), (64, 128, 64, 8, 4, 4), (64, 64, 128, 8, 4, 3)],
        "tf32": [(128, 128, 32, 8, 8, 4), (64, 64, 32, 8, 4, 3)],
        "ieee": [(128, 128, 16, 8, 8, 3), (64, 64, 16, 8, 4, 3)],
        "fp8": [(128, 128, 128, 8, 8, 4), (64, 64, 128, 8, 4, 4)],
    },
    "sm_100": {
        "half": [(128, 256, 64, 8, 8, 3), (128, 128, 64, 8, 8, 4), (64, 128, 64, 8, 4, 4), (64, 64, 128, 8, 4, 3)],
        "tf32": [(128, 128, 32, 8, 8, 4), (64, 64, 32, 8, 4, 3)],
        "ieee": [(128, 128, 16, 8, 8, 3), (64, 64, 16, 8, 4, 3)],
        "fp8": [(128, 128, 128, 8, 8, 4), (64, 64, 128, 8, 4, 4)],
    },
    "default": {
        "half": [(64, 128, 32, 8, 4, 3), (64, 64, 32, 8, 4, 3)],
        "tf32": [(64, 64, 32, 8, 4, 3)],
        "ieee": [(64, 64, 16, 8, 4, 3)],
        "fp8": [(64, 128, 64, 8, 4, 3), (64, 64, 64, 8, 4, 3)],
    },
}

# The same for the Hopper kernel, with whether a descriptor stores. No warps specialize: on an H200 with Triton 3.6.0, results
# were wrong wherever they did and a tile was stored by pointers, and no faster where they were right.
HOPPER_TILES: dict[str, list[tuple]] = {
    "half": [
        (128, 256, 64, 8, 8, 3, True),
        (128, 128, 64, 8, 8, 4, True),
    ],
    "fp8": [(128, 256, 128, 8, 8, 3, True), (128, 128, 128, 8, 8, 4, True), (64, 128, 256, 8, 4, 3, False)],
}
# The tile of the kernel in Gluon, without whether a descriptor stores: one does wherever it can.
GLUON_TILE = (192, 128, 64, 8, 4, 5)
# Tiles of products with one narrow matrix, by its columns: the widest that takes no more, 16-bit and then 8-bit floats.
NARROW_TILES: dict[str, dict[int, tuple[int, ...]]] = {
    "half": {16: (64, 16, 256, 4, 4), 32: (64, 32, 128, 4, 6), 64: (64, 64, 128, 4, 6)},
    "fp8": {16: (64, 16, 256, 4, 6), 32: (64, 32, 256, 4, 6), 64: (64, 64, 256, 4, 6), 128: (64, 128, 128, 4, 8)},
}
# Tiles of 16-bit floats for products that are done in one wave, of which every program has one: the first that gives no more
# programs than there are multiprocessors. The second list is for matrices of at most 128 columns.
ONE_WAVE_TILES = [(64, 64, 128, 4, 6), (64, 128, 128, 4, 4), (128, 128, 64, 8, 6)]
ONE_NARROW_WAVE_TILES = [(64, 64, 128, 4, 6), (128, 64, 64, 4, 8), (128, 128, 64, 8, 6), (256, 128, 64, 8, 4)]
# Tiles of long sums that several programs share: of 16 tiles and more, of fewer, and of matrices of at most 128 columns.
SHARED_TILES = {
    "half": ((128, 128, 64, 4, 6), (64, 128, 128, 4, 4), (128, 64, 128, 4, 4)),
    "fp8": ((128, 128, 128, 4, 6), (64, 128, 256, 4, 4)),
}
