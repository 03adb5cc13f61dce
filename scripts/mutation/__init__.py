"""Changing kernels to ask whether the tests notice."""
