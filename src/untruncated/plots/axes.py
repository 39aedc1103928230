"""Axes that several plots share: an objective's, swept values as ticks, lost points."""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from untruncated.catalogue.programs import better
from untruncated.plots.legends import REFERENCE
from untruncated.plots.style import BASELINE_COLOR

MOST_TICKS = 12
NARROW, STEPS = 0.5, (1, 2, 5, 10)  # decades of an axis whose ticks are evenly spaced numbers
CHARACTER = 4.5  # points of a tick label's digit
# Errors this many times the panel's lowest are not told apart: all are useless.
HIGHEST = 10.0


def objective_axis(axes: Axes, metric: str, label: str) -> None:
    """The y axis, after all is drawn: logarithmic for what is better the lower it is."""
    set_scales(axes, y=objective_scale(metric))
    axes.set_ylabel(label)


def objective_scale(metric: str) -> str:
    """How an objective's y axis is scaled: errors by their size; returns may be negative."""
    return "log" if better(metric) == "min" else "linear"


def plain_numbers(axes: Axes) -> None:
    """Labels log axes without exponents in small print, at 1, 2, 5 of a decade where they fit.

    An axis of less than half a decade may hold only one of those: it has round numbers in between.
    """
    size = axes.get_window_extent().size * 72 / axes.get_figure(root=True).dpi
    for axis, limits, length, room in (
        (axes.xaxis, axes.get_xlim(), size[0], 6 * CHARACTER),
        (axes.yaxis, axes.get_ylim(), size[1], 2 * CHARACTER),
    ):
        if axis.get_scale() != "log" or isinstance(axis.get_major_locator(), FixedLocator):
            continue
        decades = abs(np.log10(limits[1] / limits[0]))
        decade = length / decades
        subs = (1, 2, 5) if decade > 4 * room else (1, 3) if decade > 3 * room else (1,)
        narrow = decades < NARROW
        axis.set_major_locator(MaxNLocator(4, steps=STEPS) if narrow else LogLocator(subs=subs))
        plain = 1e-4 <= min(limits) and max(limits) < 1e12
        axis.set_major_formatter(FuncFormatter(short if plain else exponential))
        between = LogLocator(subs=range(2, 10)) if not narrow and decades < 6 else NullLocator()
        axis.set_minor_locator(between)
        axis.set_minor_formatter(NullFormatter())


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


def highest_shown(means: pd.Series, metric: str) -> float:
    """The largest error that a panel shows in its place; larger ones are marked at the top.

    What is better the higher it is, is shown however high or low.
    """
    lowest = means.min() if better(metric) == "min" else np.inf
    return HIGHEST * lowest if np.isfinite(lowest) else np.inf


def draw_optimum(axes: Axes, table: pd.DataFrame, metric: str) -> None:
    """Exact values of the metric, if the table has them: of what is best, also of all that is
    memoryless."""
    baseline = table[table["stage"] == "baseline"]
    label = baseline["label"].iloc[0] if len(baseline) else ""
    for exact, name, style in (
        (f"{metric}_exact", label, "--"),
        (f"{metric}_memoryless", "best memoryless", ":"),
    ):
        values = baseline.loc[baseline["metric"] == exact, "value"]
        if len(values):
            draw_reference(axes, values.iloc[0], name, style)


def draw_reference(axes: Axes, value: float, label: str | None, style: str = "--") -> None:
    """A line across the panel for others to be held against."""
    axes.axhline(
        value, color=BASELINE_COLOR, linestyle=style, linewidth=1, label=label, gid=REFERENCE
    )


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
        axes.xaxis.set_major_locator(FixedLocator(_apart(axes, xs, scale)))
        axes.xaxis.set_minor_locator(FixedLocator(xs))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_major_formatter(FuncFormatter(_labels(xs)))


def _apart(axes: Axes, xs: np.ndarray, scale: str) -> list[float]:
    """Those of the values whose labels do not touch, on an axis from the first to the last."""
    places = np.log(xs) if scale == "log" else np.asarray(xs, float)
    points = axes.get_window_extent().width * 72 / axes.get_figure(root=True).dpi
    places = places * 0.86 * points / max(places[-1] - places[0], 1e-9)
    kept: list[int] = [0]
    for index in range(1, len(xs)):
        characters = sum(len(_labels(xs)(xs[other])) for other in (index, kept[-1])) / 2 + 1
        if places[index] - places[kept[-1]] >= CHARACTER * characters:
            kept.append(index)
    return [float(xs[index]) for index in kept]


def _labels(xs: np.ndarray) -> Callable[..., str]:
    """How the values of one axis are written, all alike."""
    return short if min(xs) >= 1e-3 else exponential


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


def short(value: float, position: int | None = None) -> str:
    """A number in few characters: 0.02, 15, 1,408, 406k, 20M, 1e-15."""
    size = abs(value)
    if size == 0 or 1e-4 <= size < 1e4:
        return f"{value:,.4g}"
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if unit <= size < 1e12:
            return f"{value / unit:.3g}{letter}"
    return exponential(value)


def exponential(value: float, position: int | None = None) -> str:
    """A number with its power of ten: 1e-15, 2.5e3."""
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"
