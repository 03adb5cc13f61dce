"""What a decode step has to read, and what its arithmetic comes to beside it."""

# --8<-- [start:bytes]
layers, heads, k_heads, D, length = 32, 32, 8, 128, 32768
bytes_of_cache = 2 * k_heads * length * D * 2  # keys and values, 2 bytes each
flops = 4 * heads * length * D  # a product with the keys, one with the values
print(f"a layer reads {bytes_of_cache / 2**20:.0f} MiB, all of them {layers * bytes_of_cache / 2**30:.0f} GiB")
#> a layer reads 128 MiB, all of them 4 GiB
print(f"operations for each byte: {flops / bytes_of_cache:.0f}")
#> operations for each byte: 4

prompt = 4 * heads * length * length * D / 2  # the same length at once, causal
moved = 2 * (heads + k_heads) * length * D * 2
print(f"of a whole prompt: {prompt / moved:.0f}")
#> of a whole prompt: 13107
# --8<-- [end:bytes]
