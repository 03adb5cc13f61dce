"""The minifier cuts a model down to the operation that a backend of PyTorch's, made for such tests, gets wrong."""
import os
import re

# --8<-- [start:model]
import torch
import torch._dynamo


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 16), torch.nn.Linear(16, 8)

    def forward(self, x):
        x = torch.nn.functional.layer_norm(self.first(x), (16,))
        x = torch.relu(x) * 0.5
        x = torch.sigmoid(self.second(x))
        return (x * x).sum(1)
# --8<-- [end:model]


# --8<-- [start:minified]
import contextlib
import io
import subprocess
import sys
import tempfile
from pathlib import Path

options = {"repro_after": "dynamo", "repro_level": 4, "debug_dir_root": "debug"}  # as TORCHDYNAMO_REPRO_AFTER, _LEVEL
compiled = torch.compile(Model(), backend="relu_accuracy_error_TESTING_ONLY")
quiet = io.StringIO()
with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(quiet):
    with torch._dynamo.config.patch(options):
        try:
            compiled(torch.randn(4, 8))
        except torch._dynamo.exc.BackendCompilerFailed as error:
            message = str(error).splitlines()[1]
    (launcher,) = Path("debug").rglob("minifier_launcher.py")
    subprocess.run([sys.executable, str(launcher)], capture_output=True, check=True)
    before, after = launcher.read_text(), Path("repro.py").read_text()
print(message)
#> AccuracyError: Bad accuracy detected.
# --8<-- [end:minified]
for title, text in (("before:", before), ("after:", after)):
    body = text[text.index("def forward") : text.index("mod = Repro()")].splitlines()[1:]
    shown = [line for line in body if " = " in line and " = L_" not in line]
    print(title, *[re.sub(r"(_modules|_parameters|;.*)", "", line) for line in shown], sep="\n")
assert "relu" in after and "layer_norm" not in after
