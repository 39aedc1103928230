"""Measured time per update against a swept quantity; a curve that is not swept lies flat."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.axes import mark_at_top, mark_lost, span, swept_axis
from untruncated.plots.style import looks
from untruncated.statistics.rows import QUARTILES, by_curve, quartiles

METRIC = "seconds_per_update"


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel from its table: medians over the rounds, with their quartiles."""
    rows = table[table["metric"] == METRIC]
    look = looks(list(rows["cell"].unique()))
    xs = np.sort(rows["x"].dropna().unique())
    for index, (_, mine) in enumerate(by_curve(rows)):
        cell, label = mine["cell"].iloc[0], mine["label"].iloc[0]
        microseconds = 1e6 * quartiles(mine)
        low, middle, high = (microseconds[q].to_numpy() for q in QUARTILES)
        if mine["x"].isna().all():
            places = span(xs, plot["x_scale"])
            axes.plot(places, [middle[0]] * 2, color=look[cell].color, label=label)
            axes.fill_between(places, low[0], high[0], color=look[cell].color, alpha=0.25)
            if np.isnan(middle[0]):
                mark_lost(axes, look[cell].color, index)
        else:
            axes.errorbar(
                microseconds.index,
                middle,
                yerr=[middle - low, high - middle],
                color=look[cell].color,
                marker=look[cell].marker,
                capsize=2,
                label=label,
            )
            mark_at_top(axes, microseconds.index[np.isnan(middle)], "x", look[cell].color)
    swept_axis(axes, plot["x_label"], plot["x_scale"], xs)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("time per update (µs)")
