"""A metric's average over the first steps of a run, for each configuration at each step size."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from untruncated.statistics.rows import means

SETTING = ["label", "curve", "configuration", "step_size"]


def averages(table: pd.DataFrame, plot: Mapping[str, Any]) -> pd.DataFrame:
    """Each setting's average over the first steps, and whether it has learned by then.

    Args:
        table: A panel's table.
        plot: Of the plot's fields `metric`, `steps`, `success_metric` and `success_level`.

    Returns:
        One row per setting, the settings of a label together, with columns label, curve,
        configuration, step_size, mean and standard_error (over seeds; NaN if one diverged in these
        steps), seeds, diverged, and success: whether the mean of the success metric over seeds and
        over the last tenth of the steps reaches its level.
    """
    rows = table[(table["stage"] == "final") & (table["curve_step"] <= plot["steps"])]
    along = rows[rows["metric"] == plot["metric"]]
    seeds = means(along, [*SETTING, "seed"]).rename(columns={"mean": "value"})
    settings = means(seeds[[*SETTING, "seed", "value"]], SETTING)
    shares = rows[rows["metric"] == plot["success_metric"]]
    late = shares[shares["curve_step"] > 0.9 * shares["curve_step"].max()]
    # a share of nothing is missing, and so is what a diverged seed has
    shown = late.groupby(SETTING, sort=False, dropna=False)["value"].mean()
    success = settings[SETTING].join(shown.rename("share"), on=SETTING)["share"]
    settings["success"] = (success >= plot["success_level"]) & settings["mean"].notna()
    first = {label: index for index, label in enumerate(settings["label"].unique())}
    by_label = settings["label"].map(first).argsort(kind="stable")
    return settings.iloc[by_label].reset_index(drop=True)
