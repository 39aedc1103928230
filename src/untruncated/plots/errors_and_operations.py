"""Return errors of learners on the way, against the operations that their gradients have cost."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from untruncated.plots.axes import draw_optimum, mark_lost, objective_axis, set_scales
from untruncated.plots.learning_curves import curve_looks, draw_curve, draw_seeds
from untruncated.statistics.rows import by_curve, means

FLAT_STYLES = ("-.", "-")


def draw(axes: Axes, table: pd.DataFrame, plot: Mapping[str, Any]) -> None:
    """Draws one panel. A curve that learns without an estimator lies flat, as does the baseline."""
    finals = table[table["stage"] == "final"]
    rows = finals[finals["metric"] == "loss_curve"]
    for curve, (color, style) in curve_looks(rows).items():
        mine = rows[rows["curve"] == curve]
        cost = finals[(finals["curve"] == curve) & (finals["metric"] == "operations_per_iteration")]
        seeds = mine.pivot(index="curve_step", columns="seed", values="value") / plot["steps"]
        seeds.index = seeds.index * cost["value"].iloc[0]
        draw_seeds(axes, seeds, color)
        draw_curve(axes, seeds, color, style, mine["label"].iloc[0], "mean")
    online = finals[finals["metric"] == f"{plot['metric']}_last_tenth"]
    for index, (_, mine) in enumerate(by_curve(online)):
        style = FLAT_STYLES[index % len(FLAT_STYLES)]
        (row,) = means(mine, ["curve", "label"]).itertuples()
        low, high = row.mean - row.standard_error, row.mean + row.standard_error
        if row.seeds > 1 and not row.diverged:
            axes.axhspan(low, high, color="0.7", alpha=0.4, linewidth=0)
        axes.plot([], [], color="0.3", linestyle=style, label=row.label)
        if row.diverged:
            mark_lost(axes, "0.3", index)
        else:
            axes.axhline(row.mean, color="0.3", linestyle=style)
    draw_optimum(axes, table, plot["metric"])
    set_scales(axes, x="log")
    objective_axis(axes, plot["metric"], plot["y_label"])
    axes.set_xlabel("operations for gradients")
