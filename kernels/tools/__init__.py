"""Beside the kernels: the benchmark harness, the survey of a GPU, compiling without launching."""
