"""The variance of PES by Monte Carlo, on the curves of the formulas."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.axes import mark_at_top, set_scales, swept_axis
from untruncated.plots.style import BASELINE_COLOR, SERIES
from untruncated.statistics.rows import by_curve, means


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel: a line for each formula, a marker for each measured mean over seeds."""
    finals = table[table["stage"] == "final"]
    xs = np.sort(finals["x"].unique())
    for (_, rows), look in zip(by_curve(finals), cycle(SERIES), strict=False):
        label = rows["label"].iloc[0]
        by_x = means(rows, ["metric", "x"]).sort_values("x")
        predicted = by_x[by_x["metric"] == "predicted_variance"]
        measured = by_x[by_x["metric"] == "relative_variance"]
        axes.plot(predicted["x"], predicted["mean"], color=look.color, linewidth=1)
        mark_at_top(axes, measured["x"][measured["diverged"] > 0], "x", look.color)
        axes.errorbar(
            measured["x"].to_numpy(),
            measured["mean"].to_numpy(),
            yerr=measured["standard_error"].fillna(0).to_numpy(),
            color=look.color,
            marker=look.marker,
            linestyle="",
            markerfacecolor="white",
            capsize=2,
            label=label,
        )
    if plot["square"] and len(xs):
        first = finals.loc[(finals["x"] == xs[0]), "value"].mean()
        square = first * (xs / xs[0]) ** 2
        axes.plot(xs, square, "--", color=BASELINE_COLOR, linewidth=0.8, label=plot["square"])
    swept_axis(axes, plot["x_label"], "log", xs)
    set_scales(axes, y="log")
    axes.set_ylabel("variance / squared gradient")
