"""The labs' tasks by name."""

import torch

from kernels.labs.tasks.cases import Inputs, Task, case, far_rows, matrices, numbers, rows, vectors
from kernels.labs.tasks.products import MATMUL, MATMUL_RELU
from kernels.labs.tasks.puzzles import PUZZLES


def padded_softmax(x: torch.Tensor, block: int = 0) -> torch.Tensor:
    """Softmax whose masked lanes count as zeros, up to a whole number of blocks, or to the next power of two."""
    n = x.shape[1]
    surplus = -n % block if block else 2 ** max(n - 1, 1).bit_length() - n
    return torch.nn.functional.pad(x, (0, surplus)).softmax(1)[:, :n]


def unscaled_softmax(x: torch.Tensor, block: int) -> torch.Tensor:
    """Online softmax that forgets to scale the old sum down when a larger maximum turns up."""
    largest = torch.full_like(x[:, :1], -torch.inf)
    total = torch.zeros_like(largest)
    for start in range(0, x.shape[1], block):
        part = x[:, start : start + block]
        largest = torch.maximum(largest, part.amax(1, keepdim=True))
        total = total + (part - largest).exp().sum(1, keepdim=True)
    return (x - largest).exp() / total


def activations(device):
    for m, n in ((4, 128), (3, 100), (1, 1), (2, 1000), (5, 257), (0, 16), (33, 70)):
        inputs = {"x": numbers(m, n, seed=1, scale=3), "bias": numbers(n, seed=2)}
        yield case(f"{m} rows of {n}", device, inputs, (m, n))
    inputs = {"x": numbers(4, 90, seed=1, scale=3), "bias": numbers(90, seed=2)}
    yield case("4 rows of 90, 128 elements apart in x", device, inputs, (4, 90), strides={"x": (128, 1)})
    inputs = {name: value.half() for name, value in inputs.items()}
    yield case("4 rows of 90 in float16", device, inputs, (4, 90), torch.float16)


def large_matrices() -> Inputs:
    """In bfloat16, or in float16 on a GPU whose tensor cores have no bfloat16."""
    dtype = torch.bfloat16 if torch.cuda.get_device_capability() >= (8, 0) else torch.float16
    return {name: torch.randn(4096, 4096, device="cuda").to(dtype) for name in "ab"}


ADDED = {
    "the second vector is subtracted": lambda x, y: x - y,
    "the two vectors are multiplied": lambda x, y: x * y,
    "`x` is added to itself: both loads read the same pointer": lambda x, y: x + x,
    "`y` is added to itself: both loads read the same pointer": lambda x, y: y + y,
}
PADDED = "the lanes beyond the row's end were counted, as zeros: load with `other=-float('inf')`, whose exponential is 0"
SOFTMAX = {
    "the exponentials are right, and nobody divided them by their sum": lambda x: (x - x.amax(1, keepdim=True)).exp(),
    "the sum is taken over columns. A row's sum runs along axis 1 of a tile": lambda x: x.softmax(0),
    PADDED: padded_softmax,
    "the numerators are exp(x), and the sum was taken against the maximum: divide exp(x - maximum) by it": lambda x: (
        x.exp() / (x - x.amax(1, keepdim=True)).exp().sum(1, keepdim=True)
    ),
    "one sum and one maximum serve all rows, though each row needs its own": lambda x: x.flatten().softmax(0).view(x.shape),
}
RESCALE = "the running sum was not scaled down when a later block held a larger maximum: multiply it by exp(old max - new max)"
BLOCKS = (128, 256, 512, 1024)
LONG = SOFTMAX | {f"{RESCALE} (your blocks seem to hold {b})": lambda x, b=b: unscaled_softmax(x, b) for b in BLOCKS}
LONG |= {f"{PADDED} (your blocks seem to hold {b})": lambda x, b=b: padded_softmax(x, b) for b in BLOCKS}

TASKS = PUZZLES | {
    "vector_add": Task(
        "fn(x, y, out): out[i] = x[i] + y[i], vectors of one length",
        lambda x, y: x + y,
        vectors("x", "y"),
        ADDED,
        peer=torch.add,
        large=lambda: {name: torch.randn(2**26, device="cuda") for name in "xy"},
    ),
    "fused_activation": Task(
        "fn(x, bias, out): out[i, j] = silu(x[i, j] + bias[j]), where silu(t) = t * sigmoid(t)",
        lambda x, bias: torch.nn.functional.silu(x + bias),
        activations,
        {
            "the bias is missing": lambda x, bias: torch.nn.functional.silu(x),
            "sigmoid(t) came, and was not multiplied by t": lambda x, bias: (x + bias).sigmoid(),
            "the sigmoid is multiplied by x without its bias": lambda x, bias: x * (x + bias).sigmoid(),
            "the bias is taken by row. bias[j] belongs to column j": lambda x, bias: (
                torch.nn.functional.silu(x + bias[: len(x), None]) if len(x) <= len(bias) else x * 0
            ),
        },
        peer=lambda x, bias: torch.nn.functional.silu(x + bias),
        large=lambda: {"x": torch.randn(16384, 4096, device="cuda"), "bias": torch.randn(4096, device="cuda")},
    ),
    "row_softmax": Task(
        "fn(x, out): every row of out is the softmax of that row of x; a row fits into one block",
        lambda x: x.softmax(1),
        rows((128, 100, 1, 1000, 257, 7)),
        SOFTMAX,
        peer=lambda x: x.softmax(1),
        large=lambda: {"x": torch.randn(16384, 4096, device="cuda")},
    ),
    "long_softmax": Task(
        "fn(x, out): every row of out is the softmax of that row of x; no block larger than 1024 elements",
        lambda x: x.softmax(1),
        rows((2048, 2500, 4096, 1025, 1, 1000)),
        LONG,
        most_lanes=1024,
        peer=lambda x: x.softmax(1),
        large=lambda: {"x": torch.randn(1024, 65536, device="cuda")},
    ),
    "far_rows": Task(
        "fn(x, out): the softmax of each row again; the rows of x may lie 2^30 elements apart",
        lambda x: x.softmax(1),
        far_rows,
        SOFTMAX,
    ),
    "tiled_matmul": Task(
        "fn(a, b, out): out = a @ b, with float16 inputs of any strides and a float32 output",
        lambda a, b: a @ b,
        matrices,
        MATMUL,
        tolerance=4e-5,  # a tensor core cuts off what it adds below a float32's last bit
        peer=torch.matmul,
        large=large_matrices,
    ),
    "matmul_relu": Task(
        "fn(a, b, out): out = relu(a @ b), with float16 inputs of any strides and a float32 output",
        lambda a, b: torch.relu(a @ b),
        matrices,
        MATMUL_RELU,
        tolerance=4e-5,
        peer=lambda a, b: torch.relu(a @ b),
        large=large_matrices,
    ),
}
