"""When a member of a run diverged: found inside the scan, told afterwards."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from untruncated.results.metric import Metric

NEVER = -1


def first_divergence(
    before: Int[Array, "step_sizes seeds"],
    values: Float[Array, "steps step_sizes seeds"],
    times: Int[Array, " steps"],
) -> Int[Array, "step_sizes seeds"]:
    """The first step whose value is not finite; `before` where there was one already."""
    broken = ~jnp.isfinite(values)
    return first_time(before, broken.any(axis=0), times[jnp.argmax(broken, axis=0)])


def first_time(
    before: Int[Array, "*members"], broken: Bool[Array, "*members"], time: Int[Array, "*members"]
) -> Int[Array, "*members"]:
    """`time` where a member is broken; `before` where it was at another time already."""
    return jnp.where((before == NEVER) & broken, time, before)


def lost_metric(
    axes: tuple[str, ...],
    lost: Int[np.ndarray, "*members"] | int,
    diverged: Bool[np.ndarray, "*members"],
) -> dict[str, Metric]:
    """How many pairs of particles each member's estimates have left out, if any has.

    A member that diverged has none to speak of: all its pairs are lost from then on.
    """
    counts = np.where(diverged, np.nan, np.asarray(lost, float))
    return {"lost_pairs": Metric(axes, counts)} if np.nansum(counts) > 0 else {}


def lost_bins(
    diverged_at: Int[np.ndarray, "step_sizes seeds"], bin_ends: list[int]
) -> Bool[np.ndarray, "step_sizes seeds bins"]:
    """The bins of a curve from which a diverged member has no value.

    A run whose members have all diverged stops early; what was not computed is not zero.
    """
    when = diverged_at[..., None]
    return (when != NEVER) & (np.asarray(bin_ends) > when)


def divergence_records(
    diverged_at: Int[np.ndarray, "step_sizes seeds"],
    step_sizes: list[float],
    seeds: list[int],
    reason: str,
) -> list[dict[str, Any]]:
    """One record per member that diverged."""
    return [
        {
            "step_size": step_sizes[i],
            "seed": seeds[j],
            "step": int(diverged_at[i, j]),
            "reason": reason,
        }
        for i, j in np.argwhere(diverged_at != NEVER)
    ]
