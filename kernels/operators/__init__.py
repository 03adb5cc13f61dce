"""The functions as operators, which a graph of `torch.compile` or `torch.export` records."""
