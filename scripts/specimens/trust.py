"""The kernels of snippets/trust."""

from scripts.specimens import called

SPECIMENS = [called("snippets/trust/planted_store.py:unmasked_store_kernel", out_ptr="*i32", BLOCK=256)]
