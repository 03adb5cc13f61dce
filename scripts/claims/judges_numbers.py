"""Claims about what comes out: precision, rounding, messages."""

import math
import re

from scripts.claims.evidence import Evidence, Verdict
from scripts.claims.verdicts import FALSE, TRUE, TRUE_IF, of_each, shares


def dot_is_matmul(e: Evidence) -> Verdict:
    """True where a float32 product by `tl.dot` with its default is as near to float64 as PyTorch's, within a factor of ten,
    at every recorded depth; true if told so where another of its ways is."""
    depths = e.figures("precision/ways")["normal"].values()
    ways = ("tf32", "ieee", "tf32x3", "bf16x6", "bf16x3")
    worse = {way: max(depth[way]["whole"] / depth["eager_ieee"]["whole"] for depth in depths) for way in ways}
    near = [way for way in ways if worse[way] <= 10]
    verdict = TRUE if "tf32" in near else TRUE_IF if near else FALSE
    errors = {way: max(depth[way]["whole"] for depth in depths) for way in (*ways, "eager_tf32")}
    figures = {"exact": errors["ieee"], "three": errors["tf32x3"], "rounded": errors["eager_tf32"], "error": errors["tf32"]}
    return Verdict(verdict, figures | {"ways": " or ".join(f"`{way}`" for way in near)})


def sum_in_float32(e: Evidence) -> Verdict:
    """True where sums kept in float16 lose at least as much as half a digit of float16 more than sums kept in float32, at the
    longest recorded depth."""
    depths = e.figures("precision/ways")["normal"]
    longest = depths[max(depths, key=int)]
    worse = longest["fp16_sums"]["whole"] / longest["fp16"]["whole"]
    return Verdict(TRUE if worse > 3 else FALSE, {"worse": worse, "depth": int(max(depths, key=int))})


def python_quotient(e: Evidence) -> Verdict:
    """True where the compiled kernel divides negative whole numbers as Python does."""
    lines = dict(line.split(": ", 1) for line in e.output("errors/negative_quotient").splitlines() if ": [" in line)
    ours, python = (re.findall(r"-?\d+", lines[who]) for who in ("kernel", "Python"))
    differ = sum(a != b for a, b in zip(ours, python, strict=True))
    return Verdict(FALSE if differ else TRUE, {"differ": differ, "cases": len(ours)})


def loop_variable_lives(e: Evidence) -> Verdict:
    """True where a loop's variable, stored after the loop, is the last that was stored inside it."""
    inside, after = e.numbers("patterns/loop_variable", r"stored in the loop: (\d+), stored after it: (\d+)")[0]
    return Verdict(TRUE if inside == after else FALSE, {"inside": inside, "after": after})


def identical_gradients(e: Evidence) -> Verdict:
    """True where our gradients and PyTorch's have the same error to float64, digit for digit, in every recorded case; true if
    within a tolerance where each of ours is at most ten times PyTorch's, or below one part in a million."""
    found = [case for case in e.figures("trust/errors")["errors"].values()]
    pairs = [(ours, theirs) for case in found for ours, theirs in zip(case["ours"][1:], case["theirs"][1:], strict=True)]
    same = [ours == theirs for ours, theirs in pairs]
    near = all(ours <= max(10 * theirs, 1e-6) for ours, theirs in pairs)
    verdict = TRUE if all(same) else TRUE_IF if near else FALSE
    worse = max((ours / theirs if theirs else math.inf for ours, theirs in pairs if ours != theirs), default=1.0)
    return Verdict(verdict, shares(same) | {"most": max(ours for ours, _ in pairs), "worse": worse})


def messages_help(e: Evidence) -> Verdict:
    """True where the newest compiler says something to nine of ten programs of the error index, with a caret under the line
    that is the mistake; true if it places its caret where it does so for half of those to which it says something."""
    newest = {name: list(e.said(name).values())[-1] for name in e.names("messages")}
    loud = [text for text in newest.values() if text]
    placed = [text for text in loud if re.search(r"# the mistake\n *\^", text)]
    verdict = TRUE if len(placed) >= 0.9 * len(newest) else TRUE_IF if loud and len(placed) >= 0.5 * len(loud) else FALSE
    figures = {"programs": len(newest), "loud": len(loud), "silent": len(newest) - len(loud), "placed": len(placed)}
    return Verdict(verdict, figures)


def debugging_is_easy(e: Evidence) -> Verdict:
    """True where the interpreter, the usual first tool, notices every wrong kernel of the gallery that it can run; true if it
    notices the mistake where it notices some."""
    said = [e.record("gallery", name, "cpu")["cells"]["interpreter"]["wrong"][0] for name in e.names("noticed")]
    found = [verdict in ("notices", "refuses") for verdict in said if verdict != "cannot"]
    return Verdict(of_each(found), shares(found))


def prints_are_slow(e: Evidence) -> Verdict:
    """True where a print makes a kernel slower by more than 5 % even if nothing is ever printed; true if something is printed
    where only that does."""
    found = e.figures("debugging/print_timed")
    never, ways = found["ways"]["never"], found["ways"]
    ratio = {way: ways[way]["us"] / never["us"] for way in ("silent", "one", "all")}
    verdict = TRUE if ratio["silent"] > 1.05 else TRUE_IF if ratio["one"] > 1.05 else FALSE
    sizes = {"lines": ways["one"]["arrived"], "few": found["few"], "length": found["length"]}
    lost = {"arrived": ways["all"]["arrived"] / max(ways["all"]["written"], 1)}
    return Verdict(verdict, ratio | sizes | lost | {"more": ways["silent"]["registers"] - never["registers"]})
