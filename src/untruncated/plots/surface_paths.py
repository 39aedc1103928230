"""The loss as a function of two outer parameters, and the paths that learning takes across it."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.style import BASELINE_COLOR, looks
from untruncated.plots.surface import draw_surface


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel: the baseline's surface below, one path per seed above.

    A path that diverges ends in a cross.
    """
    limits = plot["low"], plot["high"]
    draw_surface(axes, table, ("theta_0", "theta_1"), limits, plot["color_label"])
    paths = table[(table["stage"] == "final") & (table["metric"] == "theta")]
    look = looks(list(paths["method"].unique()))
    for curve in paths["curve"].unique():
        mine = paths[paths["curve"] == curve]
        color, label = look[mine["method"].iloc[0]].color, mine["label"].iloc[0]
        for seed in mine["seed"].unique():
            path = mine[mine["seed"] == seed].pivot(
                index="trajectory_step", columns="parameter", values="value"
            )
            known = path.dropna()
            xs, ys = [plot["start_x"], *known[0]], [plot["start_y"], *known[1]]
            axes.plot(xs, ys, color=color, linewidth=1, label=label)
            end = ("o", 3) if len(known) == len(path) else ("x", 5)
            axes.plot(xs[-1], ys[-1], end[0], color=color, markersize=end[1])
            label = None  # one entry in the legend for all seeds
    axes.plot(plot["start_x"], plot["start_y"], "*", color=BASELINE_COLOR, markersize=9)
    axes.set_xlabel(plot["x_label"])
    axes.set_ylabel(plot["y_label"])
