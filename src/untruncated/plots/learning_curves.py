"""A metric along the run: single seeds and what is typical of them, one look per curve."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.style import BASELINE_COLOR, LINE_STYLES, looks

INNER_STEPS = "inner_steps_per_iteration"


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel from its table; curves of the same method differ in their line style."""
    finals = table[table["stage"] == "final"]
    rows = finals[finals["metric"] == plot["metric"]]
    look = looks(list(rows["method"].unique()))
    drawn: dict[str, int] = {}
    for curve in rows["curve"].unique():
        mine = rows[rows["curve"] == curve]
        method, label = mine["method"].iloc[0], mine["label"].iloc[0]
        style = LINE_STYLES[drawn.get(method, 0) % len(LINE_STYLES)]
        drawn[method] = drawn.get(method, 0) + 1
        seeds = mine.pivot(index="curve_step", columns="seed", values="value")
        if plot["counts"] == "inner_steps":
            mask = (finals["curve"] == curve) & (finals["metric"] == INNER_STEPS)
            seeds.index = seeds.index * finals.loc[mask, "value"].iloc[0]
        _draw_curve(axes, seeds, look[method].color, style, label, plot["center"])
    if plot["reference"] is not None:
        axes.axhline(plot["reference"], color=BASELINE_COLOR, linestyle="--", linewidth=1)
    axes.set_xscale(plot["x_scale"])
    axes.set_yscale(plot["y_scale"])
    axes.set_ylim(plot["y_low"], plot["y_high"])
    axes.set_xlabel(plot["x_label"])
    axes.set_ylabel(plot["y_label"])


def _draw_curve(
    axes: Axes, seeds: pd.DataFrame, color: str, style: str, label: str, center: str
) -> None:
    axes.plot(seeds.index, seeds, color=color, alpha=0.25, linewidth=0.5)
    middle = getattr(seeds, center)(axis=1, skipna=False)
    axes.plot(seeds.index, middle, color=color, linewidth=2, linestyle=style, label=label)
    if center == "mean":
        error = seeds.sem(axis=1, skipna=False)
        axes.fill_between(seeds.index, middle - error, middle + error, color=color, alpha=0.3)
