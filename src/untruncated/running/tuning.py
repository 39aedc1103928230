"""Picks a step size from the result of a tuning run."""

from typing import Any

import numpy as np
from jaxtyping import Float

from untruncated.basics.errors import ResultError
from untruncated.catalogue.objective import Objective
from untruncated.results.result_files import Result

CLOSE = 0.05


def choose_step_size(tuning: Result, objective: Objective) -> dict[str, Any]:
    """The step size with the best mean of the objective over the tuning seeds, and how it was
    found.

    One diverged seed makes a step size lose. If every step size has one, the smallest is taken and
    `all_diverged` says so. `at_edge` says that the best is the smallest or the largest of several,
    so that a wider grid might do better.

    Raises:
        ResultError: It has no such metric, or step sizes that are no numbers.
    """
    losses = _losses(tuning, objective)
    try:
        sizes = np.asarray(tuning.axes["step_size"], np.float64)
    except (TypeError, ValueError) as error:
        raise ResultError(
            f"the tuning result has step sizes that are no numbers: {error}"
        ) from error
    all_diverged = bool(np.isnan(losses).all())
    chosen = int(np.argmin(sizes) if all_diverged else np.nanargmin(losses))
    at_edge = sizes.size > 1 and sizes[chosen] in (sizes.min(), sizes.max())
    return {
        "step_size": float(sizes[chosen]),
        "at_edge": bool(at_edge),
        "all_diverged": all_diverged,
    }


def contradiction(final: Result, tuning: Result, objective: Objective) -> str | None:
    """Says that a final run was made with another step size than its tuning result gives, if so."""
    made, chosen = final.choices.get("step_size"), choose_step_size(tuning, objective)["step_size"]
    if made == chosen:
        return None
    return f"made with step size {made}, where its tuning result now gives {chosen}"


def is_close(tuning: Result, objective: Objective) -> bool:
    """Whether a second step size is within 5 % of the best, so that five seeds do not tell them
    apart."""
    best = np.sort(_losses(tuning, objective))[:2]  # NaN stands last
    return best.size > 1 and bool(best[1] <= best[0] + CLOSE * abs(best[0]))


def _losses(tuning: Result, objective: Objective) -> Float[np.ndarray, " step_sizes"]:
    """The mean over the seeds at each step size, of which the lowest is best; NaN where one
    diverged, whichever way is better."""
    metric = tuning.metrics.get(objective.name)
    if metric is None or metric.axes != ("step_size", "seed") or not metric.values.size:
        raise ResultError(f"the tuning result has no {objective.name} by step size and seed")
    values = metric.values.astype(np.float64)
    known = np.isfinite(values).all(axis=1)
    return np.where(known, objective.sign * values.mean(axis=1), np.nan)
