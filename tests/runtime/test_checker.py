"""The labs' checker gives the same verdicts in the page: right kernels pass, wrong ones are rejected for their reason."""

import re

from tests.runtime.page_python import ROOT, ask

# On the stand-in the cause of these is put in other words, or in none: the kernel is rejected all the same.
IN_OTHER_WORDS = {
    "dtype_of_pytorch": "the stand-in says in its own words which names it lacks",
    "launched_without_a_grid": "PyTorch's driver says so, which is not here",
    "pointer_assigned": "the stand-in's error for it is another",
    "sigmoid_of_pytorch": "the stand-in's error for it is another",
}
TEXT = """
import sys
import kernels
root = {root!r}
sys.path.append(root)
from kernels.labs import check
from tests.labs import right, right_puzzles, wrong_elementwise, wrong_habits, wrong_matmul, wrong_softmax, wrong_tiles
from tests.labs.submissions import RIGHT, WRONG
chosen = {chosen}
result = {{"right": {{name: check(*RIGHT[name]).message for name in list(RIGHT)[chosen]}}}}
result["wrong"] = {{name: [check(*WRONG[name][:2]).message, WRONG[name][2]] for name in list(WRONG)[chosen]}}
"""


def verdicts(chosen):
    (answer,) = ask(("text", {"source": TEXT.format(root=str(ROOT), chosen=chosen)}))
    return answer["done"]


def faults(found):
    told = [f"{name}: {message}" for name, message in found["right"].items() if not message.startswith("✓")]
    for name, (message, says) in found["wrong"].items():
        if not message.startswith("✗") or (name not in IN_OTHER_WORDS and not re.search(says, message)):
            told.append(f"{name}: expected {says}, got {message}")
    return told


def test_some_kernels_get_the_verdict_that_they_deserve():
    assert faults(verdicts("slice(None, None, 6)")) == []


def test_every_kernel_gets_the_verdict_that_it_deserves():
    assert faults(verdicts("slice(None)")) == []
