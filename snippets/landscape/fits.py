"""Which configurations fit into the shared memory of a smaller GPU: arithmetic alone."""

# --8<-- [start:fits]
sizes = [(64, 64), (64, 128), (128, 64), (128, 128), (64, 256), (256, 64), (128, 256), (256, 128)]
listed = [(m, n, k, stages) for m, n in sizes for k in (32, 64, 128) for stages in (3, 4)]
for limit, spared in ((232448, 0), (101376, 1)):
    fit = [(m, n, k, s) for m, n, k, s in listed if (s - spared) * (m + n) * k * 2 <= limit]
    largest = max(m * n for m, n, k, s in fit)
    deepest = max(k for m, n, k, s in fit if m * n == largest)
    print(f"{len(fit)} of {len(listed)} fit, tiles of {largest} with BLOCK_K to {deepest}")
    #> 39 of 48 fit, tiles of 32768 with BLOCK_K to 64
    #> 32 of 48 fit, tiles of 32768 with BLOCK_K to 64
# --8<-- [end:fits]
