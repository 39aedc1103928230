"""A metric averaged over the first steps of a run, at every step size, a marker for each setting.

A setting is a configuration at one step size. What stands above a threshold is counted.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from untruncated.plots.axes import mark_at_top, set_scales
from untruncated.plots.style import BASELINE_COLOR, SERIES, STROKE
from untruncated.statistics.setting_averages import averages

# How much of the way from one step size to the next the settings of one take up.
SPREAD = 0.7


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel from its table: settings side by side at each step size, label by label."""
    settings = averages(table, plot)
    sizes = np.sort(settings["step_size"].unique())
    places = settings["step_size"] * 10 ** _shifts(settings, sizes)
    for index, label in enumerate(settings["label"].unique()):
        look = SERIES[index % len(SERIES)]
        mine = settings["label"] == label
        axes.errorbar(
            places[mine],
            settings.loc[mine, "mean"],
            yerr=settings.loc[mine, "standard_error"].fillna(0),
            linestyle="",
            marker=look.marker,
            markersize=4,
            color=look.color,
            markerfacecolor="white",
            elinewidth=0.7,
        )
        learned = settings[mine & settings["success"]]
        axes.plot(
            places[learned.index],
            learned["mean"],
            linestyle="",
            marker=look.marker,
            markersize=4,
            color=look.color,
            label=label,
            zorder=3,
        )
        mark_at_top(axes, places[mine & settings["mean"].isna()], "x", look.color)
    axes.axhline(plot["threshold"], color=BASELINE_COLOR, linestyle="--", linewidth=1)
    _write_counts(axes, settings, plot["threshold"])
    set_scales(axes, x="log")
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(visible=False, axis="x")
    axes.set_ylim(plot["y_low"], plot["y_high"])
    axes.set_xlabel("step size α")
    axes.set_ylabel(plot["y_label"])


def _shifts(settings: pd.DataFrame, sizes: np.ndarray) -> np.ndarray:
    """How many powers of ten each setting stands beside its step size, to hide no other."""
    gap = np.diff(np.log10(sizes)).min() if len(sizes) > 1 else 0.5
    group = settings.groupby("step_size", dropna=False)["mean"]
    place, count = group.cumcount(), group.transform("size")
    return np.asarray(SPREAD * gap * ((place + 0.5) / count - 0.5), float)


def _write_counts(axes: Axes, settings: pd.DataFrame, threshold: float) -> None:
    """How many settings lie above the threshold, of all and below that of each step size.

    The top of the panel is left to the crosses.
    """
    above = settings["mean"] > threshold
    learned = (above & settings["success"]).sum()
    words = f"{above.sum()} of {len(above)} above {threshold:g}, {learned} of these have learned"
    place: dict[str, Any] = {"ha": "center", "va": "center", "path_effects": STROKE}
    axes.text(0.5, 0.91, words, fontsize=8, transform=axes.transAxes, **place)
    place["transform"] = axes.get_xaxis_transform()
    for size, mine in above.groupby(settings["step_size"], dropna=False):
        axes.text(size, 0.83, f"{mine.sum()} of {len(mine)}", fontsize=7, **place)
