"""The kernels of snippets/trust."""

from scripts.launches import SHARED_BYTES, X_AND_Y, Specimen, called

SPECIMENS = [
    called("snippets/trust/planted_store.py:unmasked_store_kernel", out_ptr="*i32", BLOCK=256),
    Specimen(
        "snippets/trust/unseen_store.py:described_store_kernel",
        "call",
        64,
        17_000,
        arguments={"out_desc": "tensordesc<fp32[64, 64]>", "BLOCK": 64},
    ),
    *(
        Specimen(
            "snippets/trust/mistakes.py:mistaken_softmax_kernel",
            mistake.replace(" ", "-"),
            64,
            SHARED_BYTES,
            arguments={**X_AND_Y, "n_columns": 1000, "MISTAKE": mistake, "BLOCK": 1024},
        )
        for mistake in ("none", "filler", "no maximum", "forgotten", "tail")
    ),
    Specimen(
        "snippets/trust/tolerance.py:forgetful_softmax_kernel",
        "call",
        176,
        SHARED_BYTES,
        arguments={**X_AND_Y, "n_columns": 8000, "BLOCK": 8192},
    ),
]
