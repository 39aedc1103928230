"""Axes that several plots share: an error on a log scale, swept values as ticks, lost points."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from untruncated.plots.style import BASELINE_COLOR

Y_LABEL = "mean squared return error"
MOST_TICKS = 12
# Errors this many times the panel's lowest are not told apart: all are useless.
HIGHEST = 30.0


def log_error_axis(axes: Axes) -> None:
    """A log y axis with plain numbers at 1, 2 and 5."""
    set_scales(axes, y="log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_minor_locator(NullLocator())


def set_scales(axes: Axes, *, x: str | None = None, y: str | None = None) -> None:
    """Sets the scale of the axes named, after all is drawn.

    Where all diverged matplotlib keeps limits of a linear axis, at which a log axis fails. A panel
    beside it that shares the axis still moves the limits set here.
    """
    if x:
        axes.set_xscale(x)
        if x == "log" and axes.get_xlim()[0] <= 0:
            axes.set_xlim(1, 10, auto=True)
    if y:
        axes.set_yscale(y)
        if y == "log" and axes.get_ylim()[0] <= 0:
            axes.set_ylim(1, 10, auto=True)


def highest_shown(means: pd.Series) -> float:
    """The largest error that a panel shows in its place; larger ones are marked at the top."""
    lowest = means.min()
    return HIGHEST * lowest if np.isfinite(lowest) else np.inf


def draw_optimum(axes: Axes, table: pd.DataFrame) -> None:
    """A dashed line at the exact error of the best possible prediction, if the table has it."""
    baseline = table[table["metric"] == "msre_exact"]
    if len(baseline):
        label, value = baseline["label"].iloc[0], baseline["value"].iloc[0]
        axes.axhline(value, color=BASELINE_COLOR, linestyle="--", linewidth=1, label=label)


def span(xs: np.ndarray, scale: str) -> tuple[float, float]:
    """The x range with a margin; flat lines go all the way across it."""
    if not len(xs):
        return 1.0, 2.0
    low, high = float(xs[0]), float(xs[-1])
    if scale == "log":
        factor = max(high / low, 2.0) ** 0.07
        return low / factor, high * factor
    margin = 0.07 * max(high - low, 1.0)
    return low - margin, high + margin


def swept_axis(axes: Axes, label: str, scale: str, xs: np.ndarray) -> None:
    """An x axis with a tick at each swept value, if they are few."""
    axes.set_xscale(scale)
    axes.set_xlim(span(xs, scale))
    axes.set_xlabel(label)
    if 0 < len(xs) <= MOST_TICKS:
        axes.xaxis.set_major_locator(FixedLocator(xs))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(_short))


def mark_at_top(axes: Axes, xs: Iterable[float], marker: str, color: object) -> None:
    """A hollow mark at the top of the panel for each value that cannot be drawn in its place."""
    xs = list(xs)
    if not xs:
        return
    axes.plot(
        xs,
        np.full(len(xs), 0.97),
        linestyle="",
        marker=marker,
        color=color,
        markerfacecolor="none",
        transform=axes.get_xaxis_transform(),
        clip_on=False,
    )


def mark_lost(axes: Axes, color: object, index: int) -> None:
    """A cross at the top for the curve number `index`, of which no place on the x axis is known."""
    place = [0.5 + 0.05 * index], [0.97]
    axes.plot(*place, "x", color=color, transform=axes.transAxes, clip_on=False)


def _short(value: float, position: int | None = None) -> str:
    """A number in few characters: 15, 1,408, 406k."""
    return f"{value / 1000:.0f}k" if value >= 10_000 else f"{value:,.0f}"
