"""What num_warps and num_stages cost, by arithmetic alone: sums in registers, tiles in shared memory, programs for the GPU."""

# --8<-- [start:budget]
REGISTERS = 255  # that a thread can have, of four bytes
SHARED = 232_448  # bytes of shared memory that a program can have on an H200


def budget(block_m, block_n, block_k, num_warps, num_stages):
    """How many sums a thread keeps, and how many bytes of 16-bit tiles wait in shared memory."""
    sums = block_m * block_n // (32 * num_warps)
    waiting = num_stages * (block_m + block_n) * block_k * 2
    return sums, waiting


for tile in [(128, 128, 64, 8, 3), (128, 256, 64, 8, 3), (128, 256, 64, 4, 3), (256, 128, 128, 8, 3)]:
    sums, waiting = budget(*tile)
    verdict = "spills" if sums > REGISTERS else "does not start" if waiting > SHARED else "fits"
    print(f"{tile}: {sums:3} sums, {waiting:7,} bytes, {verdict}")
    #> (128, 128, 64, 8, 3):  64 sums,  98,304 bytes, fits
    #> (128, 256, 64, 8, 3): 128 sums, 147,456 bytes, fits
    #> (128, 256, 64, 4, 3): 256 sums, 147,456 bytes, spills
    #> (256, 128, 128, 8, 3): 128 sums, 294,912 bytes, does not start
# --8<-- [end:budget]

# --8<-- [start:programs]
def programs(m, n, block_m, block_n):
    return -(-m // block_m) * -(-n // block_n)  # rounded up, like the grid


for m, n in [(4096, 4096), (1024, 1024), (512, 512)]:
    print(f"{m} x {n}: {programs(m, n, 128, 256)} large tiles or {programs(m, n, 64, 64)} small ones")
    #> 4096 x 4096: 512 large tiles or 4096 small ones
    #> 1024 x 1024: 32 large tiles or 256 small ones
    #> 512 x 512: 8 large tiles or 64 small ones
# --8<-- [end:programs]
