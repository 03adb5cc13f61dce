"""What the questions of the lesson ask, tried: each line is the answer to one."""
import torch

x = torch.rand(16, 1000)
right = x.softmax(1)
print(f"zeros: {'passes' if torch.allclose(torch.zeros_like(right), right, atol=1e-2) else 'fails'}")

memory = right.clone()  # what an earlier, right kernel left behind


def store_nothing(x, out):
    return out


print(f"nothing: {'passes' if torch.allclose(store_nothing(x, memory), right) else 'fails'}")


def additions(numbers):
    """How many additions a number passes through on its way, where halves are added pairwise."""
    return 0 if numbers == 1 else 1 + additions(numbers // 2)


print(f"tree: {additions(1024)}")
