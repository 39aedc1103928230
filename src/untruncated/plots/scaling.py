"""Measured time or memory against one size, with fitted exponents beside the predicted ones."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.axes import mark_at_top, set_scales, swept_axis
from untruncated.plots.style import SMALLEST, looks
from untruncated.statistics.exponents import exponents
from untruncated.statistics.rows import QUARTILES, by_curve, quartiles

# Inches of the axes, in which texts at the right must find room.
HEIGHT = 1.4
# How each metric is shown.
LABELS = {"seconds": ("time per gradient (µs)", 1e6), "bytes": ("memory (kB)", 1e-3)}


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel, both axes logarithmic."""
    label, factor = LABELS[plot["metric"]]
    rows = table[table["metric"] == plot["metric"]]
    look = looks(list(rows["method"].unique()))
    fits = exponents(table, plot["metric"])
    ends: list[tuple[float, str, str]] = []
    for curve, mine in by_curve(rows):
        color, marker = look[mine["method"].iloc[0]]
        values = factor * quartiles(mine)
        low, middle, high = (values[q].to_numpy() for q in QUARTILES)
        axes.errorbar(
            values.index,
            middle,
            yerr=[middle - low, high - middle],
            color=color,
            marker=marker,
            label=mine["label"].iloc[0],
        )
        mark_at_top(axes, values.index[np.isnan(middle)], "x", color)
        fit = fits.loc[curve]
        text = f"{_shown(fit.measured)} ({_shown(fit.predicted)})"
        if np.isfinite(middle[-1]):
            ends.append((float(middle[-1]), text, color))
    set_scales(axes, y="log")
    axes.set_xlabel(plot["x_label"])
    axes.set_ylabel(label)
    swept_axis(axes, plot["x_label"], "log", np.sort(rows["x"].unique()))
    _write_beside(axes, ends)


def _write_beside(axes: Axes, ends: list[tuple[float, str, str]]) -> None:
    """Texts at the right, each at the height of its line's end unless others are there already.

    Args:
        axes: Where.
        ends: Height in data coordinates, text and colour of each line.
    """
    low, high = np.log(axes.get_ylim())
    line = 1.15 * SMALLEST / 72 / HEIGHT  # of the axis
    ordered = sorted(ends)
    places = [(np.log(value) - low) / (high - low) for value, _, _ in ordered]
    # Up from the lowest, then down again where that has led past the top.
    for index in range(1, len(places)):
        places[index] = max(places[index], places[index - 1] + line)
    limit = 1.0
    for index in reversed(range(len(places))):
        limit = places[index] = min(places[index], limit)
        limit -= line
    for place, (_, text, color) in zip(places, ordered, strict=True):
        axes.annotate(
            text,
            (1, place),
            xycoords="axes fraction",
            xytext=(2, 0),
            textcoords="offset points",
            va="center",
            color=color,
            fontsize=SMALLEST,
            annotation_clip=False,
        )


def _shown(exponent: float) -> str:
    """An exponent in the legend; a dash where there is none."""
    return "–" if np.isnan(exponent) else f"{exponent:.2f}".replace("-0.00", "0.00")
