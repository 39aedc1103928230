"""Inner problems with a few values of θ each: where these lie, and where the states go."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.axes import mark_lost, set_scales
from untruncated.plots.style import SERIES, SMALLEST, STROKE, Look
from untruncated.plots.surface import draw_surface
from untruncated.statistics.rows import by_curve


def draw_parameters(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel: the outer surface, and on it each curve's θ with its loss."""
    draw_surface(
        axes, table, ("theta_0", "theta_1"), (plot["low"], plot["high"]), plot["color_label"]
    )
    for index, rows, look in _curves(table):
        theta = rows[rows["metric"] == "theta"].set_index("parameter")["value"]
        loss = rows.loc[rows["metric"] == "loss", "value"].iloc[0]
        label = rows["label"].iloc[0]
        if theta.isna().any():
            axes.plot([], [], look.marker, color=look.color, label=label)
            mark_lost(axes, look.color, index)
            continue
        diverged = pd.isna(loss)
        axes.plot(
            theta[0],
            theta[1],
            "x" if diverged else look.marker,
            color=look.color,
            markersize=8,
            markeredgecolor=look.color if diverged else "white",
            label=label,
        )
        axes.annotate(
            "diverged" if diverged else f"{loss:,.0f}",
            (theta[0], theta[1]),
            xytext=(6, 6),
            textcoords="offset points",
            fontsize=SMALLEST,
            path_effects=STROKE,
        )
    axes.set_xlabel(plot["x_label"])
    axes.set_ylabel(plot["y_label"])


def draw_states(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel: the inner surface, and on it the states of each curve from start to end.

    A path that diverges ends in a cross.
    """
    draw_surface(
        axes, table, ("state_0", "state_1"), (plot["low"], plot["high"]), plot["color_label"]
    )
    start = None
    for index, rows, look in _curves(table[table["metric"] == "state"]):
        path = rows.pivot(index="inner_step", columns="coordinate", values="value")
        known = path.dropna()
        diverged = len(known) < len(path)
        axes.plot(
            known[0],
            known[1],
            color=look.color,
            linewidth=1,
            marker="x" if diverged else look.marker,
            markevery=[-1] if len(known) else None,
            markersize=7,
            markeredgecolor=look.color if diverged else "white",
            label=rows["label"].iloc[0],
        )
        if known.empty:
            mark_lost(axes, look.color, index)
        else:
            start = known.iloc[0]
    if start is not None:
        axes.plot(start[0], start[1], "*", color="black", markeredgecolor="white", markersize=11)
    set_scales(axes, y=plot["y_scale"])
    axes.set_xlabel(plot["x_label"])
    axes.set_ylabel(plot["y_label"])


def _curves(table: pd.DataFrame) -> Iterator[tuple[int, pd.DataFrame, Look]]:
    """Number, rows and look of each curve of the final runs."""
    for index, (_, rows) in enumerate(by_curve(table[table["stage"] == "final"])):
        yield index, rows, SERIES[index % len(SERIES)]
