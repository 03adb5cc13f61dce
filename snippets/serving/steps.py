"""Count the steps of slots that serve requests of different lengths: whole batches, or the next request at once."""
# --8<-- [start:imports]
import heapq
import random
# --8<-- [end:imports]

from kernels.tools.benchmark import keep


# --8<-- [start:count]
def whole_batches(lengths, slots):
    """Every batch takes as long as its longest request."""
    return sum(max(lengths[first : first + slots]) for first in range(0, len(lengths), slots))


def at_once(lengths, slots):
    """A slot takes the next request as soon as its own is done."""
    done = [0] * slots
    for length in lengths:
        heapq.heappush(done, heapq.heappop(done) + length)
    return max(done)


random.seed(0)
lengths = [1 + int(random.expovariate(1 / 100)) for _ in range(512)]
figures = {"batches": whole_batches(lengths, 16), "at_once": at_once(lengths, 16), "work": sum(lengths)}
for name in ("batches", "at_once"):
    figures[f"{name} busy"] = figures["work"] / (16 * figures[name])
    print(f"{name}: {figures[name]} steps, slots busy {figures[f'{name} busy']:.0%}")
    #> batches: 11129 steps, slots busy 30%
    #> at_once: 3551 steps, slots busy 94%
# --8<-- [end:count]
keep(figures=figures)
