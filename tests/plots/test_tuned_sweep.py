"""Tuned sweeps: every configuration at its own best step size."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from untruncated.plots.style import looks, shades
from untruncated.plots.tuned_sweep import draw

PLOT = {"x": "sigma", "x_label": "σ", "metric": "loss", "steps": 10, "y_label": "error"}
# by curve and x: the seeds' losses at either step size
LOSSES = {
    ("n2", 0.1): [[1.0, 3.0], [2.5, 2.5]],  # the first is best, with a standard error of 1
    ("n2", 0.3): [[5.0, 5.0], [4.0, 4.0]],
    ("n10", 0.1): [[0.1, np.nan], [6.0, 6.0]],  # one diverged seed makes a step size lose
    ("n10", 0.3): [[np.nan, 1.0], [np.nan, 1.0]],
}


def table(methods):
    return pd.DataFrame(
        {"curve": curve, "label": curve.upper(), "method": methods[curve], "x": x}
        | {"stage": stage, "metric": metric, "step_size": step_size, "seed": seed}
        | {"value": value + shift, "diverged": np.isnan(value)}
        for (curve, x), by_size in LOSSES.items()
        for step_size, values in zip((1e-3, 1e-2), by_size, strict=True)
        for seed, value in enumerate(values)
        for stage, metric, shift in (
            ("tuning", "loss", 0),
            ("tuning", "loss_last_tenth", -0.05),
            ("final", "loss", -0.05),
        )
    )


@pytest.fixture
def axes():
    axes = Figure().subplots()
    draw(axes, table({"n2": "pes", "n10": "pes"}), PLOT)
    return axes


def test_markers_are_means_per_step_at_the_best_step_size(axes):
    two, ten = (container[0] for container in axes.containers)
    np.testing.assert_allclose(two.get_xydata(), [[0.1, 0.2], [0.3, 0.4]])
    np.testing.assert_allclose(ten.get_xydata(), [[0.1, 0.6], [0.3, np.nan]])
    (bar, flat) = axes.containers[0][2][0].get_segments()
    np.testing.assert_allclose(bar[:, 1], [0.1, 0.3])
    np.testing.assert_allclose(flat[:, 1], [0.4, 0.4])


def test_what_diverged_at_every_step_size_is_crossed_out(axes):
    crosses = [line for line in axes.lines if line.get_marker() == "x" and len(line.get_xdata())]
    (cross,) = crosses
    assert list(cross.get_xdata()) == [0.3] and tuple(cross.get_color()) == tuple(shades(2)[1])


def test_curves_of_one_method_have_looks_in_order_and_methods_their_own(axes):
    np.testing.assert_allclose([c[0].get_color() for c in axes.containers], shades(2))
    other = Figure().subplots()
    draw(other, table({"n2": "pes", "n10": "es_single"}), PLOT)
    known = looks(["pes", "es_single"])
    assert [c[0].get_marker() for c in axes.containers] == ["o", "s"]
    assert [c[0].get_color() for c in other.containers] == [look.color for look in known.values()]
