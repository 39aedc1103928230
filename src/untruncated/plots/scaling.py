"""Measured time or memory against one size, with fitted exponents beside the predicted ones."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, ScalarFormatter

from untruncated.plots.axes import mark_at_top, set_scales
from untruncated.plots.rows import QUARTILES, by_curve, quartiles
from untruncated.plots.style import looks

# What is predicted of each metric, and how it is shown.
PREDICTIONS = {"seconds": "predicted_operations", "bytes": "predicted_numbers"}
LABELS = {"seconds": ("time per gradient (µs)", 1e6), "bytes": ("memory (kB)", 1e-3)}


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel, both axes logarithmic."""
    label, factor = LABELS[plot["metric"]]
    rows = table[table["metric"] == plot["metric"]]
    look = looks(list(rows["method"].unique()))
    fits = exponents(table, plot["metric"])
    for curve in rows["curve"].unique():
        mine = rows[rows["curve"] == curve]
        method, name = mine["method"].iloc[0], mine["label"].iloc[0]
        values = factor * quartiles(mine)
        low, middle, high = (values[q].to_numpy() for q in QUARTILES)
        fit = fits.loc[curve]
        axes.errorbar(
            values.index,
            middle,
            yerr=[middle - low, high - middle],
            color=look[method].color,
            marker=look[method].marker,
            markersize=4,
            label=f"{name} {_shown(fit.measured)} ({_shown(fit.predicted)})",
        )
        mark_at_top(axes, values.index[np.isnan(middle)], "x", look[method].color)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    set_scales(axes, y="log")
    axes.set_xlabel(plot["x_label"])
    axes.set_ylabel(label)
    if rows.empty:
        return
    axes.legend(fontsize=5, ncols=2, handlelength=1.2, columnspacing=0.8)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.45)  # room for the legend


def exponents(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Slopes of lines fitted to the logarithms of a metric's medians and of its prediction.

    Returns:
        One row per curve with columns measured and predicted, NaN where fewer than two are known.
    """
    found = {}
    for curve, rows in by_curve(table[table["stage"] == "final"]):
        found[curve] = {
            "measured": _slope(rows[rows["metric"] == metric]),
            "predicted": _slope(rows[rows["metric"] == PREDICTIONS[metric]]),
        }
    return pd.DataFrame.from_dict(found, orient="index")


def _slope(rows: pd.DataFrame) -> float:
    medians = quartiles(rows)[0.5].dropna()
    if len(medians) < 2:
        return float("nan")
    return float(np.polyfit(np.log(medians.index), np.log(medians), 1)[0])


def _shown(exponent: float) -> str:
    """An exponent in the legend; a dash where there is none."""
    return "–" if np.isnan(exponent) else f"{exponent:.2f}".replace("-0.00", "0.00")
