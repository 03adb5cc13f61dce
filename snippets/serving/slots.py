"""Programs as slots that take requests from a queue in memory, and end when nothing more arrives."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:serve]
@triton.jit
def serve(x_ptr, start_ptr, out_ptr, request, WIDTH: tl.constexpr):
    """One request: a state that every step decays and adds to, so that no step can begin before the last one."""
    start, end = tl.load(start_ptr + request), tl.load(start_ptr + request + 1)  # int64
    columns = tl.arange(0, WIDTH)
    state = tl.zeros((WIDTH,), tl.float32)
    for step in range(start, end):
        state = 0.5 * state + tl.load(x_ptr + step * WIDTH + columns)
    tl.store(out_ptr + request * WIDTH + columns, state)


@triton.jit
def serving_batch_kernel(x_ptr, start_ptr, out_ptr, first, WIDTH: tl.constexpr):
    # This program has one request. The launch is over when the longest is.
    serve(x_ptr, start_ptr, out_ptr, first + tl.program_id(0).to(tl.int64), WIDTH)
# --8<-- [end:serve]


# --8<-- [start:queue]
@triton.jit
def next_request(queue_ptr, n_requests, PATIENCE: tl.constexpr):
    """The next request, as soon as it has arrived; or n_requests, where all are taken or it does not come."""
    ticket = tl.atomic_add(queue_ptr, 1)
    arrived = tl.atomic_add(queue_ptr + 1, 0)
    looks = 0
    while (ticket < n_requests) & (arrived <= ticket) & (looks < PATIENCE):
        arrived = tl.atomic_add(queue_ptr + 1, 0)
        looks += 1
    return tl.where(ticket < arrived, ticket, n_requests)


@triton.jit
def serving_slot_kernel(x_ptr, start_ptr, out_ptr, queue_ptr, n_requests, WIDTH: tl.constexpr, PATIENCE: tl.constexpr):
    # This program is a slot. It serves request after request, until there is none.
    request = next_request(queue_ptr, n_requests, PATIENCE)
    while request < n_requests:
        serve(x_ptr, start_ptr, out_ptr, request.to(tl.int64), WIDTH)
        request = next_request(queue_ptr, n_requests, PATIENCE)
# --8<-- [end:queue]


# --8<-- [start:ways]
WIDTH = 128


def by_batches(x, starts, slots):
    n_requests = starts.numel() - 1
    out = torch.full((n_requests, WIDTH), float("nan"), device=x.device)
    for first in range(0, n_requests, slots):
        serving_batch_kernel[(min(slots, n_requests - first),)](x, starts, out, first, WIDTH=WIDTH)
    return out


def by_slots(x, starts, slots, arrived, patience=1000):
    n_requests = starts.numel() - 1
    out = torch.full((n_requests, WIDTH), float("nan"), device=x.device)
    queue = torch.zeros(2, dtype=torch.int32, device=x.device)  # the next ticket, and how many are here
    queue[1].fill_(arrived)  # a launch; a tensor of numbers would be copied, and the host would wait
    serving_slot_kernel[(slots,)](x, starts, out, queue, n_requests, WIDTH=WIDTH, PATIENCE=patience)
    return out
# --8<-- [end:ways]


def requests(count, mean, device, even=False):
    """The steps of all requests one after another, and where each begins."""
    torch.manual_seed(0)
    lengths = torch.full((count,), mean) if even else 1 + torch.empty(count).exponential_(1 / mean).long()
    starts = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
    return torch.randn(int(starts[-1]), WIDTH).to(device), starts.to(device)


if __name__ == "__main__":
    # --8<-- [start:check]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    lengths = torch.tensor([3, 1, 9, 2, 2, 5, 1, 7, 4, 1, 1, 6])
    starts = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)]).to(device)
    x = torch.randn(int(starts[-1]), WIDTH, device=device)
    batches = by_batches(x, starts, slots=4)
    print("the same:", torch.equal(by_slots(x, starts, slots=4, arrived=12), batches))
    #> the same: True
    out = by_slots(x, starts, slots=4, arrived=7)
    print("served:", int((~out.isnan().any(1)).sum()), "of", len(out))
    #> served: 7 of 12
    # --8<-- [end:check]
