"""How far gradient estimates lie from the gradient, against the unrolls of an inner problem."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.axes import log_error_axis, mark_at_top, set_scales
from untruncated.plots.learning_curves import curve_looks
from untruncated.plots.rows import means
from untruncated.plots.style import looks

# Relative squared errors below this are rounding errors, also in float32.
ROUNDING = 1e-10
# Factor between the ends of an axis below which powers of ten are too few ticks.
NARROW = 100


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel: means of the relative squared error over repeats, both axes logarithmic.

    What is exact but for rounding is marked at the bottom.
    """
    del plot  # it has no fields
    finals = table[table["stage"] == "final"]
    rows = finals[finals["metric"] == "relative_squared_error"]
    unrolls = finals[finals["metric"] == "unrolls"].groupby("run", dropna=False)["value"].first()
    rows = rows.assign(unrolls=rows["run"].map(unrolls))
    look = curve_looks(rows)
    for curve, (color, style) in look.items():
        mine = rows[rows["curve"] == curve]
        marker = looks([mine["method"].iloc[0]])[mine["method"].iloc[0]].marker
        errors = means(mine, ["unrolls"]).sort_values("unrolls").set_index("unrolls")
        exact, inexact = errors[errors["mean"] < ROUNDING], errors[~(errors["mean"] < ROUNDING)]
        axes.errorbar(
            inexact.index,
            inexact["mean"],
            yerr=inexact["standard_error"].fillna(0),
            color=color,
            linestyle=style,
            marker=marker,
            markerfacecolor=color if style == "-" else "white",
            capsize=2,
            label=mine["label"].iloc[0],
        )
        mark_at_top(axes, errors.index[errors["diverged"] > 0], "x", color)
        place = {"transform": axes.get_xaxis_transform(), "clip_on": False}
        axes.plot(exact.index, [0.02] * len(exact), "v", mfc="white", color=color, **place)
    set_scales(axes, x="log", y="log")
    low, high = axes.get_ylim()
    if high < NARROW * low:
        log_error_axis(axes)
    axes.set_xlabel("unrolls per inner problem, T/K")
    axes.set_ylabel("relative squared error")
