"""The plots of an objective, of returns: drawn on a linear axis, whatever their sign and size."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from untruncated.catalogue import lookup, programs
from untruncated.catalogue.objective import Objective
from untruncated.plots import step_sizes, sweep_lines, tuned_sweep

PLOTS = {
    "sweep_lines": {"x": "truncation", "x_label": "T"},
    "step_sizes": {},
    "tuned_sweep": {"x": "truncation", "x_label": "T", "metric": "return", "steps": 2},
}
SIZES = [1e-3, 1e-2, 1e-1]


@pytest.fixture(autouse=True)
def _control(monkeypatch):
    control = programs.ProgramEntry("made:up", objective=Objective("return", "max"))
    monkeypatch.setattr(programs, "PROGRAMS", programs.PROGRAMS | {"control": control})


def _plot(name, **more):
    given = {**PLOTS[name], "metric": "return", "y_label": "return", **more}
    return lookup("plot", name, "plot").resolve(given, "plot")


def _table(stage, by_size):
    """Of one curve, at x = 1 and, 1000 higher, at x = 2."""
    common = {"curve": "ppo", "label": "PPO", "method": "gru", "cell": "gru", "stage": stage}
    common |= {"width": 8, "flops": 100, "parameters": 10}
    return pd.DataFrame(
        common
        | {"metric": metric, "x": x, "step_size": size, "seed": seed, "diverged": np.isnan(value)}
        | {"value": value + 1000 * (x - 1) + shift}
        for x in (1, 2)
        for size, values in by_size.items()
        for seed, value in enumerate(values)
        for metric, shift in (("return", 0), ("msre", 5e6))
    )


def _drawn(module, name, table):
    axes = Figure().subplots()
    module.draw(axes, table, _plot(name))
    assert (axes.get_yscale(), axes.get_ylabel()) == ("linear", "return")
    return axes


def _hollow(axes, marker):
    lines = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    return [x for line in lines if line.get_marker() == marker for x in line.get_xdata()]


def test_a_sweep_shows_returns_below_zero_and_far_apart():
    axes = _drawn(sweep_lines, "sweep_lines", _table("final", {1e-3: [-3.0, -1.0]}))
    (container,) = axes.containers
    np.testing.assert_allclose(container[0].get_xydata(), [[1, -2], [2, 998]])
    assert _hollow(axes, "^") == [] == _hollow(axes, "x")
    low, high = axes.get_ylim()
    assert low < -2 and high > 998


def test_step_sizes_with_a_diverged_seed_are_crossed_out_above_all_that_is_shown():
    by_size = {1e-3: [-200.0, -100.0], 1e-2: [40.0, 60.0], 1e-1: [90.0, np.nan]}
    table = _table("tuning", by_size).query("x == 1")
    axes = _drawn(step_sizes, "step_sizes", table)
    (container,) = axes.containers
    np.testing.assert_allclose(container[0].get_xydata()[:, 1], [-150.0, 50.0, np.nan])
    assert _hollow(axes, "x") == [1e-1] and _hollow(axes, "^") == []
    low, high = axes.get_ylim()
    (height,) = [line.get_ydata()[0] for line in axes.lines if line.get_marker() == "x"]
    assert low + height * (high - low) > 50.0


def test_a_tuned_sweep_takes_the_highest_mean_of_what_did_not_diverge():
    by_size = {1e-3: [4.0, 8.0], 1e-2: [90.0, np.nan], 1e-1: [2.0, 2.0]}
    axes = _drawn(tuned_sweep, "tuned_sweep", _table("tuning", by_size))
    (container,) = axes.containers
    np.testing.assert_allclose(container[0].get_xydata(), [[1, 3], [2, 503]])


@pytest.mark.parametrize("name", PLOTS)
def test_words_say_nothing_of_what_is_above_a_panel_that_shows_all(name):
    entry = lookup("plot", name, "plot")
    assert "△" not in entry.marks_of(_plot(name)) and "×" in entry.marks_of(_plot(name))
    assert "△" in entry.marks_of(_plot(name, metric="msre"))
    assert "  " not in entry.marks_of(_plot(name))


def test_plots_draw_the_return_error_unless_asked_for_something_else():
    for name in ("sweep_lines", "step_sizes"):
        defaults = lookup("plot", name, "plot").resolve(
            PLOTS[name] if name == "sweep_lines" else {}, name
        )
        assert defaults["metric"] == "msre"
        assert defaults["y_label"] == "mean squared return error"
