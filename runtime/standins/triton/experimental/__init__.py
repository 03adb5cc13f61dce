"""A stand-in for triton.experimental: programs may import Gluon, which only the compiler knows."""
