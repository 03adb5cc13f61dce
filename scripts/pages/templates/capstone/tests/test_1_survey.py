"""Part 1: what is measured is counted in full, and what follows from it."""

import survey


def test_a_copy_reads_and_writes_and_a_product_adds_and_multiplies(monkeypatch):
    monkeypatch.setattr(survey, "seconds", lambda call, device, rounds=20: (call(), 0.5)[1])
    assert survey.reached("cpu", elements=1024, side=32) == (2 * 4 * 1024 / 0.5, 2 * 32**3 / 0.5)


def test_a_kernel_waits_for_the_slower_of_memory_and_arithmetic():
    assert survey.least_seconds(6e9, 1e9, 3e9, 1e12) == 2
    assert survey.least_seconds(6e9, 4e12, 3e9, 1e12) == 4


def test_the_ridge_is_where_both_take_as_long():
    assert survey.ridge(3e9, 1.2e12) == 400
    assert survey.least_seconds(1e9, 400e9, 3e9, 1.2e12) == 1e9 / 3e9 == 400e9 / 1.2e12
