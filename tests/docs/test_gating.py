"""The only skips anywhere are for hardware, and each is listed in tests/skips.txt."""

import pytest

from tests.docs import skip_rules
from tests.docs.pages import ROOT


def test_skips_are_for_hardware_and_listed():
    assert skip_rules.problems(ROOT) == []


def test_nothing_skips_by_other_means():
    assert skip_rules.stray_skips(ROOT) == []


def test_the_helpers_give_hardware_as_the_reason():
    assert skip_rules.helper_problems(ROOT) == []


NEEDS = """import pytest

def needs(what):
    return pytest.mark.skipif(True, reason=f"needs: {what}")

def need_free_memory(gigabytes):
    pytest.skip(f"needs: cuda with {gigabytes} GB free")
"""
TEST = """from tests.needs import need_free_memory, needs

@needs("cuda")
def test_large():
    need_free_memory(60)
"""


@pytest.fixture
def tree(tmp_path):
    def write(test: str = TEST, listed: str = "tests/test_a.py::test_large  needs: cuda\n", helpers: str = NEEDS):
        (tmp_path / "tests").mkdir()
        (tmp_path / "tests" / "needs.py").write_text(helpers, encoding="utf-8")
        (tmp_path / "tests" / "test_a.py").write_text(test, encoding="utf-8")
        (tmp_path / "tests" / "skips.txt").write_text(listed, encoding="utf-8")
        return tmp_path

    return write


def test_a_listed_skip_passes(tree):
    root = tree()
    assert skip_rules.problems(root) + skip_rules.stray_skips(root) + skip_rules.helper_problems(root) == []


@pytest.mark.parametrize(
    "test, expected",
    [
        ('pytestmark = needs("sm_90")\n', ["tests/test_a.py  needs: sm_90"]),
        ('class TestA:\n    @needs("cuda")\n    def test_x(self): ...\n', ["tests/test_a.py::TestA  needs: cuda"]),
        (
            '@pytest.mark.parametrize("x", [pytest.param(1, marks=needs("cuda"))])\ndef test_x(x): ...\n',
            ["tests/test_a.py::test_x  needs: cuda"],
        ),
        ("def test_x():\n    need_free_memory(1)\n", ["tests/test_a.py::test_x  needs: cuda"]),
    ],
)
def test_skips_are_found_wherever_they_stand(tree, test, expected):
    assert skip_rules.skips(tree(test)) == expected


@pytest.mark.parametrize(
    "changed",
    [
        {"listed": ""},
        {"listed": "tests/test_a.py::test_large  needs: cuda\ntests/test_a.py::test_gone  needs: cuda\n"},
        {"test": TEST.replace('"cuda"', '"browser"'), "listed": "tests/test_a.py::test_large  needs: browser\n"},
    ],
)
def test_a_wrong_list_is_reported(tree, changed):
    assert skip_rules.problems(tree(**changed))


@pytest.mark.parametrize(
    "test",
    [
        "import pytest\n@pytest.mark.skip(reason='flaky')\ndef test_x(): ...\n",
        "import pytest\n@pytest.mark.skipif(True, reason='needs: cuda')\ndef test_x(): ...\n",
        "import pytest\n@pytest.mark.xfail\ndef test_x(): ...\n",
        "import pytest\ntorch = pytest.importorskip('torch')\n",
        "import pytest\ndef test_x():\n    pytest.skip('no browser')\n",
        "from pytest import mark\n@mark.skip\ndef test_x(): ...\n",
        "import unittest\n@unittest.skip('x')\ndef test_x(): ...\n",
        "collect_ignore = ['test_b.py']\n",
    ],
)
def test_a_skip_by_other_means_is_reported(tree, test):
    assert skip_rules.stray_skips(tree(test))


def test_a_helper_with_another_reason_is_reported(tree):
    assert skip_rules.helper_problems(tree(helpers=NEEDS.replace("needs: cuda with", "wants")))
