"""A dozen short puzzles: one idea each."""

import torch

from kernels.labs.tasks.cases import Task, case, numbers, vectors


def tiles(*names: str):
    """Matrices with ragged edges, then one whose rows lie apart."""

    def cases(device):
        for m, n in ((64, 32), (33, 70), (1, 1), (5, 129), (0, 8), (100, 3)):
            yield case(f"{m} by {n}", device, {name: numbers(m, n, seed=i) for i, name in enumerate(names)}, (m, n))
        inputs = {name: numbers(20, 30, seed=i) for i, name in enumerate(names)}
        label = f"20 by 30, rows lie 50 elements apart in {names[0]}"
        yield case(label, device, inputs, (20, 30), strides={names[0]: (50, 1)})

    return cases


def transposed(device):
    for m, n in ((64, 32), (33, 70), (1, 1), (5, 129), (100, 3)):
        yield case(f"{m} by {n}", device, {"x": numbers(m, n)}, (n, m))
    yield case("20 by 30, rows lie 50 elements apart in x", device, {"x": numbers(20, 30)}, (30, 20), strides={"x": (50, 1)})


def outer(device):
    for m, n in ((32, 64), (33, 70), (1, 1), (129, 5)):
        yield case(f"{m} by {n}", device, {"x": numbers(m, seed=1), "y": numbers(n, seed=2)}, (m, n))


def strided(device):
    for n, step in ((128, 1), (100, 3), (1, 7), (300, 2)):
        yield case(f"{n} elements, {step} apart", device, {"x": numbers(n)}, (n,), strides={"x": (step,)})


def reduced(shape_of):
    def cases(device):
        for m, n in ((4, 128), (3, 100), (1, 1), (70, 33), (5, 300)):
            x = numbers(m, n, shift=-5)
            yield case(f"{m} by {n}", device, {"x": x}, shape_of(m, n))
        yield case("5 rows of 90, 128 apart", device, {"x": numbers(5, 90, shift=-5)}, shape_of(5, 90), strides={"x": (128, 1)})

    return cases


def dots(device):
    for n in (1024, 1000, 1, 129, 3000):
        yield case(f"{n} elements", device, {"x": numbers(n, seed=1), "y": numbers(n, seed=2)}, (1,))


def counted(device):
    for n in (1024, 1000, 1, 129, 3000):
        x = (numbers(n).abs() * 5).long().clamp(max=15).int()
        yield case(f"{n} elements", device, {"x": x}, (16,), torch.int32)


def attention_cases(device):
    for n, d in ((64, 16), (128, 32), (50, 16), (1, 16), (200, 64)):
        q = numbers(d, seed=1)
        yield case(f"{n} keys of {d}", device, {"q": q, "k": numbers(n, d, seed=2), "v": numbers(n, d, seed=3)}, (d,))


def neighbors(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.pad(x, (1, 1)).unfold(0, 3, 1).mean(1) if len(x) else x


def smeared(x: torch.Tensor) -> torch.Tensor:
    """The same with the ends repeated where zeros belong."""
    return torch.cat([x[:1], x, x[-1:]]).unfold(0, 3, 1).mean(1) if len(x) else x


OTHER = "the elements are all below 0 here, and a masked lane that holds 0 wins the maximum: load with `other=-float('inf')`"
PUZZLES = {
    "copy": Task("fn(x, out): out[i] = x[i]", lambda x: x, vectors("x")),
    "gather_stride": Task("fn(x, out): out[i] = x[i], where x is a view with any step", lambda x: x, strided),
    "reverse": Task("fn(x, out): out[i] = x[n - 1 - i]", lambda x: x.flip(0), vectors("x"), {"it is not reversed": lambda x: x}),
    "add_tiles": Task("fn(x, y, out): out[i, j] = x[i, j] + y[i, j]", lambda x, y: x + y, tiles("x", "y")),
    "transpose": Task("fn(x, out): out[j, i] = x[i, j]", lambda x: x.T, transposed),
    "outer_product": Task(
        "fn(x, y, out): out[i, j] = x[i] * y[j]",
        lambda x, y: x[:, None] * y[None, :],
        outer,
        {
            "x runs along the columns and y along the rows: swap [:, None] and [None, :]": lambda x, y: (
                y[:, None] * x[None, :] if len(x) == len(y) else x[:, None] * y * 0
            )
        },
    ),
    "row_max": Task(
        "fn(x, out): out[i] = the maximum of row i",
        lambda x: x.amax(1),
        reduced(lambda m, n: (m,)),
        {OTHER: lambda x: x.amax(1).clamp(min=0), "the minimum came": lambda x: x.amin(1)},
    ),
    "column_sum": Task(
        "fn(x, out): out[j] = the sum of column j", lambda x: x.sum(0), reduced(lambda m, n: (n,)), tolerance=1e-4
    ),
    "running_sum": Task(
        "fn(x, out): out[i, j] = x[i, 0] + ... + x[i, j]",
        lambda x: x.cumsum(1),
        reduced(lambda m, n: (m, n)),
        {
            "each sum leaves out its own element": lambda x: x.cumsum(1) - x,
            "the sums run down the columns": lambda x: x.cumsum(0),
        },
        tolerance=1e-4,
    ),
    "stencil": Task(
        "fn(x, out): out[i] = (x[i - 1] + x[i] + x[i + 1]) / 3, with 0 beyond both ends",
        neighbors,
        vectors("x"),
        {"the ends repeat their last element, where 0 belongs": smeared},
    ),
    "dot_product": Task("fn(x, y, out): out[0] = the sum of x[i] * y[i]", lambda x, y: (x * y).sum()[None], dots, tolerance=1e-4),
    "histogram": Task(
        "fn(x, out): out[b] = how many elements of x equal b, from 0 to 15; x and out are int32",
        lambda x: torch.bincount(x.long(), minlength=16),
        counted,
        {
            "the counts were added to an output that nobody set to zero: call `out.zero_()` before the launch": lambda x: (
                torch.bincount(x.long(), minlength=16) - 1
            )
        },
    ),
    "attention_row": Task(
        "fn(q, k, v, out): out = softmax(k @ q / sqrt(d)) @ v for one query q of length d; walk over k and v in blocks",
        lambda q, k, v: (k @ q / len(q) ** 0.5).softmax(0) @ v,
        attention_cases,
        {
            "the scores are not divided by sqrt(d)": lambda q, k, v: (k @ q).softmax(0) @ v,
            "the scores are divided by d, not by sqrt(d)": lambda q, k, v: (k @ q / len(q)).softmax(0) @ v,
        },
        most_lanes=4096,
    ),
}
