"""Inner problems with a few values of θ each: where these lie, and where the states go."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.rows import by_curve
from untruncated.plots.style import SERIES, STROKE
from untruncated.plots.surface import draw_surface


def draw_parameters(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel: the outer surface, and on it each curve's θ with its loss."""
    draw_surface(
        axes, table, ("theta_0", "theta_1"), (plot["low"], plot["high"]), plot["color_label"]
    )
    finals = table[table["stage"] == "final"]
    for (_, rows), look in zip(by_curve(finals), cycle(SERIES), strict=False):
        theta = rows[rows["metric"] == "theta"].set_index("parameter")["value"]
        loss = rows.loc[rows["metric"] == "loss", "value"].iloc[0]
        axes.plot(
            theta[0],
            theta[1],
            look.marker,
            color=look.color,
            markersize=8,
            markeredgecolor="white",
            label=rows["label"].iloc[0],
        )
        axes.annotate(
            f"{loss:,.0f}",
            (theta[0], theta[1]),
            xytext=(6, 6),
            textcoords="offset points",
            fontsize=7,
            path_effects=STROKE,
        )
    axes.set_xlabel(plot["x_label"])
    axes.set_ylabel(plot["y_label"])


def draw_states(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel: the inner surface, and on it the states of each curve from start to end."""
    draw_surface(
        axes, table, ("state_0", "state_1"), (plot["low"], plot["high"]), plot["color_label"]
    )
    finals = table[(table["stage"] == "final") & (table["metric"] == "state")]
    for (_, rows), look in zip(by_curve(finals), cycle(SERIES), strict=False):
        path = rows.pivot(index="inner_step", columns="coordinate", values="value")
        axes.plot(
            path[0],
            path[1],
            color=look.color,
            linewidth=1,
            marker=look.marker,
            markevery=[-1],
            markersize=7,
            markeredgecolor="white",
            label=rows["label"].iloc[0],
        )
    start = path.iloc[0]
    axes.plot(start[0], start[1], "*", color="black", markeredgecolor="white", markersize=11)
    axes.set_yscale(plot["y_scale"])
    axes.set_xlabel(plot["x_label"])
    axes.set_ylabel(plot["y_label"])
