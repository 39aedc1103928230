"""What single figures are asked for: a surface's share, exponents of costs, theory beside numbers.

Each is a function of the tables, and what the template gives.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from untruncated.pages.figures import Figures
from untruncated.statistics.exponents import exponents as fitted_exponents
from untruncated.statistics.samples import Sample, best
from untruncated.statistics.setting_averages import averages


def surface_share(figures: Figures, panel: str, low: float, high: float) -> float:
    """The share of a plane of outer parameters on which the loss is from `low` to `high`."""
    rows = figures.table(panel)
    values = rows.loc[(rows["stage"] == "baseline") & (rows["metric"] == "loss"), "value"]
    return float(values.between(low, high).mean())


def surface_least(figures: Figures, panel: str) -> float:
    """The lowest loss of a plane of outer parameters."""
    rows = figures.table(panel)
    return float(
        rows.loc[(rows["stage"] == "baseline") & (rows["metric"] == "loss"), "value"].min()
    )


def exponents(figures: Figures, panel: str, metric: str) -> dict[str, tuple[float, float]]:
    """Measured and predicted exponent of a cost, by curve: the slopes that the panel shows."""
    fits = fitted_exponents(figures.table(panel), metric)
    return {
        str(curve): (float(fit.measured), float(fit.predicted)) for curve, fit in fits.iterrows()
    }


def largest_deviation(figures: Figures, panel: str, measured: str, predicted: str) -> float:
    """The largest relative distance of a mean over seeds from what is predicted, over a panel."""
    return max(
        abs(a.mean / b.mean - 1)
        for curve in figures.curves(panel)
        for a, b in zip(
            figures.sweep(panel, curve, measured),
            figures.sweep(panel, curve, predicted),
            strict=True,
        )
    )


def by_unrolls(figures: Figures, panel: str, curve: str) -> list[Sample]:
    """Relative squared errors of an estimate, one sample for each number of unrolls, which is x."""
    runs = figures.column(panel, "run", curve=curve)
    found = [
        replace(
            figures.final(panel, curve, "relative_squared_error", run=run),
            x=figures.final(panel, curve, "unrolls", run=run).values[0],
        )
        for run in runs
    ]
    return sorted(found, key=lambda sample: sample.x)


def best_along(figures: Figures, panel: str, curve: str, metric: str, per: float) -> list[Sample]:
    """For each value of the swept quantity, which is x, the best step size's tuning seeds.

    `per` divides the metric, say by the number of steps that it sums over.
    """
    values = figures.column(panel, "x", curve=curve, stage="tuning")
    found = (
        best(figures.sweep(panel, curve, metric, "step_size", stage="tuning", x=value))
        for value in values
    )
    return [replace(sample.per(per), x=value) for sample, value in zip(found, values, strict=True)]


def surface_around(
    figures: Figures, panel: str, place: Sequence[float], distance: float
) -> tuple[float, float]:
    """Lowest and highest loss of a plane of outer parameters within a distance of a place."""
    rows = figures.table(panel)
    rows = rows[(rows["stage"] == "baseline") & (rows["metric"] == "loss")]
    near = np.hypot(rows["theta_0"] - place[0], rows["theta_1"] - place[1]) <= distance
    return float(rows.loc[near, "value"].min()), float(rows.loc[near, "value"].max())


def final_parameters(figures: Figures, panel: str, curve: str) -> np.ndarray:
    """Where θ ends, shape (seeds, parameters)."""
    rows = figures.table(panel)
    rows = rows[(rows["curve"] == curve) & (rows["metric"] == "theta")]
    last = rows[rows["trajectory_step"] == rows["trajectory_step"].max()]
    return last.pivot(index="seed", columns="parameter", values="value").to_numpy(float)


def setting_averages(
    figures: Figures,
    panel: str,
    metric: str,
    steps: int,
    success_metric: str,
    success_level: float,
) -> list[dict[str, Any]]:
    """Each setting of such a panel, with the columns of `statistics.setting_averages.averages`."""
    plot = {"metric": metric, "steps": steps}
    plot |= {"success_metric": success_metric, "success_level": success_level}
    return averages(figures.table(panel), plot).to_dict("records")


FACTS = (
    best_along,
    by_unrolls,
    exponents,
    final_parameters,
    largest_deviation,
    setting_averages,
    surface_around,
    surface_least,
    surface_share,
)
