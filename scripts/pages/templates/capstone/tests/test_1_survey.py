"""Part 1: what is measured is counted in full, and what follows from it."""

import survey


def test_a_copy_reads_and_writes_and_a_product_adds_and_multiplies(monkeypatch):
    monkeypatch.setattr(survey, "seconds", lambda call, device, rounds=20: (call(), 0.5)[1])
    found, right = survey.reached("cpu", elements=1024, side=32), (2 * 4 * 1024 / 0.5, 2 * 32**3 / 0.5)
    took = "a copy of 4096 bytes and a product of side 32 take half a second each"
    assert found == right, f"{took}: bytes and operations a second are {right}, and not {found}"


def test_a_kernel_waits_for_the_slower_of_memory_and_arithmetic():
    for flops, right in ((1e9, 2), (4e12, 4)):
        found = survey.least_seconds(6e9, flops, 3e9, 1e12)
        alone = f"the bytes alone take 2 s, and the operations alone {flops / 1e12} s"
        assert found == right, f"{alone}: both at the same time take at least {right} s, and not {found} s"


def test_the_ridge_is_where_both_take_as_long():
    found = survey.ridge(3e9, 1.2e12)
    assert found == 400, f"at 3e9 bytes and 1.2e12 operations a second the ridge is 400 operations a byte, and not {found}"
    found, right = survey.least_seconds(1e9, 400e9, 3e9, 1.2e12), 1e9 / 3e9
    assert found == right == 400e9 / 1.2e12, f"at the ridge both take {right} s, and so does the kernel, and not {found} s"
