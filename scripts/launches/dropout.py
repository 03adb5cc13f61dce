"""The kernels of snippets/dropout."""

from scripts.launches import X_AND_Y, called

FOLDER = "snippets/dropout"
DRAWN = {**X_AND_Y, "p": 0.5, "seed": 7}
SPECIMENS = [
    called(f"{FOLDER}/one_each.py:one_each_kernel", **DRAWN, n_elements=1000, BLOCK=1024),
    called(f"{FOLDER}/benchmark.py:one_draw_kernel", **DRAWN, n_elements=2**28, BLOCK=1024),
    called(f"{FOLDER}/words.py:words_kernel", ours_ptr="*i32", theirs_ptr="*i32", seed=7, BLOCK=16),
    called(f"{FOLDER}/instructions.py:drawing_kernel", **DRAWN, threshold=16, WAY="the library's", BLOCK=1024),
    called(f"{FOLDER}/same_counters.py:same_counters_kernel", **DRAWN, BLOCK=256),
    called(f"{FOLDER}/drop_rows.py:drop_rows_kernel", **DRAWN, n_columns=300, BLOCK=512),
]
