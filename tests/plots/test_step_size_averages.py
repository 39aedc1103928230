"""Averages by step size: the right average, count and face of every setting."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from untruncated.plots.step_size_averages import draw
from untruncated.statistics.setting_averages import averages

PLOT = {"metric": "pairs_curve", "success_metric": "right_curve", "success_level": 0.9}
PLOT |= {"steps": 20, "threshold": 1.5, "y_label": "pairs", "y_low": 0, "y_high": 2.5}
ENDS = list(range(2, 41, 2))


def rows(label, size, seeds, right=1.0, configuration="rnn"):
    """`seeds` has each seed's value in the first 20 steps; later it is 100."""
    common = {"stage": "final", "label": label, "curve": label, "configuration": configuration}
    return [
        common
        | {"step_size": size, "seed": seed, "metric": metric, "curve_step": end}
        | {"value": value, "diverged": np.isnan(first)}
        for seed, first in enumerate(seeds)
        for end in ENDS
        for metric, value in (
            ("pairs_curve", first if end <= 20 else 100.0),
            # wrong until the last tenth of the first 20 steps, and after them
            ("right_curve", right if end == 20 else 0.0),
        )
    ]


@pytest.fixture
def table():
    return pd.DataFrame(
        [
            *rows("orthogonal", 1e-3, [2.0, 1.8]),
            *rows("orthogonal", 1e-2, [1.0, 1.2], right=0.5),
            *rows("uniform", 1e-3, [1.4, 1.8], configuration="rnn, bias True"),
            *rows("uniform", 1e-2, [1.9, np.nan]),
        ]
    )


@pytest.fixture
def axes(table):
    axes = Figure().subplots()
    draw(axes, table, PLOT)
    return axes


def test_a_setting_is_averaged_over_the_first_steps_then_over_seeds(table):
    settings = averages(table, PLOT)
    np.testing.assert_allclose(settings["mean"], [1.9, 1.1, 1.6, np.nan])
    np.testing.assert_allclose(settings["standard_error"], [0.1, 0.1, 0.2, np.nan])
    later = averages(table, PLOT | {"steps": 40})
    np.testing.assert_allclose(later["mean"], [50.95, 50.55, 50.8, np.nan])


def test_what_has_learned_in_the_last_tenth_of_those_steps_is_filled(table, axes):
    assert averages(table, PLOT)["success"].tolist() == [True, False, True, False]
    assert not averages(table, PLOT | {"steps": 40})["success"].any()
    filled = [line for line in axes.lines if line.get_label() in ("orthogonal", "uniform")]
    assert [list(line.get_ydata()) for line in filled] == [[1.9], [pytest.approx(1.6)]]
    assert all(c[0].get_markerfacecolor() == "white" for c in axes.containers)


def test_settings_above_the_line_are_counted_in_all_and_at_each_step_size(axes):
    whole, *each = axes.texts
    assert whole.get_text() == "2 of 4 above 1.5, 2 of these have learned"
    counts = {text.get_position()[0]: text.get_text() for text in each}
    assert counts == {1e-3: "2 of 2", 1e-2: "0 of 2"}


def test_what_lies_above_the_line_without_having_learned_is_told_apart(table):
    axes = Figure().subplots()
    draw(axes, table, PLOT | {"threshold": 1.0})
    assert axes.texts[0].get_text() == "3 of 4 above 1, 2 of these have learned"


def test_a_setting_with_a_diverged_seed_is_crossed_out(axes):
    (cross,) = (x for line in axes.lines if line.get_marker() == "x" for x in line.get_xdata())
    assert cross == pytest.approx(1e-2, rel=1)
    assert cross != 1e-2


def test_settings_of_one_step_size_stand_side_by_side_by_label(axes):
    xs = {y: x for c in axes.containers for x, y in zip(*c[0].get_data(), strict=True)}
    left, right = xs[1.9], next(x for y, x in xs.items() if abs(y - 1.6) < 1e-9)
    assert left < 1e-3 < right < 10**-2.5
    assert axes.get_legend_handles_labels()[1] == ["orthogonal", "uniform"]
