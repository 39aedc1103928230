"""The objective at every step size of a tuning stage, one line per configuration."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.axes import highest_shown, objective_axis, objective_scale, swept_axis
from untruncated.plots.marks import Lost, lost, stack_at_top
from untruncated.plots.style import SERIES, Look, shades
from untruncated.statistics.rows import means

MARKERS = "os^Dv<>PX*"


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel from its table: shades from the smallest layer to the largest.

    Layers of one size come in the order of the experiment file, in unlike colours.
    """
    metric = plot["metric"]
    rows = table[(table["stage"] == "tuning") & (table["metric"] == metric)]
    summary = means(rows, ["curve", "label", "step_size"])
    top = highest_shown(summary["mean"], metric)
    marks: list[Lost] = []
    for curve, look in _looks(rows).items():
        points = summary[summary["curve"] == curve].sort_values("step_size")
        shown = points["mean"].where(points["mean"] <= top)
        error = points["standard_error"].fillna(0)
        axes.errorbar(
            points["step_size"],
            shown,
            yerr=[error, np.minimum(error, top - shown)],
            color=look.color,
            marker=look.marker,
            capsize=2,
            label=points["label"].iloc[0],
        )
        marks += lost(points, "step_size", top, look.color)
    shown = summary["mean"][summary["mean"] <= top]
    stack_at_top(axes, marks, shown, objective_scale(metric))
    swept_axis(axes, "step size α", "log", np.sort(summary["step_size"].unique()))
    objective_axis(axes, metric, plot["y_label"])


def _looks(rows: pd.DataFrame) -> dict[str, Look]:
    """A look for each curve, in the order of size: units, and what a step costs."""
    sizes = rows.groupby("curve", sort=False, dropna=False)[["width", "flops"]].first()
    if len(sizes.drop_duplicates()) <= 1:
        return dict(zip(sizes.index, cycle(SERIES), strict=False))
    ordered = sizes.sort_values(["width", "flops"], kind="stable").index
    colors = shades(len(ordered))
    return {
        curve: Look(color, marker)
        for curve, color, marker in zip(ordered, colors, cycle(MARKERS), strict=False)
    }
