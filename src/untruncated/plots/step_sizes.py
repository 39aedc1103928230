"""The error of every step size of a tuning stage, one line per configuration."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.axes import Y_LABEL, highest_shown, log_error_axis, mark_at_top, set_scales
from untruncated.plots.rows import means
from untruncated.plots.style import shades

METRIC = "msre"
MARKERS = "os^Dv<>PX*"


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel from its table; lines come in the order of the experiment file."""
    rows = table[(table["stage"] == "tuning") & (table["metric"] == METRIC)]
    summary = means(rows, ["curve", "label", "step_size"])
    curves = list(summary["curve"].unique())
    colors = shades(len(curves))
    top = highest_shown(summary["mean"])
    for index, curve in enumerate(curves):
        points = summary[summary["curve"] == curve].sort_values("step_size")
        marker = MARKERS[index % len(MARKERS)]
        shown = points["mean"].where(points["mean"] <= top)
        error = points["standard_error"].fillna(0)
        axes.errorbar(
            points["step_size"],
            shown,
            yerr=[error, np.minimum(error, top - shown)],
            color=colors[index],
            marker=marker,
            capsize=2,
            label=points["label"].iloc[0],
        )
        # side by side, so that several lost at one step size can be told apart
        shift = 1.05 ** (index - (len(curves) - 1) / 2)
        mark_at_top(axes, shift * points["step_size"][points["diverged"] > 0], "x", colors[index])
        mark_at_top(axes, shift * points["step_size"][points["mean"] > top], "^", colors[index])
    set_scales(axes, x="log")
    axes.set_xlabel("step size α")
    log_error_axis(axes)
    axes.set_ylabel(Y_LABEL)
    if curves:
        axes.legend(title=plot["legend_title"] or None, ncols=2, fontsize=6, title_fontsize=6)
