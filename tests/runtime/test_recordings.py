"""The site's recorder on the stand-ins makes the recordings that it makes on PyTorch and Triton."""

import json
import re

import pytest

from scripts.provenance import records, sources
from tests import turns
from tests.runtime.page_python import ROOT, ask

KEPT = ("kernel", "source", "arguments", "grid", "tensors", "programs")
# NumPy rounds a cosine or an exponential otherwise than PyTorch, which shows in the fourth digit of some numbers.
LAST_DIGITS = {"rope/turn", "attention_backward/keys", "attention_backward/queries", "attention_backward/causal_keys"}
LAST_DIGITS |= {"attention_backward/causal_queries"}
DIGITS = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
NAMES = sources.recorded_runs()
FEW = NAMES[::8]
RECORDER = turns.files("runtime/*.*", "runtime/standins/**/*.py", "scripts/recording/**/*.py")
# The run of a case, in the checkout's own library and programs; the page has neither.
TEXT = """
import importlib, sys
import kernels, scripts, scripts.recording
root, name = {root!r}, {name!r}
sys.path.append(root)
for package in (kernels, scripts, scripts.recording):
    package.__path__.append(root + "/" + package.__name__.replace(".", "/"))
from scripts.recording.recorder import record
chapter, run = name.split("/")
result = record(**importlib.import_module("scripts.recording.cases." + chapter).RUNS[run]())
"""


def recorded(name):
    (answer,) = ask(("text", {"source": TEXT.format(root=str(ROOT), name=name)}))
    return answer["done"]


@pytest.mark.parametrize("name", turns.part(NAMES, 3, *RECORDER))
def test_a_recording_is_equal(name):
    assert same(recorded(name), name)


@pytest.mark.parametrize("name", FEW)
def test_some_recordings_are_equal(name):
    assert same(recorded(name), name)


def same(made, name):
    committed = records.read(records.record_path("cpu", "trace", name))
    ours, theirs = (json.dumps({part: trace[part] for part in KEPT}) for trace in (made, committed))
    if name not in LAST_DIGITS:
        return ours == theirs
    pairs = zip(*(map(float, DIGITS.findall(text)) for text in (ours, theirs)), strict=True)
    return all(abs(a - b) <= 2e-3 * abs(b) for a, b in pairs) and DIGITS.sub("", ours) == DIGITS.sub("", theirs)
