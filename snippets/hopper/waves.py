"""How full the last wave is: the share of multiprocessors that have a tile to work on, for each tile and size."""
# --8<-- [start:waves]
PROCESSORS = 132
TILES = (128, 256), (128, 192), (128, 128)


def busy(side, tile):
    """The share of multiprocessors at work over all waves of a square product."""
    rows, columns = (-(-side // length) for length in tile)
    waves = -(-rows * columns // PROCESSORS)
    inside = side * side / (rows * columns * tile[0] * tile[1])  # a ragged tile works for nothing
    return rows * columns / (waves * PROCESSORS) * inside


for side in (2048, 3072, 4096, 5120, 6144):
    print(side, " ".join(f"{busy(side, tile):.2f}" for tile in TILES))
    #> 2048 0.97 0.65 0.97
    #> 3072 0.73 0.97 0.87
    #> 4096 0.97 0.86 0.97
    #> 5120 0.87 0.90 0.93
    #> 6144 0.97 0.97 0.97
# --8<-- [end:waves]
