"""The stand-in beside PyTorch: values, first and second gradients, short floats, random numbers, what is printed."""

import functools
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.runtime import formulas
from tests.runtime.page_python import result

TEXT = Path(formulas.__file__).read_text(encoding="utf-8")
TOLERANCE = {"value": 2e-6, "first": 2e-5, "second": 2e-4, "torch.float16": 2e-3, "torch.bfloat16": 1.6e-2}
# PyTorch rounds at each step of these where the stand-in rounds once.
WIDER = {"log_softmax": 8e-3, "smoothed": 8e-3, "cross_entropy": 8e-3}


@functools.cache
def inputs():
    generator = torch.Generator().manual_seed(5)
    drawn = [torch.randn(5, 6, generator=generator) for _ in range(2)] + [torch.randn(400, generator=generator)]
    return [one.tolist() for one in drawn]


@functools.cache
def of_the_stand_in():
    names = list(formulas.FORMULAS)
    ask = f"\nresult = {{name: computed(name, *{inputs()!r}) for name in {names!r}}}\n"
    return result(TEXT + ask)


@pytest.mark.parametrize("name", formulas.FORMULAS)
def test_values_and_gradients(name):
    ours, theirs = of_the_stand_in()[name], formulas.computed(name, *inputs())
    for part, tolerance in TOLERANCE.items():
        tolerance = max(tolerance, WIDER.get(name, 0)) if part == "torch.float16" else tolerance
        for one, other in zip(ours[part], theirs[part], strict=True):
            # A gradient that is zero throughout may be none at all.
            values = [np.zeros(1) if each is None else np.array(each[1]) for each in (one, other)]
            assert one is None or other is None or one[0] == other[0], part
            np.testing.assert_allclose(*values, rtol=tolerance, atol=tolerance, err_msg=part)


def test_random_numbers_are_pytorch_s():
    for ours, theirs in zip(result(f"{TEXT}\nresult = drawn()\n"), formulas.drawn(), strict=True):
        assert ours[0] == theirs[0]
        np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6, atol=5e-7)


def test_tensors_are_printed_as_pytorch_prints_them():
    ours = result(f"import torch\nresult = [repr(eval(text)) for text in {formulas.PRINTED!r}]\n")
    assert ours == [repr(eval(text)) for text in formulas.PRINTED]


def test_messages_are_pytorch_s():
    texts = [
        "torch.ones(2, 3) @ torch.ones(2, 3)",
        "torch.ones(2).item()",
        "torch.ones(2).sum(3)",
        "torch.tensor([1, 2]).requires_grad_()",
        "torch.ones(2).requires_grad_().numpy()",
        "torch.ones(2).requires_grad_().backward()",
        "torch.ones(1).backward()",
        "torch.ones(4, 4).t().view(16)",
    ]
    ask = f"""
import torch
result = []
for text in {texts!r}:
    try:
        eval(text)
        result.append("")
    except Exception as error:
        result.append(type(error).__name__ + ": " + str(error).splitlines()[0])
"""
    namespace: dict = {}
    exec(ask, namespace)
    assert result(ask) == namespace["result"] and all(namespace["result"])
