"""What the kernels of attention share: which rows are a program's, which tiles meet them, and how a tile is loaded.

Key j is open to query i where low <= j - i <= high. Both limits come from the window, the causal mask and the corner that the
diagonal starts in. Of the tiles that meet a program's rows, only those at the edges of this band need a mask. Addition does not
mind the order, so they are walked over last, in a loop of their own, and the others in one without a mask.

Documents in one row are found without asking the host how long they are. Document d's tiles are counted from
starts[d] // BLOCK + d on, which leaves each at least as many as it has. What follows the last document counts as one more.
"""

import triton
import triton.language as tl


# --8<-- [start:document]
@triton.jit
def attention_document(tile, starts_ptr, n_documents, BLOCK: tl.constexpr):
    """The document that a tile lies in, and which of its tiles it is."""
    low, high = tile * 0, tile * 0 + n_documents
    while low < high:
        middle = (low + high + 1) // 2
        before = tl.load(starts_ptr + middle).to(tl.int64) // BLOCK + middle <= tile
        low = tl.where(before, middle, low)
        high = tl.where(before, high, middle - 1)
    first = tl.where(low > 0, tl.load(starts_ptr + low).to(tl.int64) // BLOCK + low, 0)
    return low, tile - first


@triton.jit
def attention_span(starts_ptr, document, n_documents, total):
    """Where a document starts and ends, within `total` rows whatever the tensor says."""
    start = tl.load(starts_ptr + document).to(tl.int64)
    end = tl.load(starts_ptr + tl.minimum(document + 1, n_documents)).to(tl.int64)
    start = tl.minimum(tl.maximum(start, 0), total)
    return start, tl.minimum(tl.maximum(end, start), total)


@triton.jit
def attention_place(
    pid, starts_ptr, other_starts_ptr, n_documents, length, other_length, BLOCK: tl.constexpr, REVERSED: tl.constexpr
):
    """Which batch and head a program has, its first row, and where its sequence and that which it meets start and end.

    A program whose rows are all past the end meets nothing, and all that it stores is masked out.
    """
    n_tiles = tl.cdiv(length, BLOCK)
    if starts_ptr is not None:
        n_tiles = length // BLOCK + n_documents + 1
    outer = pid // n_tiles
    tile = pid - outer * n_tiles
    if REVERSED:  # so that those with most to do begin first
        tile = n_tiles - 1 - tile
    start, end, other_start, other_end = tile * 0, tile * 0 + length, tile * 0, tile * 0 + other_length
    if starts_ptr is not None:
        document, tile = attention_document(tile, starts_ptr, n_documents, BLOCK)
        start, end = attention_span(starts_ptr, document, n_documents, length)
        end = tl.where(document == n_documents, length, end)
        other_start, other_end = attention_span(other_starts_ptr, document, n_documents, other_length)
    length = (end - start).to(tl.int32)
    first = tl.minimum(tile * BLOCK, length).to(tl.int32)
    other_length = tl.where(first < length, other_end - other_start, 0).to(tl.int32)
    if starts_ptr is not None:  # a descriptor has a row even of nothing, which past the end would be another's memory
        start = tl.where(length > 0, start, 0)
        other_start = tl.where(other_length > 0, other_start, 0)
    return outer, first, start, length, other_start, other_length
# --8<-- [end:document]


# --8<-- [start:range]
@triton.jit
def attention_limits(left, right, q_length, k_length, LOWER_RIGHT: tl.constexpr):
    """The least and the most that a key's place may be ahead of that of a query that it is open to."""
    shift = k_length - q_length if LOWER_RIGHT else 0
    return shift - left, shift + right


@triton.jit
def attention_range(first, last, length, low, high, HAS_LOW: tl.constexpr, HAS_HIGH: tl.constexpr, BLOCK: tl.constexpr):
    """Tiles of a sequence of `length` that rows `first` to `last` meet, and those of them that need no mask.

    Row i meets what lies from i + low to i + high.
    """
    begin, plain_begin, end, plain_end = 0, 0, length, length
    if HAS_LOW:
        begin, plain_begin = tl.maximum(first + low, 0), tl.maximum(last + low, 0)
    if HAS_HIGH:
        end, plain_end = tl.minimum(length, last + high + 1), tl.minimum(length, first + high + 1)
    begin = begin // BLOCK
    end = tl.maximum(tl.cdiv(tl.maximum(end, 0), BLOCK), begin)
    plain_begin = tl.minimum(tl.cdiv(plain_begin, BLOCK), end)
    plain_end = tl.maximum(tl.maximum(plain_end, 0) // BLOCK, plain_begin)
    return begin, plain_begin, tl.minimum(plain_end, end), end


@triton.jit
def attention_open(q_rows, k_rows, k_length, low, high, HAS_LEFT: tl.constexpr, HAS_RIGHT: tl.constexpr):
    """Whether each key is open to each query; the two are given as a column and a row, either way round."""
    is_open = k_rows < k_length
    if HAS_LEFT:
        is_open = is_open & (k_rows - q_rows >= low)
    if HAS_RIGHT:
        is_open = is_open & (k_rows - q_rows <= high)
    return is_open
# --8<-- [end:range]


# --8<-- [start:rows]
@triton.jit
def attention_rows(
    source,
    batch,
    head,
    first,
    length,
    stride,
    HEAD: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    LOADS: tl.constexpr,
    WHOLE: tl.constexpr,
    UPCAST: tl.constexpr,
):
    """BLOCK rows of a head from `first` on. What lies outside of the matrix is zero, which a descriptor sees to by itself.

    `source` is a pointer to the head's first row, a descriptor of the head, or one of all batches and heads.
    """
    if LOADS == "pointers":
        rows = first + tl.arange(0, BLOCK)  # [BLOCK]
        columns = tl.arange(0, WIDTH)  # [WIDTH]
        mask = ((rows < length) | WHOLE)[:, None] & ((columns < HEAD) | (HEAD == WIDTH))[None, :]  # [BLOCK, WIDTH]
        x = tl.load(source + rows.to(tl.int64)[:, None] * stride + columns[None, :], mask=mask, other=0.0)
    elif LOADS == "made":
        x = source.load([first, 0])
    else:
        x = tl.reshape(source.load([batch, head, first, 0]), (BLOCK, WIDTH))
    return x.to(tl.float32) if UPCAST else x  # [BLOCK, WIDTH]
# --8<-- [end:rows]
