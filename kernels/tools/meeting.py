"""How kernels of several GPUs wait for each other: flags that each raises at all, and a wait that has a limit."""
# --8<-- [start:imports]
import triton
import triton.language as tl

LIMIT = 10_000_000  # tries, each a round trip to the flag
# --8<-- [end:imports]


# --8<-- [start:of_rank]
@triton.jit
def of_rank(places_ptr, peer, like_ptr):
    """Where a rank's memory begins, from a table of addresses, as a pointer of the same type as another."""
    return tl.multiple_of(tl.load(places_ptr + peer).to(like_ptr.dtype), 16)
# --8<-- [end:of_rank]


# --8<-- [start:meet]
@triton.jit
def turned(flag_ptr, before, after, limit):
    """Turn a flag from `before` to `after` once it is `before`; whether it was, within so many tries."""
    tries = 0
    found = tl.atomic_cas(flag_ptr, before, after, sem="acq_rel", scope="sys")
    while (found != before) & (tries < limit):
        found = tl.atomic_cas(flag_ptr, before, after, sem="acq_rel", scope="sys")
        tries += 1
    return found == before


@triton.jit
def meet(flags_ptr, missing_ptr, rank, limit, WORLD: tl.constexpr):
    """Wait for this program of every rank. What they stored before they came can be loaded afterwards."""
    tl.debug_barrier()  # all threads of this program have stored
    own = tl.program_id(0) * WORLD
    for peer in tl.static_range(WORLD):  # raise my flag at every rank, where I took it down the last time
        flag_ptr = of_rank(flags_ptr, peer, missing_ptr) + own + rank
        if not turned(flag_ptr, 0, 1, limit):
            tl.store(missing_ptr + peer, 1)
    for peer in tl.static_range(WORLD):  # take down what each has raised at mine
        flag_ptr = of_rank(flags_ptr, rank, missing_ptr) + own + peer
        if not turned(flag_ptr, 1, 0, limit):
            tl.store(missing_ptr + peer, 1)
    tl.debug_barrier()  # no thread loads before
# --8<-- [end:meet]
