"""A product whose rows travel while others are multiplied, beside gathering first, pieces, and PyTorch's fused one."""
# needs: 2 gpus
import os
import sys

import torch

if torch.cuda.device_count() < 2:
    if os.environ.get("RANK", "0") != "0":
        sys.exit()  # the first one speaks for all
    print("needs: 2 gpus (NVIDIA GPUs of one machine that PyTorch can use)")
    sys.exit(2)

import torch.distributed as dist
from torch._C._distributed_c10d import _SymmetricMemory

from kernels.tools.benchmark import keep
from kernels.tools.several import symmetric, timed_together, together
from snippets.several.gather_product import gather_product

# The whole product's; each rank has a share of the rows of a, and of the columns of b.
SHAPES = [(8192, 8192, 8192), (8192, 4096, 8192)]


class Product:
    """c = a @ b on each rank: it has some rows of a, the others' come over the link, and b is its own."""

    def __init__(self, rank, world, m, n, k):
        self.rank, self.world, self.group = rank, world, dist.group.WORLD.group_name
        self.a, self.handle, _ = symmetric((world, m // world, k), torch.bfloat16)
        torch.manual_seed(rank)
        self.a[rank].copy_(torch.randn(m // world, k, device="cuda"))
        self.b = torch.randn(k, n // world, device="cuda").bfloat16()
        self.c = torch.empty(m, n // world, device="cuda", dtype=torch.bfloat16)
        self.own = self.a[rank].clone()
        self.arrived = torch.zeros(world, device="cuda", dtype=torch.uint32)
        self.missing = torch.zeros(world, device="cuda", dtype=torch.int32)
        self.copier = torch.cuda.Stream()
        self.programs = torch.cuda.get_device_properties("cuda").multi_processor_count

    # --8<-- [start:travel]
    def travel(self, arrived):
        """Fetch the other ranks' rows, one rank after another, on a stream of its own; call arrived(peer) behind each."""
        main = torch.cuda.current_stream()
        self.handle.barrier(channel=0)  # all ranks have their rows
        self.copier.wait_stream(main)
        with torch.cuda.stream(self.copier):
            for step in range(1, self.world):
                peer = (self.rank + step) % self.world
                self.a[peer].copy_(self.handle.get_buffer(peer, self.a.shape, self.a.dtype)[peer])
                arrived(peer)
    # --8<-- [end:travel]

    # --8<-- [start:sequential]
    def sequential(self):
        whole = self.a.flatten(0, 1)
        dist.all_gather_into_tensor(whole, self.own)
        return torch.mm(whole, self.b, out=self.c)
    # --8<-- [end:sequential]

    # --8<-- [start:pieces]
    def pieces(self):
        """The library's product of each rank's rows, as soon as they are here."""
        main, here = torch.cuda.current_stream(), {}
        self.travel(lambda peer: here.update({peer: self.copier.record_event()}))
        parts = self.c.view(self.world, -1, self.c.shape[1])
        for step in range(self.world):
            peer = (self.rank + step) % self.world
            if step:
                main.wait_event(here[peer])
            torch.mm(self.a[peer], self.b, out=parts[peer])
        self.handle.barrier(channel=1)  # nobody reads my rows any more
        return self.c
    # --8<-- [end:pieces]

    # --8<-- [start:flags]
    def flags(self):
        """One kernel, which looks for itself whether rows have come."""
        self.arrived.zero_()
        _SymmetricMemory.stream_write_value32(self.arrived, self.rank, 1)
        self.travel(lambda peer: _SymmetricMemory.stream_write_value32(self.arrived, peer, 1))
        options = {"programs": self.programs, "num_warps": 8, "num_stages": 3}
        gather_product(self.a.flatten(0, 1), self.b, self.c, self.arrived, self.missing, self.rank, self.world, **options)
        torch.cuda.current_stream().wait_stream(self.copier)
        self.handle.barrier(channel=1)
        return self.c
    # --8<-- [end:flags]

    def pytorch(self):
        return torch.ops.symm_mem.fused_all_gather_matmul(self.own, [self.b], 0, self.group)[1][0]


def main(rank, world):
    kept = {}
    for m, n, k in SHAPES:
        product = Product(rank, world, m, n, k)
        expected = product.sequential().clone()
        ways = {name: getattr(product, name) for name in ("sequential", "pieces", "flags", "pytorch")}
        for name, way in ways.items():
            for peer in range(world):  # what does not come is seen
                if peer != rank:
                    product.a[peer].fill_(float("nan"))
            torch.cuda.synchronize()
            dist.barrier()
            product.c.fill_(float("nan"))
            error = ((way().float() - expected.float()).norm() / expected.float().norm()).item()
            assert error < 1e-2, (name, error)
        ways["product alone"] = lambda p=product: torch.mm(p.a.flatten(0, 1), p.b, out=p.c)
        times = timed_together(ways)
        assert not product.missing.any(), product.missing
        kept[f"{m}x{n}x{k}"] = {name.replace(" ", "_"): ms * 1e3 for name, ms in times.items()}
        if rank == 0:
            print(f"{m}x{n}x{k}  " + "  ".join(f"{name} {ms:.3f} ms" for name, ms in times.items()))
    if rank == 0:
        keep(figures={"world": world, "gpu": torch.cuda.get_device_name(), "shapes": kept})


together(main)
