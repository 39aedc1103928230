"""A metric averaged over the first steps of a run, at every step size, a marker for each setting.

A setting is a configuration at one step size. What stands above a threshold is counted.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from untruncated.plots.axes import mark_at_top
from untruncated.plots.style import BASELINE_COLOR, SERIES

# How much of the way from one step size to the next the settings of one take up.
SPREAD = 0.7
SETTING = ["label", "curve", "configuration", "step_size"]


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel from its table: settings side by side at each step size, label by label."""
    settings = summarise(table, plot)
    sizes = np.sort(settings["step_size"].unique())
    places = settings["step_size"] * 10 ** _shifts(settings, sizes)
    for index, label in enumerate(settings["label"].unique()):
        look = SERIES[index % len(SERIES)]
        mine = settings["label"] == label
        axes.plot([], [], look.marker, color=look.color, markersize=4, label=label)
        for learns, face in ((True, look.color), (False, "white")):
            chosen = settings[mine & (settings["success"] == learns)]
            axes.errorbar(
                places[chosen.index],
                chosen["mean"],
                yerr=chosen["standard_error"].fillna(0),
                linestyle="",
                marker=look.marker,
                markersize=4,
                color=look.color,
                markerfacecolor=face,
                elinewidth=0.7,
            )
        mark_at_top(axes, places[mine & settings["mean"].isna()], "x", look.color)
    axes.axhline(plot["threshold"], color=BASELINE_COLOR, linestyle="--", linewidth=1)
    _write_counts(axes, settings, plot["threshold"])
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(visible=False, axis="x")
    axes.set_ylim(plot["y_low"], plot["y_high"])
    axes.set_xlabel("step size α")
    axes.set_ylabel(plot["y_label"])


def summarise(table: pd.DataFrame, plot: Mapping[str, Any]) -> pd.DataFrame:
    """Each setting's average over the first steps, and whether it has learned by then.

    Returns:
        One row per setting, the settings of a label together, with columns label, curve,
        configuration, step_size, mean (NaN if a seed diverged in these steps), standard_error,
        success: whether the mean of the success metric over their last tenth reaches its level.
    """
    rows = table[(table["stage"] == "final") & (table["curve_step"] <= plot["steps"])]
    curve = rows[rows["metric"] == plot["metric"]]
    seeds = curve.groupby([*SETTING, "seed"], sort=False)["value"].agg(_mean).reset_index()
    settings = (
        seeds.groupby(SETTING, sort=False)["value"]
        .agg(mean=_mean, standard_error=lambda values: values.sem(skipna=False))
        .reset_index()
    )
    shares = rows[rows["metric"] == plot["success_metric"]]
    late = shares[shares["curve_step"] > 0.9 * shares["curve_step"].max()]
    # a share of nothing is missing, and so is what a diverged seed gets
    success = late.groupby(SETTING, sort=False)["value"].mean() >= plot["success_level"]
    settings = settings.join(success.rename("success"), on=SETTING)
    settings["success"] = settings["success"].eq(True) & settings["mean"].notna()
    order = {label: index for index, label in enumerate(settings["label"].unique())}
    by_label = settings["label"].map(order).argsort(kind="stable")
    return settings.iloc[by_label].reset_index(drop=True)


def _mean(values: pd.Series) -> float:
    return values.mean(skipna=False)


def _shifts(settings: pd.DataFrame, sizes: np.ndarray) -> np.ndarray:
    """How many powers of ten each setting stands beside its step size, so that none hide others."""
    gap = np.diff(np.log10(sizes)).min() if len(sizes) > 1 else 0.5
    group = settings.groupby("step_size")["mean"]
    place, count = group.cumcount(), group.transform("size")
    return np.asarray(SPREAD * gap * ((place + 0.5) / count - 0.5), float)


def _write_counts(axes: Axes, settings: pd.DataFrame, threshold: float) -> None:
    """How many settings lie above the threshold: of all in the title, of a step size above it."""
    above = settings["mean"] > threshold
    axes.set_title(f"{above.sum()} of {len(above)} above {threshold:g}", loc="right")
    for size, mine in above.groupby(settings["step_size"]):
        place = {"transform": axes.get_xaxis_transform(), "ha": "center", "va": "center"}
        axes.text(size, 0.88, f"{mine.sum()} of {len(mine)}", fontsize=7, **place)
