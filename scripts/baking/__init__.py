"""What a bake does, piece by piece."""
