"""Returns along a control run from the untrained policy on, and what is earned otherwise."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.learning_curves import curve_looks, draw_curve, draw_seeds
from untruncated.plots.style import BASELINE_COLOR

# What a line across the panel says, and how it is drawn.
LEVELS = {
    "random": ("random", ":"),
    "memoryless": ("best without memory", "--"),
    "optimum": ("optimum", "-."),
}


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel from its table."""
    finals = table[table["stage"] == "final"]
    rows = finals[finals["metric"] == plot["metric"]]
    first = finals[finals["metric"] == "untrained_return"]
    for curve, (color, style) in curve_looks(rows).items():
        mine = rows[rows["curve"] == curve]
        seeds = mine.pivot(index="curve_step", columns="seed", values="value")
        if plot["metric"] == "return_curve":
            untrained = first[first["curve"] == curve].set_index("seed")["value"]
            seeds = pd.concat([untrained.rename(0).to_frame().T, seeds])
        draw_seeds(axes, seeds, color)
        draw_curve(axes, seeds, color, style, mine["label"].iloc[0], "mean")
    for name, (label, style) in LEVELS.items():
        if plot[name] is not None:
            axes.axhline(plot[name], color=BASELINE_COLOR, lw=1, linestyle=style, label=label)
    axes.set_xlabel(plot["x_label"])
    axes.set_ylabel(plot["y_label"])
