"""Learning curves in bins of equal length, and the averages reported of them."""

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Shaped

from untruncated.results.metric import Metric

CURVE_POINTS = 200
# Steps of all members together in a chunk: enough to hide the cost of a call, few enough for a
# lively progress bar and for a checkpoint within seconds of being asked for: what stops a job on a
# cluster often waits for no more than 30.
CHUNK_STEPS = 100_000
# Operations, by the catalogue's formulas, for which a step counts as one of those. Where loops fill
# the processor's vectors, that many such steps take a tenth of a second; where they do not, seven.
STEP_OPERATIONS = 8_000
# Times too dear that a bin must be to be split.
DEARER = 20


def work_of(operations: float) -> int:
    """How many steps a dear one counts for, so that chunks are the shorter the dearer it is."""
    return max(1, int(operations // STEP_OPERATIONS))


@dataclass(frozen=True)
class Timeline:
    """How a run of `total_steps` is cut into bins of a curve, and into chunks.

    As many equal bins as the steps can be cut into, at most `most_bins`. A chunk divides the run
    too, so that one compiled program does all of it; its steps, times the `members` that advance
    together and the `work` of a dear step, are at most 100,000 if that can be. It is a number of
    whole bins or, if `splits_bins`, a part of one. Parts round a bin's sum in another way, so a
    bin is split only if its steps are too many, or twenty times too dear.
    """

    total_steps: int
    members: int = 1
    most_bins: int = CURVE_POINTS
    splits_bins: bool = False
    work: int = 1

    @property
    def bins(self) -> int:
        """Points of the curve."""
        fitting = range(1, self.most_bins + 1)
        return max(bins for bins in fitting if self.total_steps % bins == 0)

    @property
    def bin_steps(self) -> int:
        """Steps that a point of the curve averages over."""
        return self.total_steps // self.bins

    @property
    def bin_ends(self) -> list[int]:
        """Steps done at the end of each bin: the coordinates of the axis `curve_step`."""
        return [self.bin_steps * (index + 1) for index in range(self.bins)]

    @property
    def chunk_steps(self) -> int:
        """Steps per chunk."""
        most = CHUNK_STEPS // self.members
        longest = max(1, most // self.work)
        if self.splits_bins and self.bin_steps > min(most, DEARER * longest):
            # No shorter than a tenth of what is allowed: a call takes time as well.
            parts = [n for n in _divisors(self.bin_steps) if n >= longest // 10]
            return max((n for n in parts if n <= longest), default=min(parts))
        fitting = [n for n in _divisors(self.bins) if n * self.bin_steps <= longest]
        return self.bin_steps * max(fitting, default=1)

    def record(
        self,
        curve: Float[Array, "*members bins"],
        values: Float[Array, "steps *members"],
        step: Int[Array, ""],
    ) -> Float[Array, "*members bins"]:
        """The curve with the sums of the chunk that starts at `step` filled in."""
        first_bin, length = step // self.bin_steps, min(self.bin_steps, len(values))
        sums = jnp.moveaxis(values.reshape(-1, length, *values.shape[1:]).sum(axis=1), 0, -1)
        if length < self.bin_steps:  # on top of what the bin has so far
            so_far = jax.lax.dynamic_slice_in_dim(curve, first_bin, 1, axis=-1)
            sums += jnp.where(step % self.bin_steps > 0, so_far, 0)
        return jax.lax.dynamic_update_slice_in_dim(curve, sums, first_bin, axis=-1)


def _divisors(number: int) -> set[int]:
    small = [n for n in range(1, math.isqrt(number) + 1) if number % n == 0]
    return {*small, *(number // n for n in small)}


def last_tenth(curve: Shaped[np.ndarray, "*members bins"]) -> Shaped[np.ndarray, "*members late"]:
    """The bins of the last tenth of a run; the last bin if there are fewer than ten."""
    return curve[..., -max(1, curve.shape[-1] // 10) :]


def curve_metrics(
    name: str, curve: Float[np.ndarray, "*members bins"], member_axes: tuple[str, ...]
) -> dict[str, Metric]:
    """Averages of what `name` is, such as `msre`: over the run, its last tenth, and each bin.

    A member that diverged has NaN in the first two, and in the curve from the bin in which it did.
    """
    wide = curve.astype(np.float64)
    return {
        name: Metric(member_axes, wide.mean(axis=-1).astype(curve.dtype)),
        f"{name}_last_tenth": Metric(member_axes, last_tenth(wide).mean(-1).astype(curve.dtype)),
        f"{name}_curve": Metric((*member_axes, "curve_step"), curve),
    }
