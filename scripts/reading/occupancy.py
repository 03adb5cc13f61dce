"""How many programs a multiprocessor holds at once, from what one takes. The standard library alone."""

from typing import NamedTuple

REGISTERS, WARPS, PROGRAMS, TENSOR_COLUMNS = 65536, 64, 32, 512
SHARED = {"sm_80": 164 << 10, "sm_90": 228 << 10, "sm_100": 228 << 10}
RESERVED = 1 << 10  # of shared memory, for each program


class Occupancy(NamedTuple):
    programs: int
    resident_warps: int
    limit: str


def occupancy(target: str, warps: int, registers: int, shared: int, tensor_columns: int = 0) -> Occupancy:
    """Programs and warps at once on one multiprocessor, and what keeps more of them away."""
    a_warp = -(-registers * 32 // 256) * 256
    most = {
        "registers": REGISTERS // a_warp // 4 * 4 // warps,
        "shared memory": SHARED[target] // (-(-(shared + RESERVED) // 128) * 128),
        "warps": WARPS // warps,
        "programs": PROGRAMS,
    }
    if tensor_columns:
        most["tensor memory"] = TENSOR_COLUMNS // tensor_columns
    programs = min(most.values())
    # Where all warps are there, nothing limits; of several limits the first named one is told.
    limit = "nothing" if programs * warps == WARPS else next(name for name, count in most.items() if count == programs)
    return Occupancy(programs, programs * warps, limit)
