"""Measured time per update against a swept quantity; a curve that is not swept lies flat."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.axes import span, swept_axis
from untruncated.plots.style import looks

METRIC = "seconds_per_update"


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel from its table: medians over the rounds, with their quartiles."""
    rows = table[table["metric"] == METRIC]
    look = looks(list(rows["cell"].unique()))
    xs = np.sort(rows["x"].dropna().unique())
    for curve in rows["curve"].unique():
        mine = rows[rows["curve"] == curve]
        cell, label = mine["cell"].iloc[0], mine["label"].iloc[0]
        microseconds = 1e6 * mine.groupby("x", dropna=False)["value"].quantile([0.25, 0.5, 0.75])
        table_of_x = microseconds.unstack()
        low, middle, high = (table_of_x[q].to_numpy() for q in (0.25, 0.5, 0.75))
        if mine["x"].isna().all():
            places = span(xs, plot["x_scale"])
            axes.plot(places, [middle[0]] * 2, color=look[cell].color, label=label)
            axes.fill_between(places, low[0], high[0], color=look[cell].color, alpha=0.25)
        else:
            axes.errorbar(
                table_of_x.index,
                middle,
                yerr=[middle - low, high - middle],
                color=look[cell].color,
                marker=look[cell].marker,
                capsize=2,
                label=label,
            )
    swept_axis(axes, plot["x_label"], plot["x_scale"], xs)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("time per update (µs)")
