"""The tiles that ship for attention, by family of GPU, arithmetic, kernel and width of a head. `kernels.attention.plan` chooses.

A head's width is the next power of two to its size. BLOCK_M counts queries and BLOCK_N keys, whichever of the two a program
owns. Tiles come by pointers, or through descriptors that the kernel has `made` or the host has `given`. Tests say that the tiles
compile on each family and fit. Nothing is searched for at run time.
"""

TILE_NAMES = ("BLOCK_M", "BLOCK_N", "num_warps", "num_stages", "LOADS")
SPLIT_NAMES = ("BLOCK_M", "BLOCK_N", "num_warps", "num_stages")

# The widest head of an entry: the first that is wide enough is taken.
Tiles = dict[int, tuple]

POINTERS, MADE, GIVEN = "pointers", "made", "given"

# In exact products of float32 no tensor core takes part.
IEEE: dict[str, Tiles] = {
    "forward": {64: (64, 32, 4, 1, POINTERS), 256: (32, 16, 4, 1, POINTERS)},
    "keys": {64: (16, 32, 4, 1, POINTERS), 256: (16, 16, 4, 1, POINTERS)},
    "queries": {64: (32, 16, 4, 1, POINTERS), 256: (16, 16, 4, 1, POINTERS)},
}
ATTENTION_TILES: dict[str, dict[str, dict[str, Tiles]]] = {
    "sm_80": {
        "half": {
            "forward": {64: (128, 64, 4, 3, POINTERS), 128: (128, 64, 8, 3, POINTERS), 256: (64, 32, 4, 2, POINTERS)},
            "keys": {64: (32, 64, 4, 2, POINTERS), 128: (32, 32, 4, 2, POINTERS), 256: (32, 32, 4, 1, POINTERS)},
            "queries": {64: (64, 64, 4, 2, POINTERS), 128: (64, 32, 4, 2, POINTERS), 256: (32, 32, 4, 1, POINTERS)},
        },
        "ieee": IEEE,
    },
    "sm_90": {
        "half": {
            "forward": {64: (64, 128, 4, 2, GIVEN), 128: (64, 64, 4, 3, GIVEN), 256: (128, 64, 8, 2, GIVEN)},
            "keys": {64: (64, 64, 4, 2, GIVEN), 128: (64, 64, 4, 2, GIVEN), 256: (64, 64, 8, 2, GIVEN)},
            "queries": {64: (64, 64, 4, 3, GIVEN), 128: (128, 64, 8, 3, GIVEN), 256: (128, 64, 8, 1, GIVEN)},
        },
        "ieee": IEEE,
    },
    "sm_100": {
        "half": {
            "forward": {64: (128, 64, 4, 3, MADE), 128: (128, 64, 8, 3, MADE), 256: (128, 64, 8, 2, MADE)},
            "keys": {64: (64, 128, 8, 2, MADE), 128: (64, 128, 8, 1, MADE), 256: (64, 64, 8, 1, MADE)},
            "queries": {64: (128, 64, 8, 2, MADE), 128: (128, 64, 8, 1, MADE), 256: (64, 64, 8, 1, MADE)},
        },
        "ieee": IEEE,
    },
    "default": {
        "half": {
            "forward": {64: (64, 64, 4, 2, POINTERS), 128: (64, 32, 4, 2, POINTERS), 256: (32, 32, 4, 1, POINTERS)},
            "keys": {64: (32, 64, 4, 2, POINTERS), 128: (32, 32, 4, 2, POINTERS), 256: (32, 32, 4, 1, POINTERS)},
            "queries": {64: (64, 32, 4, 2, POINTERS), 128: (32, 32, 4, 2, POINTERS), 256: (32, 32, 4, 1, POINTERS)},
        },
        "ieee": IEEE,
    },
}
# In Gluon, on Hopper GPUs, for heads of exactly these widths: how many groups of 64 queries a program has forward, which take
# turns at the tensor cores, and how many queries a program meets at a time backward.
GLUON_NAMES = ("GROUPS", "BLOCK_N", "STAGES", "TURNS")
GLUON_FORWARD_TILES: dict[int, tuple] = {64: (3, 128, 2, True), 128: (2, 128, 2, True), 256: (2, 64, 2, True)}
GLUON_BACKWARD_NAMES = ("BLOCK_M", "STAGES")
GLUON_BACKWARD_TILES: dict[int, tuple] = {64: (64, 2), 128: (64, 2)}
# Where a few queries share many keys; BLOCK_M is the least that holds them, up to this.
SPLIT_TILES: dict[str, Tiles] = {
    "half": {64: (64, 128, 4, 3), 128: (64, 64, 4, 3), 256: (64, 32, 4, 2)},
    "ieee": {64: (32, 32, 4, 1), 256: (16, 16, 4, 1)},
}
