"""What the questions of the lesson ask, worked out: each line is the answer to one."""
import torch

SPEEDS = torch.tensor([1.0, 0.1, 0.01, 0.001], dtype=torch.float64)


def halves(x, position):
    """Turn pairs made of the first half and the second."""
    first, second = x.chunk(2)
    cosine, sine = torch.cos(position * SPEEDS), torch.sin(position * SPEEDS)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine])


def neighbors(x, position):
    """Turn pairs of neighbors."""
    return halves(x.view(4, 2).T.reshape(8), position).view(2, 4).T.reshape(8)


query, key = torch.randn(2, 8, dtype=torch.float64)
twice = halves(halves(query, 3), 4)
for position in (4, 7, 12):
    if torch.allclose(twice, halves(query, position)):
        print(f"twice: {position}")

print(f"bfloat16: {torch.tensor(1001.0).bfloat16().item():.0f}")

found = []
for turn in (halves, neighbors):
    length = torch.allclose(turn(query, 9).norm(), query.norm())
    distance = torch.allclose(turn(query, 9) @ turn(key, 5), turn(query, 104) @ turn(key, 100))
    found.append(length and distance)
print(f"pairing: {'neither' if all(found) else 'one'}")
