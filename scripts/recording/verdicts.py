"""What a tool's words and a process's end say of a kernel of the gallery, without anybody's judgment.

A tool is asked about the wrong kernel and about the mended one. Each answer is a verdict and the line of the tool's own
words that decided it: `notices`, `silent`, `refuses` (the compiler), `hangs` (no end within the limit) or `cannot`, with
the reason. If a tool notices something in the mended kernel, that is a false alarm. The standard library alone.
"""

import re
from typing import NamedTuple

SILENT, NOTICES, REFUSES, HANGS, CANNOT = "silent", "notices", "refuses", "hangs", "cannot"
AGREES = "agrees"
# A line that says nothing about the kernel.
NOISE = re.compile(r"^(nanobind:| - (leaked|\.\.\.)|See https?:|\s*\^*\s*$|Compile with `|Search for `|CUDA kernel errors)")
REFUSAL = re.compile(r"^triton\.(?:compiler|runtime)\.errors\.(?!OutOfResources)", re.MULTILINE)
ASSERTED = re.compile(r"Assertion `(.+?)` failed")
DEVICE = re.compile(r"(CUDA error: .+|Triton Error \[CUDA\]: .+|an illegal memory access was encountered|misaligned address)")
# What varies from run to run and tells a reader nothing.
VARIES = (
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
    (re.compile(r"(?:/[\w.+-]+)+/(?=[\w.+-]+\.\w+)"), ""),
    (re.compile(r"\(/?(?:[\w.+-]+/)+\)"), ""),
    (re.compile(r"\btmp[a-z0-9_]{8}\b"), "tmp…"),
)
LONGEST = 240  # letters of a line that is kept


class Verdict(NamedTuple):
    verdict: str
    said: str


class Ended(NamedTuple):
    """How a process ended: its status, None where it had to be stopped, and what it printed."""

    status: int | None
    out: str
    err: str


def plain(line: str) -> str:
    for pattern, instead in VARIES:
        line = pattern.sub(instead, line)
    line = line.strip()
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def last_words(text: str) -> str:
    """The last line that says something."""
    lines = [line for line in text.splitlines() if not NOISE.match(line)]
    return plain(lines[-1]) if lines else "no words"


def crash(done: Ended) -> Verdict:
    """A process that ended with an error of its own: the GPU's, which everybody sees, or another one, which says nothing here."""
    if found := DEVICE.findall(done.err + done.out):
        return Verdict(NOTICES, plain(found[0]))
    return Verdict(CANNOT, f"the run ended with: {last_words(done.err or done.out)}")


def refused_or_crash(done: Ended) -> Verdict:
    """A kernel that Triton does not take, or a process that ended otherwise."""
    return Verdict(REFUSES, last_words(done.err)) if REFUSAL.search(done.err) else crash(done)


def of_values(done: Ended, situation: str) -> Verdict:
    """A comparison with PyTorch in one situation, of a run that may have had several."""
    said = re.search(rf"^{situation}: (.+)$", done.out, re.MULTILINE)
    if said:
        return Verdict(SILENT if said[1] == AGREES else NOTICES, plain(said[1]))
    if done.status is None:
        return Verdict(HANGS, "it did not end")
    return refused_or_crash(done)


def worst(*verdicts: Verdict) -> Verdict:
    """Of several situations the first in which something was noticed, or else could not be asked, or else the first."""
    return min(verdicts, key=lambda each: (each.verdict == SILENT, each.verdict == CANNOT))


def of_page(answer: dict, situations: tuple[str, ...]) -> Verdict:
    """What the page's runtime says: an error of its own, or what the program printed."""
    error, out = answer["done"]["error"], "\n".join(answer["out"])
    if error and error["type"] != "SystemExit":
        if error["type"] == "Stopped":
            return Verdict(HANGS, "it did not end")
        outside = error["type"] == "OutsideOfTensors"
        return Verdict(NOTICES if outside else REFUSES, plain(f"{error['type']}: {error['message']}"))
    return worst(*(of_values(Ended(1, out, ""), situation) for situation in situations))


def of_compiler(done: Ended) -> Verdict:
    """The compiler's own word: a refusal, a warning, or nothing."""
    if done.status is None:
        return Verdict(HANGS, "it did not end")
    warned = re.findall(r"^warned: (.+)$", done.err, re.MULTILINE)
    if done.status == 0:
        return Verdict(NOTICES, plain(warned[0])) if warned else Verdict(SILENT, "it compiled")
    return refused_or_crash(done)


def of_sanitizer(done: Ended) -> Verdict:
    """Compute Sanitizer: the count of errors in its summary, and the first line that names one."""
    if done.status is None:
        return Verdict(HANGS, "it did not end")
    lines = [line[9:].strip() for line in (done.out + done.err).splitlines() if line.startswith("=========")]
    counts = [int(count) for line in lines for count in re.findall(SUMMARY, line)]
    if not counts:
        return Verdict(CANNOT, f"it gave no summary: {last_words(done.err or done.out)}")
    if sum(counts):
        return Verdict(NOTICES, plain(next((line for line in lines if NAMES.search(line)), lines[-1])))
    if done.status:
        return refused_or_crash(done)
    return Verdict(SILENT, plain(lines[-1]))


# How the four tools end what they say (racecheck counts hazards, and calls the certain ones errors), and how they name what they
# found.
SUMMARY = r"(?:ERROR SUMMARY: |RACECHECK SUMMARY: \d+ hazards? displayed \()(\d+) errors?(?:$|,)"
NAMES = re.compile(r"^(Invalid|Uninitialized|Error: |Barrier error|Divergent|Host API|Program hit)|hazard")


def of_instrumented(done: Ended) -> Verdict:
    """What Triton's own sanitizers, and its debug mode, put into a kernel: assertions, which say what they found."""
    found = ASSERTED.findall(done.out + done.err)
    if found:
        return Verdict(NOTICES, plain(found[0]))
    if done.status is None:
        return Verdict(HANGS, "it did not end")
    return Verdict(SILENT, "no assertion failed") if done.status == 0 else refused_or_crash(done)


def of_bits(done: Ended, other: Ended) -> Verdict:
    """FPSan has no words: the bits of two runs, which agree where the arithmetic is the same."""
    for each in (done, other):
        if each.status is None:
            return Verdict(HANGS, "it did not end")
        if each.status:
            return refused_or_crash(each)
    mine, theirs = (re.findall(r"^bits (\w+)$", each.out, re.MULTILINE) for each in (done, other))
    if not mine or not theirs:
        return Verdict(CANNOT, "the run printed no bits")
    return Verdict(SILENT, "the same bits") if mine == theirs else Verdict(NOTICES, "other bits than the mended kernel's")
