"""Recorded executions of kernels."""
