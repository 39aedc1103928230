"""The tuning stage's objective at the best step size against a swept quantity, a line per curve."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from untruncated.catalogue.objective import Direction
from untruncated.catalogue.programs import better
from untruncated.plots.axes import highest_shown, mark_at_top, objective_axis, swept_axis
from untruncated.plots.style import Look, looks, shades
from untruncated.statistics.rows import by_curve, means

MARKERS = "os^Dv"


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel from its table; lines come in the order of the experiment file."""
    rows = table[(table["stage"] == "tuning") & (table["metric"] == plot["metric"])]
    best = at_best_step_size(rows, better(plot["metric"]))
    best[["mean", "standard_error"]] /= plot["steps"]
    top = highest_shown(best["mean"], plot["metric"])
    for curve, look in _looks(rows).items():
        points = best[best["curve"] == curve].sort_values("x")
        shown, error = points["mean"].where(points["mean"] <= top), points["standard_error"]
        axes.errorbar(
            points["x"],
            shown,
            yerr=[error.fillna(0), np.minimum(error.fillna(0), top - shown)],
            color=look.color,
            marker=look.marker,
            capsize=2,
            label=points["label"].iloc[0],
        )
        mark_at_top(axes, points["x"][points["mean"].isna()], "x", look.color)
        mark_at_top(axes, points["x"][points["mean"] > top], "^", look.color)
    swept_axis(axes, plot["x_label"], "log", np.sort(best["x"].unique()))
    objective_axis(axes, plot["metric"], plot["y_label"])


def at_best_step_size(rows: pd.DataFrame, direction: Direction) -> pd.DataFrame:
    """Mean and standard error over the seeds at the step size with the best mean.

    One diverged seed makes a step size lose, whichever way is better.

    Returns:
        One row per curve and x with columns curve, label, x, step_size, mean (NaN if a seed
        diverged at every step size), standard_error.
    """
    keys = ["curve", "label", "x"]
    summary = means(rows, [*keys, "step_size"])
    summary = summary.sort_values("mean", ascending=direction == "min", kind="stable")
    return summary.groupby(keys, dropna=False, sort=False).head(1).copy()


def _looks(rows: pd.DataFrame) -> dict[str, Look]:
    """Each method's own look or, if all curves are of one, shades from dark to light."""
    methods = {curve: mine["method"].iloc[0] for curve, mine in by_curve(rows)}
    if len(set(methods.values())) == 1:
        markers = (MARKERS[index % len(MARKERS)] for index in range(len(methods)))
        return dict(zip(methods, map(Look, shades(len(methods)), markers), strict=True))
    known = looks(list(methods.values()))
    return {curve: known[method] for curve, method in methods.items()}
