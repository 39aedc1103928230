"""A metric along the run: single seeds and what is typical of them, one look per curve."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.axes import draw_reference, mark_at_top, set_scales
from untruncated.plots.style import LINE_STYLES, looks, shades

# the metrics that a step is multiplied by, for what x counts
FACTORS = {
    "steps": (),
    "inner_steps": ("inner_steps_per_iteration",),
    "particle_steps": ("inner_steps_per_iteration", "particles"),
}


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel from its table; curves of the same method differ in their line style."""
    finals = table[table["stage"] == "final"]
    rows = finals[finals["metric"] == plot["metric"]]
    look = curve_looks(rows)
    for curve, (color, style) in look.items():
        mine = rows[rows["curve"] == curve]
        seeds = mine.pivot(index="curve_step", columns="seed", values="value")
        for factor in FACTORS[plot["counts"]]:
            mask = (finals["curve"] == curve) & (finals["metric"] == factor)
            seeds.index = seeds.index * finals.loc[mask, "value"].iloc[0]
        label = mine["label"].iloc[0]
        if plot["show_seeds"]:
            draw_seeds(axes, seeds / plot["per"], color)
        draw_curve(axes, seeds / plot["per"], color, style, label, plot["center"])
    if plot["reference"] is not None:
        draw_reference(axes, plot["reference"], plot["reference_label"] or None)
    set_scales(axes, x=plot["x_scale"], y=plot["y_scale"])
    axes.set_ylim(plot["y_low"], plot["y_high"])
    axes.set_xlabel(plot["x_label"])
    axes.set_ylabel(plot["y_label"])


def curve_looks(rows: pd.DataFrame) -> dict[str, tuple[Any, str]]:
    """Colour and line style of each curve: its method's colour, or shades if it is one method's."""
    methods = rows.groupby("curve", sort=False, dropna=False)["method"].first()
    if methods.nunique() == 1 and len(methods) > 2:
        return {c: (s, "-") for c, s in zip(methods.index, shades(len(methods)), strict=True)}
    look, drawn = looks(list(methods.unique())), methods.groupby(methods, dropna=False).cumcount()
    return {
        curve: (look[method].color, LINE_STYLES[drawn[curve] % len(LINE_STYLES)])
        for curve, method in methods.items()
    }


def draw_seeds(axes: Axes, seeds: pd.DataFrame, color: Any) -> None:
    """A thin line for each column of `seeds`."""
    axes.plot(seeds.index, seeds, color=color, alpha=0.25, linewidth=0.5)


def draw_curve(
    axes: Axes, seeds: pd.DataFrame, color: Any, style: str, label: str, center: str
) -> None:
    """The mean or median, as `center` says, of curves that are columns of `seeds`.

    A seed without a value from some step on has a cross at the top there, and `center` ends.
    """
    lost = seeds.isna()
    mark_at_top(axes, lost.idxmax()[lost.any()], "x", color)  # where each lost seed is lost
    middle = getattr(seeds, center)(axis=1, skipna=False)
    axes.plot(seeds.index, middle, color=color, linewidth=2, linestyle=style, label=label)
    if center == "mean":
        error = seeds.sem(axis=1, skipna=False)
        axes.fill_between(seeds.index, middle - error, middle + error, color=color, alpha=0.3)
