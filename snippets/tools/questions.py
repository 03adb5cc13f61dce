"""What the questions of the lesson ask, worked out: each line is the answer to one."""

least, compiled = 90, 100  # units of time: what the bytes need at a copy's rate, and what the compiled chain takes
print(f"limit: {compiled / least:.2f}")

step, part = 100, 5
print(f"step: {step / (step - part + part / 2):.2f}")


def chain(launches, passes, launch, walk):
    """The time of some kernels that wait for memory, or for being launched."""
    return max(launches * launch, passes * walk)


small = {"launch": 5, "walk": 0.1}
print(f"small: {chain(5, 8, **small) / chain(1, 2, **small):.1f}")
