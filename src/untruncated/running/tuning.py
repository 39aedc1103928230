"""Picks a step size from the result of a tuning run."""

from typing import Any

import numpy as np
from jaxtyping import Float

from untruncated.basics.errors import ResultError
from untruncated.results.result_files import Result

CLOSE = 0.05


def choose_step_size(tuning: Result, objective: str = "msre") -> dict[str, Any]:
    """The step size with the lowest mean `objective` over the tuning seeds, and how it was found.

    One diverged seed makes a step size lose. If every step size has one, the smallest is taken and
    `all_diverged` says so. `at_edge` says that the best is the smallest or the largest of several,
    so that a wider grid might do better.

    Raises:
        ResultError: It has no `objective`, or step sizes that are no numbers.
    """
    scores = _scores(tuning, objective)
    try:
        sizes = np.asarray(tuning.axes["step_size"], np.float64)
    except (TypeError, ValueError) as error:
        raise ResultError(
            f"the tuning result has step sizes that are no numbers: {error}"
        ) from error
    if not np.isfinite(scores).any():
        chosen, all_diverged = int(np.argmin(sizes)), True
    else:
        chosen, all_diverged = (
            int(np.nanargmin(np.where(np.isfinite(scores), scores, np.nan))),
            False,
        )
    at_edge = sizes.size > 1 and sizes[chosen] in (sizes.min(), sizes.max())
    return {
        "step_size": float(sizes[chosen]),
        "at_edge": bool(at_edge),
        "all_diverged": all_diverged,
    }


def contradiction(final: Result, tuning: Result, objective: str = "msre") -> str | None:
    """Says that a final run was made with another step size than its tuning result gives, if so."""
    made, chosen = final.choices.get("step_size"), choose_step_size(tuning, objective)["step_size"]
    if made == chosen:
        return None
    return f"made with step size {made}, where its tuning result now gives {chosen}"


def is_close(tuning: Result, objective: str = "msre") -> bool:
    """Whether a second step size is within 5 % of the best, so that five seeds do not tell them
    apart."""
    scores = np.sort(_scores(tuning, objective))[:2]  # NaN stands last
    return bool(np.isfinite(scores).all() and scores.size > 1) and bool(
        scores[1] <= scores[0] + CLOSE * abs(scores[0])
    )


def _scores(tuning: Result, objective: str) -> Float[np.ndarray, " step_sizes"]:
    """The mean over the seeds at each step size; NaN where one diverged."""
    metric = tuning.metrics.get(objective)
    if metric is None or metric.axes != ("step_size", "seed") or not metric.values.size:
        raise ResultError(f"the tuning result has no {objective} by step size and seed")
    return metric.values.astype(np.float64).mean(axis=1)
