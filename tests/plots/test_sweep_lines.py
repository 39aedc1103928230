"""What is drawn: the right numbers, the same colours, and the same file for the same table."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from untruncated.plots.style import looks
from untruncated.plots.sweep_lines import CONFIGURATION, draw
from untruncated.statistics.rows import means

PLOT = {"name": "sweep_lines", "x": "truncation", "x_label": "T", "x_scale": "log"}
PLOT |= {"show_costs": True, "metric": "msre", "y_label": "error"}


def rows(curve, x, values, cell="gru", diverged=()):
    return [
        {
            "curve": curve,
            "label": f"the {curve}",
            "cell": cell,
            "width": 3,
            "x": x,
            "flops": 12_300,
            "parameters": 50,
            "stage": "final",
            "metric": "msre",
            "seed": seed,
            "value": value,
            "diverged": seed in diverged,
        }
        for seed, value in enumerate(values)
    ]


@pytest.fixture
def table():
    baseline = {"curve": "baseline", "label": "optimum", "stage": "baseline", "value": 0.02}
    return pd.DataFrame(
        [
            *rows("gru", 1, [0.2, 0.4]),
            *rows("gru", 5, [0.1, 0.3]),
            *rows("linear_rtu", np.nan, [0.08, 0.12], cell="linear_rtu"),
            {**baseline, "metric": "msre_exact"},
            {**baseline, "metric": "msre_memoryless", "value": 0.5},
        ]
    )


def test_means_and_standard_errors(table):
    summary = means(table[table["stage"] == "final"], CONFIGURATION)
    np.testing.assert_allclose(summary["mean"], [0.3, 0.2, 0.1])
    np.testing.assert_allclose(summary["standard_error"], [0.1, 0.1, 0.02])
    assert summary["seeds"].tolist() == [2, 2, 2]


def test_lines_bars_bands_and_the_baseline_are_where_the_numbers_are(table):
    axes = Figure().subplots()
    draw(axes, table, PLOT)
    (container,) = axes.containers
    line, _, (bars,) = container
    np.testing.assert_allclose(line.get_xydata(), [[1, 0.3], [5, 0.2]])
    np.testing.assert_allclose([s[:, 1] for s in bars.get_segments()], [[0.2, 0.4], [0.1, 0.3]])
    flat = {line.get_label(): line.get_ydata() for line in axes.lines}
    np.testing.assert_allclose(flat["the linear_rtu"], [0.1, 0.1])
    np.testing.assert_allclose(flat["optimum"], [0.02, 0.02])
    np.testing.assert_allclose(flat["best memoryless"], [0.5, 0.5])
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["3 u, 12.3k"] * 3


def test_a_cell_has_its_colour_everywhere_and_strangers_get_their_own():
    both = looks(["gru", "theirs:Cell", "linear_rtu", "others:Cell"])
    assert both["gru"] == looks(["gru"])["gru"]
    assert len({look.color for look in both.values()}) == 4


def test_a_configuration_with_diverged_seeds_is_marked_not_averaged(table):
    table = pd.concat([table, pd.DataFrame(rows("gru", 9, [np.nan, 0.1], diverged=(0,)))])
    axes = Figure().subplots()
    draw(axes, table, PLOT)
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    np.testing.assert_allclose(
        [line.get_xdata() for line in crosses if len(line.get_xdata())], [[9]]
    )
    (container,) = axes.containers
    assert np.isnan(container[0].get_ydata()[-1])


def test_curves_stand_side_by_side_at_each_x_and_flat_ones_at_the_right_edge():
    """Markers, bars and dots of a curve move together; dots of flat curves stay inside."""
    table = pd.DataFrame(
        [
            *rows("gru", 1, [0.2, 0.4]),
            *rows("lru", 1, [0.2, 0.4], cell="lru"),
            *rows("linear_rtu", np.nan, [0.08, 0.12], cell="linear_rtu"),
            *rows("nonlinear_rtu", np.nan, [0.08, 0.12], cell="nonlinear_rtu"),
        ]
    )
    figure = Figure(dpi=72)
    axes = figure.subplots()
    draw(axes, table, PLOT)
    shifts = [c[0].get_transform().transform((1, 0.3))[0] for c in axes.containers]
    middle, _ = axes.transData.transform((1, 0.3))
    np.testing.assert_allclose(shifts, [middle - 1.75, middle + 1.75])
    places = [
        dots.get_offset_transform().transform(dots.get_offsets())[:, 0]
        for dots in axes.collections
        if isinstance(dots, PathCollection)
    ]
    np.testing.assert_allclose(places[0], shifts[0])
    np.testing.assert_allclose(places[1], shifts[1])
    edge = axes.get_window_extent().x1
    np.testing.assert_allclose(places[2], edge - 5)
    np.testing.assert_allclose(places[3], edge - 10)


def test_the_limits_hold_what_is_moved(table):
    axes = Figure().subplots()
    draw(axes, table, PLOT)
    low, high = axes.get_ylim()
    assert low < 0.02
    assert high > 0.4
