"""Rows whose length 16 bytes do not divide: whole vectors inside a row, and its two edges by themselves."""
import torch, triton, triton.language as tl


@triton.jit
def spans(rows, row_mask, n_columns, BLOCK: tl.constexpr, V: tl.constexpr):
    first = rows * n_columns  # [ROWS, 1]
    start = (first + (V - 1)) // V * V  # where the first whole vector begins
    stop = (first + n_columns) // V * V  # where the last one ends
    stop = tl.where(row_mask, stop, start)
    lanes = tl.arange(0, BLOCK)[None, :]
    inside = lanes < (stop - start).to(tl.int32)  # [ROWS, BLOCK]
    e = tl.arange(0, 2 * V)[None, :]
    at = tl.where(e < V, first + e, stop + e - V)  # [ROWS, 2V]
    edge = tl.where(e < V, at < start, at < first + n_columns) & row_mask
    return start + lanes, inside, at, edge, first


@triton.jit
def softmax_fwd(x_ptr, y_ptr, n_rows, n_columns, ROWS: tl.constexpr, BLOCK: tl.constexpr, V: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    vec, inside, at, edge, _ = spans(rows, rows < n_rows, n_columns, BLOCK, V)
    x = tl.load(x_ptr + vec, mask=inside, other=-float("inf")).to(tl.float32)
    xe = tl.load(x_ptr + at, mask=edge, other=-float("inf")).to(tl.float32)
    m = tl.maximum(tl.max(x, 1, keep_dims=True), tl.max(xe, 1, keep_dims=True))
    z = tl.exp(x - m)
    ze = tl.exp(xe - m)
    s = tl.sum(z, 1, keep_dims=True) + tl.sum(ze, 1, keep_dims=True)
    tl.store(y_ptr + vec, z / s, mask=inside)
    tl.store(y_ptr + at, ze / s, mask=edge)


@triton.jit
def softmax_bwd(y_ptr, dy_ptr, dx_ptr, n_rows, n_columns, ROWS: tl.constexpr, BLOCK: tl.constexpr, V: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    vec, inside, at, edge, _ = spans(rows, rows < n_rows, n_columns, BLOCK, V)
    y = tl.load(y_ptr + vec, mask=inside, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + vec, mask=inside, other=0.0).to(tl.float32)
    ye = tl.load(y_ptr + at, mask=edge, other=0.0).to(tl.float32)
    dye = tl.load(dy_ptr + at, mask=edge, other=0.0).to(tl.float32)
    dot = tl.sum(y * dy, 1, keep_dims=True) + tl.sum(ye * dye, 1, keep_dims=True)
    tl.store(dx_ptr + vec, y * (dy - dot), mask=inside)
    tl.store(dx_ptr + at, ye * (dye - dot), mask=edge)


@triton.jit
def moments(x, inside, xe, edge, n_columns, eps, CENTERED: tl.constexpr):
    mean = 0.0
    if CENTERED:
        mean = (tl.sum(x, 1, keep_dims=True) + tl.sum(xe, 1, keep_dims=True)) / n_columns
        x = tl.where(inside, x - mean, 0.0)
        xe = tl.where(edge, xe - mean, 0.0)
    q = tl.sum(x * x, 1, keep_dims=True) + tl.sum(xe * xe, 1, keep_dims=True)
    return x, xe, mean, tl.rsqrt(q / n_columns + eps)


@triton.jit
def norm_fwd(x_ptr, w_ptr, b_ptr, y_ptr, n_rows, n_columns, eps, CENTERED: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, V: tl.constexpr):
    # one tile of rows a program; the weights are loaded number by number
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    vec, inside, at, edge, first = spans(rows, rows < n_rows, n_columns, BLOCK, V)
    x = tl.load(x_ptr + vec, mask=inside, other=0.0).to(tl.float32)
    xe = tl.load(x_ptr + at, mask=edge, other=0.0).to(tl.float32)
    x, xe, mean, rstd = moments(x, inside, xe, edge, n_columns, eps, CENTERED)
    c, ce = vec - first, at - first
    y = x * rstd * tl.load(w_ptr + c, mask=inside, other=0.0, eviction_policy="evict_last").to(tl.float32)
    ye = xe * rstd * tl.load(w_ptr + ce, mask=edge, other=0.0).to(tl.float32)
    if b_ptr is not None:
        y += tl.load(b_ptr + c, mask=inside, other=0.0, eviction_policy="evict_last").to(tl.float32)
        ye += tl.load(b_ptr + ce, mask=edge, other=0.0).to(tl.float32)
    tl.store(y_ptr + vec, y, mask=inside)
    tl.store(y_ptr + at, ye, mask=edge)


@triton.jit
def norm_fwd_kept(x_ptr, w_ptr, b_ptr, y_ptr, n_rows, n_columns, eps, CENTERED: tl.constexpr, BLOCK: tl.constexpr, V: tl.constexpr, STAGES: tl.constexpr):
    # Rows that begin at the same place of a vector: the weights stay in registers.
    mine = tl.program_id(0).to(tl.int64)
    row0 = mine + tl.zeros([1, 1], tl.int64)
    vec, inside, at, edge, first = spans(row0, row0 < n_rows, n_columns, BLOCK, V)
    c, ce = vec - first, at - first
    w = tl.load(w_ptr + c, mask=inside, other=0.0)
    we = tl.load(w_ptr + ce, mask=edge, other=0.0)
    if b_ptr is not None:
        b = tl.load(b_ptr + c, mask=inside, other=0.0)
        be = tl.load(b_ptr + ce, mask=edge, other=0.0)
    for row in tl.range(mine, n_rows, tl.num_programs(0), num_stages=STAGES):  # num_programs is a multiple of V
        rows = row + tl.zeros([1, 1], tl.int64)
        vec, inside, at, edge, _ = spans(rows, rows < n_rows, n_columns, BLOCK, V)
        x = tl.load(x_ptr + vec, mask=inside, other=0.0).to(tl.float32)
        xe = tl.load(x_ptr + at, mask=edge, other=0.0).to(tl.float32)
        x, xe, mean, rstd = moments(x, inside, xe, edge, n_columns, eps, CENTERED)
        y = x * rstd * w.to(tl.float32)
        ye = xe * rstd * we.to(tl.float32)
        if b_ptr is not None:
            y += b.to(tl.float32)
            ye += be.to(tl.float32)
        tl.store(y_ptr + vec, y, mask=inside)
        tl.store(y_ptr + at, ye, mask=edge)


@triton.jit
def norm_bwd(x_ptr, w_ptr, dy_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_ptr, db_ptr, n_rows, n_columns, CENTERED: tl.constexpr, BLOCK: tl.constexpr, V: tl.constexpr, STAGES: tl.constexpr):
    mine = tl.program_id(0).to(tl.int64)
    row0 = mine + tl.zeros([1, 1], tl.int64)
    vec, inside, at, edge, first = spans(row0, row0 < n_rows, n_columns, BLOCK, V)
    c, ce, kept, kepte = vec - first, at - first, inside, edge
    w = tl.load(w_ptr + c, mask=inside, other=0.0)
    we = tl.load(w_ptr + ce, mask=edge, other=0.0)
    dw = tl.zeros([1, BLOCK], tl.float32)
    dwe = tl.zeros([1, 2 * V], tl.float32)
    if CENTERED:
        db = tl.zeros([1, BLOCK], tl.float32)
        dbe = tl.zeros([1, 2 * V], tl.float32)
    for row in tl.range(mine, n_rows, tl.num_programs(0), num_stages=STAGES):
        rows = row + tl.zeros([1, 1], tl.int64)
        vec, inside, at, edge, _ = spans(rows, rows < n_rows, n_columns, BLOCK, V)
        x = tl.load(x_ptr + vec, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + vec, mask=inside, other=0.0).to(tl.float32)
        xe = tl.load(x_ptr + at, mask=edge, other=0.0).to(tl.float32)
        dye = tl.load(dy_ptr + at, mask=edge, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        mean = 0.0
        if CENTERED:
            mean = tl.load(mean_ptr + row)
        n, ne = (x - mean) * rstd, (xe - mean) * rstd
        g, ge = dy * w.to(tl.float32), dye * we.to(tl.float32)
        dot = (tl.sum(g * n, 1, keep_dims=True) + tl.sum(ge * ne, 1, keep_dims=True)) / n_columns
        gm = 0.0
        if CENTERED:
            gm = (tl.sum(g, 1, keep_dims=True) + tl.sum(ge, 1, keep_dims=True)) / n_columns
            db += dy
            dbe += dye
        dw += dy * n
        dwe += dye * ne
        tl.store(dx_ptr + vec, (g - gm - n * dot) * rstd, mask=inside)
        tl.store(dx_ptr + at, (ge - gm - ne * dot) * rstd, mask=edge)
    base = mine * n_columns
    tl.store(dw_ptr + base + c, dw, mask=kept)
    tl.store(dw_ptr + base + ce, dwe, mask=kepte)
    if CENTERED:
        tl.store(db_ptr + base + c, db, mask=kept)
        tl.store(db_ptr + base + ce, dbe, mask=kepte)
