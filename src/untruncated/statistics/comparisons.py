"""Tests that say which of two samples is better, and how sentences report them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from untruncated.statistics.samples import Sample
from untruncated.statistics.words import count, listing, p_value

SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class Comparison:
    """Two samples, and the probability `p` of as large a difference if there were none.

    `p` is rounded to two digits, as it is printed, so that words and numbers agree; it is NaN
    where no test is possible. `sign` is negative if the first is better.
    """

    first: Sample
    second: Sample
    p: float
    sign: float

    @property
    def verdict(self) -> str:
        """ahead, level, behind; untested."""
        if math.isnan(self.p):
            return "untested"
        if self.p >= SIGNIFICANCE:
            return "level"
        return "ahead" if self.sign < 0 else "behind"

    @property
    def evidence(self) -> str:
        """The p-value in words."""
        return "too few seeds for a test" if math.isnan(self.p) else p_value(self.p)

    def __str__(self) -> str:
        """ahead of, level with, behind, as it stands in a sentence."""
        return {
            "ahead": "ahead of",
            "level": "level with",
            "behind": "behind",
            "untested": "not tested against",
        }[self.verdict]


def compare(first: Sample, second: Sample) -> Comparison:
    """Welch's t-test, two-sided, over seeds; a rank test where a seed diverged or is far off.

    A seed without a value counts as worse than every other, which a mean of the rest would hide.
    """
    return compare_each(first, second)[0]


def compare_each(
    first: Sample | Sequence[Sample], second: Sample | Sequence[Sample]
) -> list[Comparison]:
    """Several comparisons that one sentence makes, with p-values corrected by Holm's method.

    Raises:
        ValueError: Both are sequences, of different lengths; or lower is better of the one and
            higher of the other.
    """
    pairs = _pairs(first, second)
    for a, b in pairs:
        if a.better != b.better:
            raise ValueError(
                f"samples of which {a.better} and {b.better} is better cannot be compared"
            )
    tests = [_ranks(a, b) if a.ranked or b.ranked else _welch(a, b) for a, b in pairs]
    corrected = holm([p for p, _ in tests])
    return [
        Comparison(a, b, _rounded(p), sign)
        for (a, b), p, (_, sign) in zip(pairs, corrected, tests, strict=True)
    ]


def holm(ps: Sequence[float]) -> list[float]:
    """p-values that hold for all of several tests together (Holm 1979); NaN stays."""
    order = sorted((p, index) for index, p in enumerate(ps) if not math.isnan(p))
    corrected, largest = list(ps), 0.0
    for place, (p, index) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * p))
        corrected[index] = largest
    return corrected


def ratios(first: Sample | Sequence[Sample], second: Sample | Sequence[Sample]) -> list[float]:
    """How many times the mean of each first sample is that of its partner."""
    return [a.mean / b.mean for a, b in _pairs(first, second)]


def tally(comparisons: Sequence[Comparison], name: str = "", places: Sequence[str] = ()) -> str:
    """Where the first is ahead, level and behind: "ahead at n = 8 and 16 (p ≤ 0.01), level at …".

    Args:
        comparisons: At least one.
        name: What x is, e.g. n; with it the places are the first samples' x.
        places: What to call each comparison, instead of the value of x.
    """
    names = list(places) or [_x(comparison) for comparison in comparisons]
    parts = []
    for verdict in ("ahead", "level", "behind", "untested"):
        mine = [i for i, c in enumerate(comparisons) if c.verdict == verdict]
        if mine:
            where = [names[i] for i in mine]
            parts.append(
                f"{_at(verdict, where, name, len(comparisons))} ({_bound(comparisons, mine)})"
            )
    return "; ".join(parts)


def _at(verdict: str, where: list[str], name: str, total: int) -> str:
    if name and len(where) == total > 1:
        return f"{verdict} at every {name}"
    return f"{verdict} at {f'{name} = ' if name else ''}{listing(where)}"


def _x(comparison: Comparison) -> str:
    """The swept value; a curve that lies flat has none of its own."""
    first, second = comparison.first.x, comparison.second.x
    return count(second if first is None else first)


def _bound(comparisons: Sequence[Comparison], indices: list[int]) -> str:
    """The weakest p-value of comparisons with one verdict."""
    group = [comparisons[i] for i in indices]
    if len(group) == 1 or group[0].verdict == "untested":
        return group[0].evidence
    if group[0].verdict == "level":
        least = min(c.p for c in group)
        return p_value(least).replace("=", "≥" if least < 1 else "=")
    return p_value(max(c.p for c in group)).replace("=", "≤")


def _pairs(
    first: Sample | Sequence[Sample], second: Sample | Sequence[Sample]
) -> list[tuple[Sample, Sample]]:
    """Each of one side with its partner on the other, or with the other side's only sample."""
    if isinstance(first, Sample) and isinstance(second, Sample):
        return [(first, second)]
    firsts = [first] * len(second) if isinstance(first, Sample) else list(first)
    seconds = [second] * len(firsts) if isinstance(second, Sample) else list(second)
    if len(firsts) != len(seconds):
        raise ValueError(f"{len(firsts)} samples cannot be compared with {len(seconds)}")
    return list(zip(firsts, seconds, strict=True))


def _welch(first: Sample, second: Sample) -> tuple[float, float]:
    sign = first.sign * (first.mean - second.mean)
    if min(first.seeds, second.seeds) < 2:
        return math.nan, sign
    if not np.ptp(first.values) and not np.ptp(second.values):
        # without any spread the statistic is 0/0 or infinite
        return (0.0 if sign else 1.0), sign
    return float(stats.ttest_ind(first.values, second.values, equal_var=False).pvalue), sign


def _ranks(first: Sample, second: Sample) -> tuple[float, float]:
    """Mann and Whitney's test, with a seed that has no value behind every other."""
    a, b = (_losses(sample) for sample in (first, second))
    if min(a.size, b.size) < 2:
        return math.nan, 0.0
    if np.unique([*a, *b]).size == 1:
        return 1.0, 0.0
    test = stats.mannwhitneyu(a, b)
    return float(test.pvalue), float(test.statistic) - a.size * b.size / 2


def _losses(sample: Sample) -> Float[np.ndarray, " seeds"]:
    values = np.asarray(sample.values, float)
    return np.where(np.isfinite(values), sample.sign * values, np.inf)


def _rounded(p: float) -> float:
    return p if math.isnan(p) else float(f"{p:.1e}")
