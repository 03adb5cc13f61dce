"""Right kernels, written otherwise than the solutions."""
