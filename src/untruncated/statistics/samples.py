"""What the pages compare: the values of several seeds.

Lower is better, as of an error or a loss, unless a sample says that higher is, as of a return.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from untruncated.statistics.words import number, plus_minus

# A value this many times the median of its sample says more of the mean than all others do.
OUTLYING = 10


@dataclass(frozen=True)
class Sample:
    """One configuration's values, one for each seed; not finite for a seed that has none.

    `lost` says why it has none. `better` says which way is: "min" or "max". The other fields are
    the configuration's columns in the table; None where it has no such thing, or several.
    """

    values: tuple[float, ...]
    label: str = ""
    curve: str = ""
    x: float | None = None
    width: int | None = None
    truncation: int | None = None
    flops: int | None = None
    parameters: int | None = None
    step_size: float | None = None
    at_edge: int | None = None  # 1 or 0
    lost: str = "diverged"
    better: str = "min"

    @property
    def seeds(self) -> int:
        """How many seeds there are, with those that have no value."""
        return len(self.values)

    @property
    def survivors(self) -> tuple[float, ...]:
        """The values of the seeds that have one."""
        return tuple(value for value in self.values if math.isfinite(value))

    @property
    def diverged(self) -> int:
        """How many seeds have no value."""
        return self.seeds - len(self.survivors)

    @property
    def mean(self) -> float:
        """Of the survivors; NaN if there are none."""
        return float(np.mean(self.survivors)) if self.survivors else math.nan

    @property
    def median(self) -> float:
        """Of the survivors; NaN if there are none."""
        return float(np.median(self.survivors)) if self.survivors else math.nan

    @property
    def error(self) -> float:
        """The standard error of the mean; NaN for fewer than two survivors."""
        return float(stats.sem(self.survivors)) if len(self.survivors) > 1 else math.nan

    @property
    def sign(self) -> int:
        """What the values are multiplied by, so that lower is better."""
        return 1 if self.better == "min" else -1

    @property
    def outlying(self) -> bool:
        """Whether a seed is worse than ten times the median: then a mean says little."""
        worst = max((self.sign * value for value in self.survivors), default=-math.inf)
        return worst > OUTLYING * abs(self.median)

    @property
    def ranked(self) -> bool:
        """Whether it is compared by ranks: a seed diverged, or is far from all others."""
        return self.diverged > 0 or self.outlying

    def per(self, size: float) -> "Sample":
        """The values divided by `size`, such as the number of steps that they are sums of."""
        return replace(self, values=tuple(value / size for value in self.values))

    def share(self, low: float, high: float) -> float:
        """The share of seeds whose value is from `low` to `high`."""
        return sum(low <= value <= high for value in self.values) / self.seeds

    def __str__(self) -> str:
        """Mean ± standard error, or median and worst; and how many seeds it leaves out."""
        if self.diverged == self.seeds:
            return f"× (all {self.seeds} seeds {self.lost})"
        text = plus_minus(self.mean, self.error)
        if self.outlying:
            word, end = ("highest", max) if self.better == "min" else ("lowest", min)
            text = f"median {number(self.median)}, {word} {number(end(self.survivors))}"
        return f"{text} ({self.diverged} of {self.seeds} {self.lost})" if self.diverged else text


def best(samples: Iterable[Sample]) -> Sample:
    """The one with the best mean; one with fewer diverged seeds goes first."""
    return min(samples, key=lambda sample: (sample.diverged, sample.sign * sample.mean))


def worst(samples: Iterable[Sample]) -> Sample:
    """The one with the most diverged seeds, among those the one with the worst mean."""
    return max(samples, key=lambda sample: (sample.diverged, sample.sign * sample.mean))
