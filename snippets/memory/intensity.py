"""How many operations does a byte get? Counted by hand for an addition, a softmax and products in tiles."""

# --8<-- [start:intensity]
N = 8192
counted = {"add, float32": (1, 3 * 4), "softmax, bfloat16": (5, 2 * 2)}  # for each number
for tile in (16, 32, 64, 128, 256):
    asked = 2 * (2 * N**3 // tile + N**2)  # loads of a and b, and one store, two bytes each
    counted[f"product, tiles of {tile}"] = (2 * N**3, asked)
counted["product, each matrix once"] = (2 * N**3, 3 * 2 * N**2)
for name, (operations, moved) in counted.items():
    print(f"{name:26}{operations / moved:8.2f} operations a byte")
    #> add, float32                  0.08 operations a byte
    #> softmax, bfloat16             1.25 operations a byte
    #> product, tiles of 16          7.99 operations a byte
    #> product, tiles of 32         15.97 operations a byte
    #> product, tiles of 64         31.88 operations a byte
    #> product, tiles of 128        63.50 operations a byte
    #> product, tiles of 256       126.03 operations a byte
    #> product, each matrix once  2730.67 operations a byte
# --8<-- [end:intensity]
