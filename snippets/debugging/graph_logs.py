"""What torch.compile logs of a function that breaks and is compiled again, here caught as text to be printed."""
import os

os.environ["TORCH_LOGS_FORMAT"] = "%(message)s"  # no date, no thread, no file of PyTorch's

# --8<-- [start:function]
import torch


def gated(x):
    y = x * 2
    if y.sum() > 0:
        y = torch.relu(y)
    return y + 1


compiled = torch.compile(gated, backend="eager")
# --8<-- [end:function]


# --8<-- [start:logs]
import contextlib
import io
import re

log = io.StringIO()
with contextlib.redirect_stderr(log):
    torch._logging.set_logs(graph_breaks=True, recompiles=True)  # as TORCH_LOGS=graph_breaks,recompiles
    compiled(torch.ones(10))
    compiled(torch.ones(11))
torch._logging.set_logs()  # as before
# --8<-- [end:logs]
text = re.sub(r'[^\s"]*/(?=\w+\.py)', "", log.getvalue())  # files without their folders
for part in re.split(r"\n(?=Graph break|Recompiling)", text):
    print(*[line for line in part.splitlines() if re.match(r"Graph|Recomp|\s+- \d|\s+# File", line)], "", sep="\n")
assert "Recompiling function gated" in text and "Data-dependent branching" in text
