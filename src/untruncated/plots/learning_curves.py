"""A metric along the run: single seeds, their mean and its standard error, one colour per curve."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.style import BASELINE_COLOR, looks


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel from its table."""
    rows = table[(table["stage"] == "final") & (table["metric"] == plot["metric"])]
    look = looks(list(rows["cell"].unique()))
    for curve in rows["curve"].unique():
        mine = rows[rows["curve"] == curve]
        color, label = look[mine["cell"].iloc[0]].color, mine["label"].iloc[0]
        seeds = mine.pivot(index="curve_step", columns="seed", values="value")
        axes.plot(seeds.index, seeds, color=color, alpha=0.25, linewidth=0.5)
        mean, error = seeds.mean(axis=1, skipna=False), seeds.sem(axis=1, skipna=False)
        axes.plot(seeds.index, mean, color=color, linewidth=2, label=label)
        axes.fill_between(seeds.index, mean - error, mean + error, color=color, alpha=0.3)
    if plot["reference"] is not None:
        axes.axhline(plot["reference"], color=BASELINE_COLOR, linestyle="--", linewidth=1)
    axes.set_xlabel(plot["x_label"])
    axes.set_ylabel(plot["y_label"])
