"""What a trace says that its formula does not, in words; and the faults that must be found in every trace."""

import copy
import importlib
import itertools
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.records.formulas import Formula, Step

Trace = dict[str, Any]
FOLDER = Path(__file__).parent / "formulas"


def formulas() -> dict[str, Formula]:
    """Every formula by the name of its trace, `<chapter>/<run>`."""
    found = {}
    for path in sorted(FOLDER.glob("[a-z]*.py")):
        module = importlib.import_module(f"tests.records.formulas.{path.stem}")
        found |= {f"{path.stem}/{name}": formula for name, formula in module.FORMULAS.items()}
    return found


def programs(formula: Formula) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, formula.grid)))


def unrolled(coded: list[list[Any]]) -> list[list[Any]]:
    """Write out [times, shift, [run, ...]]."""
    runs = []
    for item in coded:
        if isinstance(item[2], list):
            for turn in range(item[0]):
                runs += [[*run[:-3], run[-3] + turn * item[1], *run[-2:]] for run in item[2]]
        else:
            runs.append(list(item))
    return runs


def expand(coded: list[list[Any]]) -> np.ndarray:
    """The numbers that runs stand for; of lanes, the offsets."""
    return np.concatenate([first + step * np.arange(count) for first, count, step in (run[-3:] for run in unrolled(coded))])


def states(lanes: list[list[Any]]) -> np.ndarray:
    return np.repeat([run[0] for run in unrolled(lanes)], [run[2] for run in unrolled(lanes)])


def values(event: Trace) -> np.ndarray:
    """The values of an event; NaN where they are undefined."""
    return np.array([float(text.replace("?", "nan")) for text in event["values"].split()])


def is_access(event: Trace) -> bool:
    return event["op"] in ("load", "store") or event["op"].startswith("atomic_")


def step(event: Trace) -> str:
    if is_access(event):
        return f"{event['op']} {event['tensor']}"
    return f"loop {event['name']}" if event["op"] == "loop" else event.get("name", event["op"])


@cache
def expected(formula: Formula) -> list[list[Step]]:
    return [list(formula.steps(*program)) for program in programs(formula)]


def wrong(event: Trace, truth: Step, elements: dict[str, int | np.ndarray]) -> bool:
    """Does an event differ from a step of the formula?"""
    name, *given = truth
    if step(event) != name:
        return True
    if "lanes" in event:
        if not given:
            return True
        offsets = np.asarray(given[0])
        mask = np.broadcast_to(given[1] if len(given) > 1 else True, offsets.shape)
        own = elements[event["tensor"]]
        inside = np.isin(offsets, np.arange(own) if isinstance(own, int) else own)
        said = np.where(mask, np.where(inside, "on", "outside"), "masked").ravel()
        shape = [] if offsets.size == 1 else list(offsets.shape)
        same = np.array_equal(expand(event["lanes"]), offsets.ravel()) and np.array_equal(states(event["lanes"]), said)
        return not same or event["shape"] != shape
    if "runs" in event:
        return not given or not np.array_equal(expand(event["runs"]), np.ravel(given[0]).astype(int))
    if given and "values" in event:
        return not np.allclose(values(event), np.ravel(given[0]), rtol=1e-3, equal_nan=True)
    return False


def faults(formula: Formula, found: Trace) -> list[str]:
    """What a trace says that the formula does not, in words."""
    said = [] if found["grid"] == list(formula.grid) else ["the grid"]
    if [program["id"] for program in found["programs"]] != [list(program) for program in programs(formula)]:
        return [*said, "the programs"]
    for program, truth in zip(found["programs"], expected(formula), strict=True):
        steps = [step(event) for event in program["events"]]
        if steps != [name for name, *_ in truth]:
            said.append(f"the steps of program {program['id']}: {' '.join(steps)}")
            continue
        for event, one in zip(program["events"], truth, strict=True):
            if wrong(event, one, formula.elements):
                said.append(f"{step(event)} in program {program['id']}")
    return said


def shifts(event: Trace) -> Iterator[Trace]:
    """The event with its first offset or number shifted by one, and with one lane masked that was not, or the reverse."""
    for field in ("runs", "lanes"):
        if field in event:
            shifted = copy.deepcopy(event)
            shifted[field] = unrolled(event[field])
            shifted[field][0][-3] += 1
            yield shifted
    if is_access(event):
        flipped = copy.deepcopy(event)
        runs = unrolled(event["lanes"])
        (state, first, count, step), *rest = runs[::-1]
        other = "on" if state == "masked" else "masked"
        kept = [[state, first, count - 1, step]] if count > 1 else []
        flipped["lanes"] = [*rest[::-1], *kept, [other, first + (count - 1) * step, 1, 0]]
        yield flipped


def unnoticed(formula: Formula, found: Trace) -> list[str]:
    """Every event that could be shifted without the formula telling."""
    missed, tried = [], 0
    for program, truth in zip(found["programs"], expected(formula), strict=True):
        for event, one in zip(program["events"], truth, strict=True):
            for shifted in shifts(event):
                tried += 1
                if not wrong(shifted, one, formula.elements):
                    missed.append(f"{step(event)} in program {program['id']}")
    return missed if tried >= 4 * len(found["programs"]) else [*missed, "too few events"]
