"""What two ways to add up send over the links: which rank takes what part of the tensor from which, as the kernels do it."""
from kernels.tools.benchmark import keep


# --8<-- [start:moves]
def one_shot_moves(world):
    """From where, to where, and what part of the tensor: every rank loads all of every other's."""
    return [(peer, rank, 1.0) for rank in range(world) for peer in range(world) if peer != rank]


def two_shot_moves(world):
    """Each rank loads its share from every other, and stores its sum to every other."""
    loads = [(peer, rank, 1 / world) for rank in range(world) for peer in range(world) if peer != rank]
    stores = [(rank, peer, 1 / world) for rank in range(world) for peer in range(world) if peer != rank]
    return loads + stores


def arriving(moves):
    """How many times the tensor arrives at rank 0."""
    return sum(part for _, to, part in moves if to == 0)
# --8<-- [end:moves]


# --8<-- [start:count]
for world in (2, 4, 8):
    one, two = arriving(one_shot_moves(world)), arriving(two_shot_moves(world))
    print(f"{world} ranks: {one:.2f} tensors arrive by one shot, {two:.2f} by two")
    #> 2 ranks: 1.00 tensors arrive by one shot, 1.00 by two
    #> 4 ranks: 3.00 tensors arrive by one shot, 1.50 by two
    #> 8 ranks: 7.00 tensors arrive by one shot, 1.75 by two
# --8<-- [end:count]
keep(figures={"one_shot": one_shot_moves(4), "two_shot": two_shot_moves(4)})
