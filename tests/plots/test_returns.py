"""Returns along a run: from the untrained policy's on, with levels that say what they are."""

import pandas as pd
from matplotlib.figure import Figure

from untruncated.plots import returns

PLOT = {"metric": "return_curve", "x_label": "steps", "y_label": "return"}


def rows(metric, values, steps):
    return [
        {"stage": "final", "curve": "rtu", "label": "RTU", "method": "linear_rtu", "seed": seed}
        | {"metric": metric, "curve_step": step, "value": value + seed / 10}
        for seed in (1000, 1001)
        for step, value in zip(steps, values, strict=True)
    ]


def drawn(**fields):
    table = pd.DataFrame(
        rows("return_curve", [0.0, 1.0], [10, 20])
        + rows("untrained_return", [-0.5], [None])
        + rows("kl_curve", [0.2, 0.3], [10, 20])
    )
    axes = Figure().subplots()
    levels = {"random": None, "memoryless": None, "optimum": None}
    returns.draw(axes, table, PLOT | levels | fields)
    return axes


def test_the_first_point_is_the_untrained_policys_return():
    (mean,) = [line for line in drawn().lines if line.get_label() == "RTU"]
    assert mean.get_xdata().tolist() == [0, 10, 20]
    seeds = [1000 / 10, 1001 / 10]
    expected = [value + sum(seeds) / 2 for value in (-0.5, 0.0, 1.0)]
    assert [round(value, 6) for value in mean.get_ydata()] == [round(v, 6) for v in expected]


def test_another_metric_has_no_point_before_the_first_update():
    (mean,) = [line for line in drawn(metric="kl_curve").lines if line.get_label() == "RTU"]
    assert mean.get_xdata().tolist() == [10, 20]


def test_levels_are_drawn_and_named_where_they_are_known():
    axes = drawn(random=-0.5, optimum=1.0)
    levels = {line.get_label(): line.get_ydata()[0] for line in axes.lines}
    assert levels["random"] == -0.5 and levels["optimum"] == 1.0
    assert "best without memory" not in levels
