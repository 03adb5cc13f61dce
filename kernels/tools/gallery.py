"""What the programs of the gallery of broken kernels share. Not part of the public interface.

    python program.py               the wrong kernel and the mended one: at two sizes, and on inputs that hurt
    python program.py wrong odd     one of them in one situation or several, with status 1 where it differs from PyTorch

Situations are the author's `own` size, an `odd` one, `hard` inputs, `poison`, which puts NaN around the inputs and into the
outputs and looks at what lies beside these, and `again`, which asks for the same bits. More words: `alone` gives every tensor
an allocation of its own; `blind` compares nothing, for tools that watch; `bits` prints a digest of the output.
"""

import hashlib
import os
import sys

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]

WORDS = sys.argv[1:]
HOW: set[str] = set()  # the words that count for the situation at hand
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
MARGIN, SEVEN = 4096, 7  # so many elements lie beside each tensor, and each of them holds this
TOLERANCES = {torch.float16: (1e-3, 1e-5), torch.float32: (1.3e-6, 1e-5)}  # of torch.testing.assert_close
beside: list[torch.Tensor] = []  # what lies beside the outputs


# --8<-- [start:placed]
def placed(x, outside, apart=False):
    """A copy of a tensor in the middle of a larger one, its rows one behind another or further apart."""
    margin = 0 if "alone" in HOW else MARGIN
    wide = (*x.shape[:-1], 2 * x.shape[-1]) if apart else x.shape
    end = margin + x.numel() * (2 if apart else 1)
    memory = torch.full((end + margin,), outside, dtype=x.dtype, device=DEVICE)
    middle = memory[margin:end].view(wide)[..., : x.shape[-1]]
    middle.copy_(x)
    beside.extend((memory[:margin], memory[end:]))
    return middle


def empty(*shape, dtype=torch.float32):
    """An output that nobody has written: it holds what was there before, here sevens, or NaN as poison."""
    if "alone" in HOW:
        return torch.empty(shape, dtype=dtype, device=DEVICE)
    poison = float("nan") if dtype.is_floating_point else 77
    return placed(torch.full(shape, poison if "poison" in HOW else SEVEN, dtype=dtype), SEVEN)
# --8<-- [end:placed]


# --8<-- [start:hurt]
def hurt(tensors):
    """Inputs that hurt, one change at a time."""
    yield "far above zero", [x + 100 for x in tensors]
    yield "far below zero", [x - 100 for x in tensors]
    if all(x.dtype.is_floating_point for x in tensors):
        yield "one NaN", [torch.where(torch.arange(x.numel()).view(x.shape) == x.numel() - 1, float("nan"), x) for x in tensors]
    if any(x.dim() > 1 for x in tensors):
        yield "rows apart", tensors
# --8<-- [end:hurt]


def difference(found, wanted):
    """How a result differs from PyTorch's, beyond the tolerances of its dtype; nothing where it does not."""
    relative, absolute = TOLERANCES.get(found.dtype, (0.0, 0.0))
    wanted = wanted.to(found.dtype).double()
    found = found.cpu().double()
    off = (found - wanted).abs()
    close = wanted.isfinite() & (off <= absolute + relative * wanted.abs())
    bad = ~(close | (found == wanted) | (found.isnan() & wanted.isnan()))
    count = int(bad.sum())
    return f"{count} of {bad.numel()} elements differ, by up to {float(off[bad].max()):.2g}" if count else ""


def lay(tensors, apart):
    """Copies of the inputs where the kernel will find them."""
    fillers = [float("nan") if "poison" in HOW and x.dtype.is_floating_point else SEVEN for x in tensors]
    laid = [placed(x, filler, apart and x.dim() > 1) for x, filler in zip(tensors, fillers, strict=True)]
    beside.clear()
    return laid


def outcome(run, variant, tensors, expected, apart=False):
    """Run one variant on copies of these inputs, and say how that differs from PyTorch in float64."""
    out = run(variant, *lay(tensors, apart))
    if "bits" in HOW:
        print("bits", digest(out))
    if "blind" in HOW:
        return "" if out.cpu().numel() else "no output"  # whoever watches sees this being read
    wanted = expected(*(x.double() if x.dtype.is_floating_point else x for x in tensors))
    written = sum(int((part != SEVEN).sum()) for part in beside) if "poison" in HOW else 0
    return difference(out, wanted) or (f"{written} elements beside the output differ from before" if written else "")


def digest(out):
    return hashlib.sha256(out.cpu().numpy().tobytes()).hexdigest()


def again(run, variant, tensors):
    """Whether a variant gives the same bits each time."""
    times = 20 if sum(x.numel() for x in tensors) < 2**24 else 3
    first, *others = [digest(run(variant, *lay(tensors, False))) for _ in range(times)]
    differ = sum(other != first for other in others)
    return f"{differ} of {len(others)} runs differ from the first in their bits" if differ else ""


def ask(run, variant, inputs, expected, sizes, situation):
    """One variant in one situation, in words; nothing where it agrees with PyTorch."""
    torch.manual_seed(0)
    tensors = inputs(sizes["own" if situation == "own" else "odd"])
    HOW.clear()
    HOW.update(WORDS if situation == "poison" else [word for word in WORDS if word != "poison"])
    if situation == "again":
        return again(run, variant, tensors)
    for name, changed in hurt(tensors) if situation == "hard" else [("", tensors)]:
        if told := outcome(run, variant, changed, expected, name == "rows apart"):
            return f"{name}: {told}" if name else told
    return ""


def show(run, wrong, right, inputs, expected, own, odd):
    """Both variants, or the one that the command line asks for."""
    sizes, variants = {"own": own, "odd": odd}, {"wrong": wrong, "right": right}
    if WORDS:
        variant, *situations = [word for word in WORDS if word not in ("alone", "blind", "bits")]
        found = []
        for situation in situations:
            found.append(ask(run, variants[variant], inputs, expected, sizes, situation))
            print(f"{situation}: {found[-1] or ('it ran' if 'blind' in HOW else 'agrees')}", flush=True)
        sys.exit(1 if any(found) else 0)
    lines = {}
    for variant in (right, wrong):  # this order, because after a crash nothing runs
        for situation in ("own", "odd", "hard"):
            try:
                told = ask(run, variant, inputs, expected, sizes, situation)
            except Exception as error:
                told = str(error.__cause__ or error).splitlines()[0]
            lines[variant, situation] = told or "agrees with PyTorch"
    places = {"own": f"at the author's {text(own)}", "odd": f"at {text(odd)}", "hard": "on inputs that hurt"}
    for title, variant in (("wrong", wrong), ("mended", right)):
        for situation, place in places.items():
            print(f"{title}, {place}: {lines[variant, situation]}")
    if any(line.startswith("CUDA error") for line in lines.values()):
        sys.stdout.flush()
        os._exit(0)  # an end in good order asks the GPU, which no longer answers


def text(size):
    return " by ".join(map(str, size)) if isinstance(size, tuple) else str(size)
