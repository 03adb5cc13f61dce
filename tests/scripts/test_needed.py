"""What a part of a program needs of the rest: cases of a few lines, each by what is kept."""

import ast

import pytest

from scripts.provenance.names import names_of
from scripts.provenance.needed import Program


def kept(text: str, switch: bool = True) -> str:
    """The statements that are needed by those with `# shown` at their end, one a line, without their insides."""
    lines = text.splitlines()
    body = ast.parse(text).body
    shown = {node for node in body if lines[node.end_lineno - 1].endswith("# shown")}
    assert shown
    found, _ = Program(body, text).needed(shown, switch)
    return "; ".join(ast.unparse(node).splitlines()[0] for node in body if node in found)


CASES = {
    "what binds a name": ("a = 1\nb = 2\nc = b  # shown\n", "b = 2; c = b"),
    "the last that binds it": ("a = 1\na = 2\nb = a  # shown\na = 3\n", "a = 2; b = a"),
    "all that may bind it": (
        "a = 1\nif p:\n    a = 2\nfor a in q:\n    pass\nb = a  # shown\n",
        "a = 1; if p:; for a in q:; b = a",
    ),
    "both branches": ("a = 1\nif p:\n    a = 2\nelse:\n    a = 3\nb = a  # shown\n", "if p:; b = a"),
    "no loop over the same name": ("for n in p:\n    print(n)\nfor n in q:  # shown\n    print(n)  # shown\n", "for n in q:"),
    "what a function reads when it is called": (
        "def f():\n    return a\na = 1\nb = 2\nc = f()  # shown\n",
        "def f():; a = 1; c = f()",
    ),
    "what a function reads that is bound below": (
        "def f():\n    return g()  # shown\nh = 1\ndef g():\n    return 1\n",
        "def f():; def g():",
    ),
    "no local of a function": ("x = 1\ndef f(x, y=3):\n    z = x\n    return [x for x in z]  # shown\nz = 2\n", "def f(x, y=3):"),
    "a decorator and a default": ("d = 1\ne = 2\n@d\ndef f(x=e):\n    return x  # shown\n", "d = 1; e = 2; @d"),
    "a class": ("a = 1\nb = 2\nclass C:\n    x = a\n    def f(self):\n        return x, b  # shown\n", "a = 1; b = 2; class C:"),
    "a launch into what is read": (
        "out = 0\nother = 0\nkernel[1,](out)\nkernel[1,](other)\nprint(out)  # shown\n",
        "out = 0; kernel[1,](out); print(out)",
    ),
    "a launch that also gives something": (
        "out = 0\nmade = kernel[1,](out)\nprint(out)  # shown\n",
        "out = 0; made = kernel[1,](out); print(out)",
    ),
    "a change in place": ("x = 0\ny = x.add_(1)\nz = x.add(1)\nprint(x)  # shown\n", "x = 0; y = x.add_(1); print(x)"),
    "a part that is set": (
        "x = {}\nx['a'] = 1\nx.b = 2\nx += 1\nprint(x)  # shown\n",
        "x = {}; x['a'] = 1; x.b = 2; x += 1; print(x)",
    ),
    "changes inside of a loop": ("x = []\nfor n in p:\n    x.append(n)\nprint(x)  # shown\n", "x = []; for n in p:; print(x)"),
    "no print and no assert": ("x = 1\nprint(x)\nassert x\ntorch.testing.assert_close(x, 1)\ny = x  # shown\n", "x = 1; y = x"),
    "a print of what changes it": (
        "x = 0\ndef f(x):\n    k[1,](x)\nprint(f(x))\nprint(x)  # shown\n",
        "x = 0; def f(x):; print(f(x)); print(x)",
    ),
    "a seed, an environment and a driver": (
        "import torch, os, driver\ntorch.manual_seed(0)\nos.environ['A'] = 'b'\n"
        "if not p():\n    driver.set_active(1)\nx = 1  # shown\n",
        "import torch, os, driver; torch.manual_seed(0); os.environ['A'] = 'b'; if not p():; x = 1",
    ),
    "the way out": ("import sys\nif p():\n    print('no')\n    sys.exit(2)\nx = 1  # shown\n", "import sys; if p():; x = 1"),
    "the operator that is called by its name": (
        "@triton_op('tiny::plus')\ndef a():\n    pass\n@triton_op('other::plus')\ndef b():\n    pass\n"
        "y = torch.ops.tiny.plus()  # shown\n",
        "@triton_op('tiny::plus'); y = torch.ops.tiny.plus()",
    ),
    "all of a registry, and what a function is told": (
        "tiny = Library('tiny')\ntiny.define('plus')\nplus = torch.ops.tiny.plus\nregister('tiny::plus', lib=tiny)\n"
        "def f():\n    return plus()\nf.told(1)\ng.told(2)\nf()  # shown\n",
        "tiny = Library('tiny'); tiny.define('plus'); plus = torch.ops.tiny.plus; register('tiny::plus', lib=tiny); "
        "def f():; f.told(1); g.told(2); f()",
    ),
    "nothing below": ("x = 1\nprint(x)  # shown\nx.add_(1)\ny = x\n", "x = 1; print(x)"),
}


@pytest.mark.parametrize("text, expected", CASES.values(), ids=CASES)
def test_what_is_needed(text, expected):
    assert kept(text) == expected


SWITCH = "import os\nif not p():\n    os.environ['TRITON_INTERPRET'] = '1'\nx = 1  # shown\n"


@pytest.mark.parametrize("switch, expected", [(True, "import os; if not p():; x = 1"), (False, "x = 1")])
def test_the_interpreter_is_turned_on_where_it_is_asked_for(switch, expected):
    assert kept(SWITCH, switch) == expected


READS = {
    "a = b": "b",
    "a[b].c = d": "a b d",
    "a += 1": "a",
    "a: b = c": "b c",
    "a = [b for b in c if d]": "c d",
    "a = lambda b: b + c": "c",
    "a = f(x, lambda x: x)": "f x",
    "a = {b: c for b, c in d for e in b}": "d",
    "for a in b:\n    c = a\n    d = c": "b",
    "while a:\n    b = a\n    a = b": "a",
    "with a as b:\n    c(b)": "a c",
    "try:\n    a = b\nexcept E as e:\n    print(e)": "E b print",
    "def f(a, *b, c=d, **e) -> g:\n    h = a\n    return h, i": "d g i",
    "def f():\n    global a\n    a = a + 1": "a",
    "def f():\n    def g():\n        return b\n    b = 1\n    return g": "",
    "import a.b": "",
    "del a": "",
}


@pytest.mark.parametrize("text, reads", READS.items(), ids=READS)
def test_what_a_statement_reads(text, reads):
    (node,) = ast.parse(text).body
    assert " ".join(sorted(names_of(node).reads)) == reads
