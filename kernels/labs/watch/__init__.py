"""Watching a kernel under the interpreter: memory, accesses, races."""
