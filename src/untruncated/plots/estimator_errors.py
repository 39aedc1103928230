"""How far gradient estimates lie from the gradient, against the unrolls of an inner problem."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from untruncated.catalogue.variance_laws import relative_pes_variance
from untruncated.plots.axes import draw_reference, mark_at_top, set_scales
from untruncated.plots.learning_curves import curve_looks
from untruncated.plots.legends import REFERENCE
from untruncated.plots.style import looks
from untruncated.statistics.rows import means

# Relative squared errors below this are rounding errors, also in float32.
ROUNDING = 1e-10
# Factor between the ends of an axis below which powers of ten are too few ticks.
NARROW = 100
# Gradients of the unrolls in Table 2, in words and with the line's style.
LAWS = (("independent", "gradients independent", "-."), ("identical", "all the same", ":"))
LAW_COLOR = "0.35"


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel: means of the relative squared error over repeats, both axes logarithmic.

    What is exact but for rounding is marked at the bottom. A grey band lies between the laws of the
    PES paper's Table 2 for gradients that depend on θ of their own unroll and of all until then.
    """
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
    if plot["parameters"] and len(unrolls):
        _draw_laws(axes, plot, np.unique(unrolls.astype(float)))
    set_scales(axes, x="log", y="log")
    low, high = axes.get_ylim()
    if high < NARROW * low:
        set_scales(axes, y="log")
    axes.set_xlabel("unrolls per inner problem, T/K")
    axes.set_ylabel("relative squared error")


def _draw_laws(axes: Axes, plot: Mapping[str, Any], unrolls: np.ndarray) -> None:
    parameters, pairs = plot["parameters"], int(plot["particles"]) // 2

    def law(structure: str, entries: str) -> list[float]:
        return [relative_pes_variance(structure, entries, t, parameters) / pairs for t in unrolls]

    for entries, words, style in LAWS:
        own, all_until = (law(structure, entries) for structure in ("diagonal", "upper_triangular"))
        axes.fill_between(unrolls, own, all_until, color="0.5", alpha=0.3, linewidth=0)
        axes.plot(
            unrolls, own, style, color=LAW_COLOR, linewidth=1, label=f"law, {words}", gid=REFERENCE
        )
    at_one = law("diagonal", "identical")[0] if unrolls[0] == 1 else np.nan
    if np.isfinite(at_one):
        draw_reference(axes, at_one, f"law, one unroll: {at_one:.2f}", "--")
