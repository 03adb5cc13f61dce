"""Which warp, lane and register hold which element, and where shared memory keeps it: read from the compiler's text (TTGIR).

named = parse(ttgir)                    {"#blocked": Distributed, "#shared": Shared, ...}
named["#mma"].owners((128, 128))        for each element, row by row: Owner(register, lane, warp)
named["#mma"].places((128, 128))        {Owner: element}, copies included
named["#shared"].offsets((128, 64))     for each element, row by row: its place in shared memory, in elements
accesses(ttgir)                         every load, store and copy: its shape, type and layouts, and its line
passes(named["#blocked"], named["#shared"], (128, 64), 16)     what bank conflicts make of a warp's access
"""

from scripts.layouts.addresses import addresses
from scripts.layouts.banks import passes
from scripts.layouts.bits import LayoutError, Owner
from scripts.layouts.distributed import Distributed
from scripts.layouts.shared import Shared
from scripts.layouts.text import Access, accesses, layout_of, parse

__all__ = ["Access", "Distributed", "LayoutError", "Owner", "Shared", "accesses", "addresses", "layout_of", "parse", "passes"]
