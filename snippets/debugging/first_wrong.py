"""Which is the first wrong one of many steps? Each answer halves what is left of them."""


# --8<-- [start:first_wrong]
def first_wrong(steps, is_right):
    """The first wrong step, where every step before it is right and every step behind it wrong; and what was asked."""
    low, high, asked = 0, len(steps) - 1, []
    assert not is_right(steps[high]), "the last step is right: there is nothing to look for"
    while low < high:
        middle = (low + high) // 2
        right = is_right(steps[middle])
        asked.append(f"{steps[middle]} {'right' if right else 'wrong'}")
        low, high = (middle + 1, high) if right else (low, middle)
    return steps[low], ", ".join(asked)
# --8<-- [end:first_wrong]
