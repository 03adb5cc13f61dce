"""How full the rounds are in which five cards get through the tiles of one product: arithmetic alone."""

# --8<-- [start:rounds]
MULTIPROCESSORS = {"A100": 108, "RTX 4090": 128, "H100": 132, "B200": 148, "RTX 5090": 170}


def full(multiprocessors, block_m, block_n, size=4096):
    """How full the rounds are in which all tiles have their turn, one at a time on each multiprocessor."""
    tiles = (size // block_m) * (size // block_n)
    rounds = -(-tiles // multiprocessors)  # rounded up: the last round is a round, too
    return tiles / (rounds * multiprocessors)


for card, multiprocessors in MULTIPROCESSORS.items():
    large, small = full(multiprocessors, 128, 256), full(multiprocessors, 64, 128)
    print(f"{card:8} tiles of 128 by 256 {large:5.0%}, of 64 by 128 {small:5.0%}")
    #> A100     tiles of 128 by 256   95%, of 64 by 128  100%
    #> RTX 4090 tiles of 128 by 256  100%, of 64 by 128  100%
    #> H100     tiles of 128 by 256   97%, of 64 by 128   97%
    #> B200     tiles of 128 by 256   86%, of 64 by 128   99%
    #> RTX 5090 tiles of 128 by 256   75%, of 64 by 128   93%
# --8<-- [end:rounds]
