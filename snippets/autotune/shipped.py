"""A table instead of a search: configurations by family of GPU, with one that fits everywhere."""

# --8<-- [start:shipped]
# BLOCK_M, BLOCK_N, BLOCK_K, num_warps, num_stages, the largest tile first.
TILES_OF = {
    (9, 0): [(128, 256, 64, 8, 3), (128, 128, 64, 8, 4), (64, 64, 128, 4, 3)],
    (8, 0): [(128, 128, 32, 4, 4), (64, 64, 64, 4, 4)],
}
SMALL_TILES = [(64, 64, 32, 4, 3)]  # which every GPU has room for


def shipped(capability, processors, m, n):
    """The first tile that gives the GPU enough programs, or the last."""
    for tile in TILES_OF.get(capability, SMALL_TILES):
        programs = -(-m // tile[0]) * -(-n // tile[1])
        if programs >= processors * 3 // 4:
            break
    return tile


print("H200, 4096 by 4096:", shipped((9, 0), 132, 4096, 4096))
#> H200, 4096 by 4096: (128, 256, 64, 8, 3)
print("H200, 1024 by 1024:", shipped((9, 0), 132, 1024, 1024))
#> H200, 1024 by 1024: (64, 64, 128, 4, 3)
print("another GPU:       ", shipped((12, 0), 170, 4096, 4096))
#> another GPU:        (64, 64, 32, 4, 3)
# --8<-- [end:shipped]
