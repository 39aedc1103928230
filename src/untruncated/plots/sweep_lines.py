"""A metric against a swept quantity, one line per curve; a curve that is not swept lies flat."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.axes import (
    draw_optimum,
    highest_shown,
    objective_axis,
    objective_scale,
    span,
    swept_axis,
)
from untruncated.plots.marks import Lost, beside, extend_limits, lost, stack_at_top
from untruncated.plots.style import LINE_STYLES, SMALLEST, Look, looks
from untruncated.statistics.rows import by_curve, means

CONFIGURATION = ["curve", "label", "cell", "width", "x", "flops", "parameters"]
# Points between curves at one x, between the seeds of flat curves, between upright texts.
DODGE, FLAT_DODGE, TEXT_DODGE = 3.5, 5.0, 8.5
DOTS = {"s": 4, "alpha": 0.35, "linewidths": 0}


class _Curve(NamedTuple):
    """A curve's summary, the seeds that fit into the panel, and how it is drawn.

    `place` counts swept curves, or flat ones, from 0.
    """

    points: pd.DataFrame
    seeds: pd.DataFrame
    look: Look
    style: str
    is_flat: bool
    place: int

    @property
    def label(self) -> str:
        return self.points["label"].iloc[0]


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel from its table.

    A marker is the mean over final seeds and its bar the standard error; faint dots are single
    seeds. Curves stand side by side at each x, the seeds of flat ones at the right edge. What
    diverged, or is too large for the panel, is marked at its top.
    """
    metric = plot["metric"]
    finals = table[(table["stage"] == "final") & (table["metric"] == metric)]
    summary = means(finals, CONFIGURATION)
    xs = np.sort(summary["x"].dropna().unique())
    ends = span(xs, plot["x_scale"])
    top = highest_shown(summary["mean"], metric)
    curves = list(_curves(summary, finals, top))
    swept = sum(not curve.is_flat for curve in curves)
    marks: list[Lost] = []
    for curve in curves:
        points = curve.points
        if curve.is_flat:
            _draw_flat(axes, curve, ends, top)
            points = points.assign(x=xs[len(xs) // 2] if len(xs) else sum(ends) / 2)
        else:
            _draw_line(axes, curve, top, DODGE * (curve.place - (swept - 1) / 2))
        marks += lost(points, "x", top, curve.look.color)
    fitting = [*summary["mean"], *finals["value"]]
    shown = [value for value in fitting if value <= top]
    stack_at_top(axes, marks, shown, objective_scale(metric))
    draw_optimum(axes, table, metric)
    if plot["show_costs"]:
        _write_costs(axes, curves, swept)
    swept_axis(axes, plot["x_label"], plot["x_scale"], xs)
    objective_axis(axes, metric, plot["y_label"])


def _curves(summary: pd.DataFrame, finals: pd.DataFrame, top: float) -> Iterator[_Curve]:
    """In the order of the experiment file; curves of one cell differ in their line style."""
    look = looks(list(summary["cell"].unique()))
    drawn: dict[str, int] = {}
    places = {True: 0, False: 0}
    for curve, points in by_curve(summary):
        cell, is_flat = points["cell"].iloc[0], bool(points["x"].isna().all())
        style = LINE_STYLES[drawn.get(cell, 0) % len(LINE_STYLES)]
        seeds = finals[(finals["curve"] == curve) & (finals["value"] <= top)]
        yield _Curve(points, seeds, look[cell], style, is_flat, places[is_flat])
        drawn[cell] = drawn.get(cell, 0) + 1
        places[is_flat] += 1


def _draw_line(axes: Axes, curve: _Curve, top: float, shift: float) -> None:
    points = curve.points.sort_values("x")
    shown = points["mean"].where(points["mean"] <= top)
    error = points["standard_error"].fillna(0)
    color, marker = curve.look
    axes.errorbar(
        points["x"],
        shown,
        yerr=[error, np.minimum(error, top - shown)],
        color=color,
        marker=marker,
        markerfacecolor=color if curve.style == "-" else "white",
        linestyle=curve.style,
        capsize=2,
        label=curve.label,
        zorder=3,
        transform=beside(axes, shift),
    )
    place = beside(axes, shift)
    axes.scatter(curve.seeds["x"], curve.seeds["value"], color=color, transform=place, **DOTS)
    for bound in (shown - error, np.minimum(shown + error, top)):
        extend_limits(axes, points["x"], bound)
    extend_limits(axes, curve.seeds["x"], curve.seeds["value"])


def _draw_flat(axes: Axes, curve: _Curve, ends: tuple[float, float], top: float) -> None:
    mean = curve.points["mean"].where(curve.points["mean"] <= top).iloc[0]
    error = curve.points["standard_error"].fillna(0).iloc[0]
    color = curve.look.color
    axes.plot(ends, [mean, mean], color=color, linestyle=curve.style, label=curve.label, zorder=3)
    axes.fill_between(ends, mean - error, mean + error, color=color, alpha=0.25, linewidth=0)
    place = beside(axes, -FLAT_DODGE * (curve.place + 1))
    edge = np.full(len(curve.seeds), ends[1])
    axes.scatter(edge, curve.seeds["value"], color=color, transform=place, **DOTS)
    extend_limits(axes, edge, curve.seeds["value"])


def _write_costs(axes: Axes, curves: list[_Curve], swept: int) -> None:
    """Units, and thousands of FLOPs actually used: whole units do not meet a budget exactly.

    A swept curve's stand upright above the x axis, side by side, a flat one's under its line.
    """
    for curve in curves:
        style = {"fontsize": SMALLEST, "color": curve.look.color, "textcoords": "offset points"}
        for row in curve.points.itertuples():
            text = f"{row.width:.0f} u, {row.flops / 1000:.1f}k"
            if curve.is_flat and np.isfinite(row.mean):
                place = {"xycoords": axes.get_yaxis_transform(), "xytext": (0, -2)}
                axes.annotate(text, (0.01, row.mean), ha="left", va="top", **place, **style)
            elif not curve.is_flat:
                shift = TEXT_DODGE * (curve.place - (swept - 1) / 2)
                place = {"xycoords": axes.get_xaxis_transform(), "xytext": (shift, 0)}
                axes.annotate(
                    text, (row.x, 0.1), rotation=90, ha="center", va="bottom", **place, **style
                )
