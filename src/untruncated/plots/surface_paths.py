"""The loss as a function of two outer parameters, and the paths that learning takes across it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

from untruncated.plots.style import BASELINE_COLOR, looks


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel: the baseline's surface below, one path per seed above."""
    surface = table[(table["stage"] == "baseline") & (table["metric"] == "loss")]
    grid = surface.pivot(index="theta_1", columns="theta_0", values="value")
    mesh = axes.pcolormesh(
        grid.columns,
        grid.index,
        grid.to_numpy(),
        norm=LogNorm(plot["low"], plot["high"]),
        cmap="Greys",
        rasterized=True,
    )
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.02)
    bar.ax.set_title(plot["color_label"], fontsize=7)
    paths = table[(table["stage"] == "final") & (table["metric"] == "theta")]
    look = looks(list(paths["method"].unique()))
    for curve in paths["curve"].unique():
        mine = paths[paths["curve"] == curve]
        color, label = look[mine["method"].iloc[0]].color, mine["label"].iloc[0]
        for seed in mine["seed"].unique():
            path = mine[mine["seed"] == seed].pivot(
                index="trajectory_step", columns="parameter", values="value"
            )
            xs, ys = [plot["start_x"], *path[0]], [plot["start_y"], *path[1]]
            axes.plot(xs, ys, color=color, linewidth=1, label=label)
            axes.plot(xs[-1], ys[-1], "o", color=color, markersize=3)
            label = None  # one entry in the legend for all seeds
    axes.plot(plot["start_x"], plot["start_y"], "*", color=BASELINE_COLOR, markersize=9)
    axes.set_xlim(np.min(grid.columns), np.max(grid.columns))
    axes.set_ylim(np.min(grid.index), np.max(grid.index))
    axes.set_xlabel(plot["x_label"])
    axes.set_ylabel(plot["y_label"])
    axes.grid(visible=False)
