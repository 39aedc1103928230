"""Marks for what has no place of its own: lost values, and things that share one place."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation, Transform

from untruncated.plots.axes import short
from untruncated.plots.style import SMALLEST

ROW = 0.075  # of an axis' height


class Lost(NamedTuple):
    """A value that cannot be drawn in its place: at `x`, with its text if there is a number."""

    x: float
    marker: str
    color: object
    text: str = ""


def lost(points: pd.DataFrame, x: str, top: float, color: object) -> list[Lost]:
    """The points that diverged or have a mean above `top`, by their columns."""
    crosses = [Lost(value, "x", color) for value in points[x][points["diverged"] > 0]]
    above = points[points["mean"] > top]
    return crosses + [
        Lost(value, "^", color, short(float(f"{mean:.2g}")))
        for value, mean in zip(above[x], above["mean"], strict=True)
    ]


def stack_at_top(
    axes: Axes, marks: Sequence[Lost], shown: Sequence[float], scale: str = "log"
) -> None:
    """Hollow marks at the top of a panel, those of one x below one another, above the rest.

    Args:
        axes: Where.
        marks: What is lost.
        shown: The values that are drawn in their places.
        scale: That the y axis will have, log or linear.
    """
    rows: dict[float, int] = {}
    for x, marker, color, text in marks:
        row = rows[x] = rows.get(x, -1) + 1
        height = 1 - ROW * (row + 0.6)
        place = {"transform": axes.get_xaxis_transform(), "clip_on": False}
        axes.plot([x], [height], marker, color=color, markerfacecolor="none", **place)
        if text:
            axes.annotate(
                text,
                (x, height),
                xycoords=axes.get_xaxis_transform(),
                xytext=(-5, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=SMALLEST,
            )
    shown = [value for value in shown if np.isfinite(value) and (value > 0 or scale != "log")]
    if rows and shown:
        low, high = min(shown), max(shown)
        stretch = 1 / (1 - ROW * (max(rows.values()) + 1.5))
        by_size = scale == "log"
        top = low * (high / low) ** stretch if by_size else low + (high - low) * stretch
        extend_limits(axes, [next(iter(rows))], [top])


def extend_limits(axes: Axes, xs: Sequence[float], ys: Sequence[float]) -> None:
    """Makes an axis that scales itself reach these points, those that are finite."""
    points = np.column_stack([xs, ys]).astype(float)
    points = points[np.isfinite(points).all(axis=1)]
    if len(points):
        axes.update_datalim(points)
        axes.autoscale_view()


def beside(axes: Axes, points: float) -> Transform:
    """Data coordinates moved to the right, so that things at one x can stand side by side.

    What is drawn in them does not extend an axis' limits: see `extend_limits`.
    """
    inches = axes.get_figure(root=True).dpi_scale_trans
    return axes.transData + ScaledTranslation(points / 72, 0, inches)
