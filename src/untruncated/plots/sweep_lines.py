"""A metric against a swept quantity, one line per curve; a curve that is not swept lies flat."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.axes import (
    Y_LABEL,
    draw_optimum,
    highest_shown,
    log_error_axis,
    mark_at_top,
    mark_lost,
    span,
    swept_axis,
)
from untruncated.plots.rows import means
from untruncated.plots.style import LINE_STYLES, Look, looks

METRIC = "msre"
CONFIGURATION = ["curve", "label", "cell", "width", "x", "flops", "parameters"]


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel from its table.

    A marker is the mean over final seeds and its bar the standard error; faint dots are single
    seeds. A point with diverged seeds is drawn as a cross at the top of the panel.
    """
    finals = table[(table["stage"] == "final") & (table["metric"] == METRIC)]
    summary = means(finals, CONFIGURATION)
    look = looks(list(summary["cell"].unique()))
    xs = np.sort(summary["x"].dropna().unique())
    ends = span(xs, plot["x_scale"])
    top = highest_shown(summary["mean"])
    drawn: dict[str, int] = {}
    for index, curve in enumerate(finals["curve"].unique()):  # in the experiment file's order
        points = summary[summary["curve"] == curve]
        cell, label = points["cell"].iloc[0], points["label"].iloc[0]
        seeds = finals[(finals["curve"] == curve) & (finals["value"] <= top)]
        style = LINE_STYLES[drawn.get(cell, 0) % len(LINE_STYLES)]
        drawn[cell] = drawn.get(cell, 0) + 1
        if points["x"].isna().all():
            _draw_flat(axes, points, seeds, look[cell], label, style, ends)
            if points["diverged"].iloc[0]:
                mark_lost(axes, look[cell].color, index)
        else:
            _draw_line(axes, points, seeds, look[cell], label, style, top)
    draw_optimum(axes, table)
    if plot["show_costs"]:
        _write_costs(axes, summary, look)
    swept_axis(axes, plot["x_label"], plot["x_scale"], xs)
    log_error_axis(axes)
    axes.set_ylabel(Y_LABEL)


def _draw_line(
    axes: Axes,
    points: pd.DataFrame,
    seeds: pd.DataFrame,
    look: Look,
    label: str,
    style: str,
    top: float,
) -> None:
    points = points.sort_values("x")
    shown = points["mean"].where(points["mean"] <= top)
    error = points["standard_error"].fillna(0)
    axes.errorbar(
        points["x"],
        shown,
        yerr=[error, np.minimum(error, top - shown)],
        color=look.color,
        marker=look.marker,
        markerfacecolor=look.color if style == "-" else "white",
        linestyle=style,
        capsize=2,
        label=label,
        zorder=3,
    )
    axes.scatter(seeds["x"], seeds["value"], s=4, color=look.color, alpha=0.35, linewidths=0)
    mark_at_top(axes, points["x"][points["diverged"] > 0], "x", look.color)
    mark_at_top(axes, points["x"][points["mean"] > top], "^", look.color)


def _draw_flat(
    axes: Axes,
    points: pd.DataFrame,
    seeds: pd.DataFrame,
    look: Look,
    label: str,
    style: str,
    ends: tuple[float, float],
) -> None:
    mean, error = points["mean"].iloc[0], points["standard_error"].fillna(0).iloc[0]
    axes.plot(ends, [mean, mean], color=look.color, linestyle=style, label=label, zorder=3)
    axes.fill_between(ends, mean - error, mean + error, color=look.color, alpha=0.25, linewidth=0)
    edge = np.full(len(seeds), ends[1])
    axes.scatter(edge, seeds["value"], s=4, color=look.color, alpha=0.35, linewidths=0)


def _write_costs(axes: Axes, summary: pd.DataFrame, look: Mapping[str, Look]) -> None:
    """Units, and thousands of FLOPs actually used: whole units do not meet a budget exactly.

    A swept curve's stand upright above the x axis, side by side, a flat one's under its line.
    """
    swept = list(summary.loc[summary["x"].notna(), "curve"].unique())
    for row in summary.itertuples():
        text = f"{row.width:.0f} u, {row.flops / 1000:.1f}k"
        style = {"fontsize": 5.5, "color": look[row.cell].color, "textcoords": "offset points"}
        if row.curve in swept:
            shift = 7 * (swept.index(row.curve) - (len(swept) - 1) / 2)
            place = {"xycoords": axes.get_xaxis_transform(), "xytext": (shift, 0)}
            axes.annotate(
                text, (row.x, 0.1), rotation=90, ha="center", va="bottom", **place, **style
            )
        elif not row.diverged:
            place = {"xycoords": axes.get_yaxis_transform(), "xytext": (0, -2)}
            axes.annotate(text, (0.01, row.mean), ha="left", va="top", **place, **style)
