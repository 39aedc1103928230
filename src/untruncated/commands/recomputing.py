"""Whether results come out again: the first chunk of some, computed anew and compared.

A run's curves are compared as far as its first chunk goes, or its first chunks where a point of a
curve takes several. A run that says nothing before its end is computed whole, if that is quick.

Another machine rounds in another way, and learning makes a difference of 10⁻⁸ one of some per cent
within thousands of steps; of one seed in hundreds a large one. So single numbers may differ by
`SINGLE`, while a half of them must agree to `TYPICAL`: other random streams, other data or other
equations miss both. What is one number for a whole run must agree to `ALONE`.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from untruncated.basics.errors import SuiteError
from untruncated.basics.messages import tell
from untruncated.catalogue import lookup
from untruncated.experiments.spec import RunSpec
from untruncated.results.metric import Metric
from untruncated.results.result_files import Result
from untruncated.running.execute import built

SINGLE = 0.3
TYPICAL = 0.01
ALONE = 0.05
FEW = 4  # numbers of which no half is asked for
LONGEST = 60.0  # seconds that a run may take to be computed whole
# Steps done when a number was recorded; 0 is before the first.
TIME_AXES = ("curve_step", "trajectory_step", "inner_step")


class Sound(NamedTuple):
    """A result file with which nothing is wrong."""

    path: Path
    spec: RunSpec
    result: Result


class Comparison(NamedTuple):
    """How many numbers of a result were compared, their median difference, and what is wrong."""

    numbers: int
    typical: float
    differences: list[str]


def recompute(sound: Sequence[Sound], count: int) -> bool:
    """Computes the first chunks of `count` runs again; prints how each compares.

    Returns:
        Whether no run differs by more than rounding.
    """
    chosen, skipped = choose(sound, count)
    for reason, names in skipped.items():
        print(f"not recomputed: {len(names)} {', '.join(sorted(set(names)))}: {reason}")
    agree, compared = True, 0
    for number, one in enumerate(chosen, start=1):
        tell(f"recomputing {one.path} ({number} of {len(chosen)})")
        try:
            steps, metrics = _first_chunk(one)
        except SuiteError as error:  # data or a tuning result that is not here
            print(f"not recomputed: {one.path}: {error}")
            continue
        found = compare(one.result, metrics, steps)
        for difference in found.differences:
            tell(f"error: {one.path}: {difference}")
        agree, compared = agree and not found.differences, compared + 1
        print(
            f"recomputed: {one.path}: {steps} steps of {one.spec.fields['program']}, "
            f"{found.numbers} numbers, median difference {found.typical:.0e}"
        )
    print(f"runs recomputed: {compared}, {'all agree' if agree else 'not all agree'}")
    return agree


def choose(sound: Sequence[Sound], count: int) -> tuple[list[Sound], dict[str, list[str]]]:
    """The runs to recompute, spread over programs and over the runs of each; always the same.

    Returns:
        The runs, and the programs of those that cannot be compared by the reason for it.
    """
    groups: dict[str, list[Sound]] = {}
    skipped: dict[str, list[str]] = {}
    for one in sorted(sound, key=lambda one: one.spec.hash):
        program = one.spec.fields["program"]
        if reason := _obstacle(one):
            skipped.setdefault(reason, []).append(program)
        else:
            groups.setdefault(program, []).append(one)
    shares = dict.fromkeys(sorted(groups), 0)
    while sum(shares.values()) < min(count, sum(map(len, groups.values()))):
        for program in shares:
            if sum(shares.values()) < count and shares[program] < len(groups[program]):
                shares[program] += 1
    chosen = [
        groups[program][(2 * place + 1) * len(groups[program]) // (2 * share)]
        for program, share in shares.items()
        for place in range(share)
    ]
    return chosen, skipped


def _obstacle(one: Sound) -> str | None:
    """Why a result cannot be compared with a chunk computed anew, if it cannot."""
    if lookup("program", one.spec.fields["program"], "program").all_cores:
        return "it measures time"
    if _first_point(one.result) is None and not _seconds(one.result) <= LONGEST:
        return f"it says nothing before its end, and takes more than {LONGEST:.0f} seconds"
    return None


def _seconds(result: Result) -> float:
    """What a result says that it took to run; infinite if it does not say."""
    seconds = result.timing.get("run_seconds")
    return float(seconds) if isinstance(seconds, int | float) else np.inf


def _first_point(result: Result) -> int | None:
    """The steps after which the first number of a curve is there; None if there are no curves."""
    ends = [step for axis in TIME_AXES for step in result.axes.get(axis, []) if step > 0]
    return min(ends, default=None)


def _first_chunk(one: Sound) -> tuple[int, dict[str, Metric]]:
    """Steps computed anew, and the program's metrics after them."""
    with built(one.spec, one.path.parent) as program:
        needed = _first_point(one.result)
        needed = program.total_steps if needed is None else min(needed, program.total_steps)
        carry, steps = program.init(), 0
        while steps < needed:
            carry, steps = program.advance(carry), steps + program.chunk_steps
        return steps, program.metrics(carry)


def compare(result: Result, metrics: Mapping[str, Metric], steps: int) -> Comparison:
    """A result's metrics beside those that were computed anew up to `steps`."""
    shared = sorted(metrics.keys() & result.metrics.keys())
    shapes = {
        name: (result.metrics[name].values.shape, np.shape(metrics[name].values)) for name in shared
    }
    differences = [
        f"{name} has shape {here} in the file, {there} recomputed"
        for name, (here, there) in shapes.items()
        if here != there
    ]
    alike = [name for name, (here, there) in shapes.items() if here == there]
    parts = list(_parts(result, {name: metrics[name] for name in alike}, steps))
    differences += [text for part in parts if (text := part.difference())]
    typical = max((float(np.median(part.relative)) for part in parts), default=0.0)
    return Comparison(sum(part.recorded.size for part in parts), typical, differences)


def _parts(result: Result, metrics: Mapping[str, Metric], steps: int) -> Iterator["_Part"]:
    """What both have of each metric.

    Without an axis of time that is what a whole run says, but no average over its curves.
    """
    curves = _first_point(result) is not None
    whole = all(steps >= result.axes[axis][-1] for axis in TIME_AXES if result.axes.get(axis))
    for name, metric in metrics.items():
        axes, recorded = result.metrics[name].axes, result.metrics[name].values
        found = np.asarray(metric.values, np.float64)
        time = next((place for place, axis in enumerate(axes) if axis in TIME_AXES), None)
        if time is not None:
            reached = sum(step <= steps for step in result.axes[axes[time]])
            recorded, found = (part.take(range(reached), time) for part in (recorded, found))
        if recorded.size and (time is not None or (whole and not (curves and axes))):
            coordinates = [(axis, result.axes[axis]) for axis in axes]
            yield _Part(name, coordinates, time, recorded.astype(np.float64), found)


class _Part(NamedTuple):
    """What a result and a computation have of a metric."""

    name: str
    coordinates: list[tuple[str, list]]
    time: int | None
    recorded: Float[np.ndarray, "*shape"]
    found: Float[np.ndarray, "*shape"]

    @property
    def relative(self) -> Float[np.ndarray, "*shape"]:
        """How far they are apart."""
        return _relative(self.recorded, self.found)

    def difference(self) -> str | None:
        """The largest difference, if they differ by more than rounding.

        That is judged of the first points of curves, which it has had least time to change.
        """
        apart = self.relative
        if self.time is not None:
            _, steps = self.coordinates[self.time]
            early = min(1 if steps[0] > 0 else 2, apart.shape[self.time])
            apart = apart.take(range(early), self.time)
        few = apart.size < FEW
        limit = ALONE if few and self.time is None else SINGLE
        if apart.max() <= limit and (few or np.median(apart) <= TYPICAL):
            return None
        place = np.unravel_index(apart.argmax(), apart.shape)
        where = ", ".join(
            f"{axis}={values[index]}"
            for (axis, values), index in zip(self.coordinates, place, strict=True)
        )
        return (
            f"{self.name}{' at ' if where else ''}{where} is {self.recorded[place]:.6g} in the "
            f"file, {self.found[place]:.6g} recomputed"
        )


def _relative(
    recorded: Float[np.ndarray, "*shape"], found: Float[np.ndarray, "*shape"]
) -> Float[np.ndarray, "*shape"]:
    """Differences, relative to what was recorded; infinite where one alone is not finite."""
    known = np.isfinite(recorded)
    size = np.abs(recorded, where=known, out=np.zeros_like(recorded))
    least = 1e-3 * np.median(size[known]) if known.any() else 0.0
    both = known & np.isfinite(found)
    apart = np.abs(recorded - found, where=both, out=np.zeros_like(recorded))
    scale = np.maximum(size, max(least, np.finfo(np.float32).tiny))
    return np.where(both | (~known & ~np.isfinite(found)), apart / scale, np.inf)
