"""Picks a step size from the result of a tuning run."""

from typing import Any

import numpy as np

from untruncated.suite.results import Result


def choose_step_size(tuning: Result, objective: str = "msre") -> dict[str, Any]:
    """The step size with the lowest mean `objective` over the tuning seeds, and how it was found.

    One diverged seed makes a step size lose. If every step size has one, the smallest is taken and
    `all_diverged` says so. `at_edge` says that the best is the smallest or the largest of several,
    so that a wider grid might do better.
    """
    sizes = np.asarray(tuning.axes["step_size"], np.float64)
    scores = tuning.metrics[objective].values.astype(np.float64).mean(axis=1)  # NaN if one diverged
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
