"""What the questions of the lesson ask, worked out: each line is the answer to one."""
import torch

LENGTH = 4096
loads = {block: LENGTH // block for block in (64, 128)}  # each program of a head loads every key once
print(f"wider: {loads[128] / loads[64]}")

visited = sum(1 for row in range(0, 1024, 128) for start in range(0, row + 128, 64))
print(f"visited: {visited}")

scores = torch.zeros(128)  # 100 keys and 28 lanes behind the last of them
scores[:100] = -5.0
values = (torch.arange(128) < 100).float()
print(f"tail: {torch.softmax(scores, dim=0) @ values:.2f}")
