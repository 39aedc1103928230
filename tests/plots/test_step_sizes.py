"""Step-size plots: one line per configuration; what diverged is drawn as such."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from untruncated.plots.axes import HIGHEST
from untruncated.plots.step_sizes import draw
from untruncated.plots.style import BLUE, VERMILION

PLOT = {"legend_title": "units", "metric": "msre", "y_label": "error"}
SIZES = [1e-3, 1e-2, 1e-1]


def rows(curve, errors, width=8, flops=100):
    return [
        {"curve": curve, "label": f"the {curve}", "stage": "tuning", "metric": "msre"}
        | {"width": width, "flops": flops}
        | {"step_size": size, "seed": seed, "value": value, "diverged": np.isnan(value)}
        for size, values in zip(SIZES, errors, strict=True)
        for seed, value in enumerate(values)
    ]


@pytest.fixture
def axes():
    table = [
        *rows("good", [[0.1, 0.3], [0.2, 0.2], [0.3, 0.5]]),
        *rows("wild", [[0.2, 0.4], [50.0, 58.0], [0.3, np.nan]]),
    ]
    axes = Figure().subplots()
    draw(axes, pd.DataFrame(table), PLOT)
    return axes


def marks(axes, marker):
    """Where the hollow marks at the top are; the lines' own have a face."""
    return [
        (line.get_xdata()[0], line.get_ydata()[0])
        for line in axes.lines
        if line.get_marker() == marker and line.get_markerfacecolor() == "none"
    ]


def test_lines_show_means_and_standard_errors(axes):
    good, wild = (container[0].get_xydata() for container in axes.containers)
    np.testing.assert_allclose(good, [[1e-3, 0.2], [1e-2, 0.2], [1e-1, 0.4]])
    np.testing.assert_allclose(wild[0], [1e-3, 0.3])
    bars = axes.containers[0][2][0].get_segments()
    np.testing.assert_allclose([bar[:, 1] for bar in bars], [[0.1, 0.3], [0.2, 0.2], [0.3, 0.5]])


def test_a_step_size_with_a_diverged_seed_is_crossed_out_not_averaged(axes):
    ((x, _),) = marks(axes, "x")
    assert x == 1e-1
    assert np.isnan(axes.containers[1][0].get_ydata()[2])


def test_an_outlier_does_not_set_the_axis_and_is_marked_at_the_top_with_its_value(axes):
    ((x, height),) = marks(axes, "^")
    assert x == 1e-2
    assert np.isnan(axes.containers[1][0].get_ydata()[1])
    assert axes.get_ylim()[1] < 0.2 * HIGHEST
    (text,) = axes.texts
    assert text.get_text() == "54"
    assert text.xy == (1e-2, height)


def test_what_is_lost_at_one_step_size_stands_one_below_the_other_above_all_that_is_shown():
    lost = [[0.1, 0.3], [0.2, 0.2], [np.nan, 0.2]]
    table = [row for index in range(4) for row in rows(f"curve{index}", lost)]
    axes = Figure().subplots()
    draw(axes, pd.DataFrame(table), PLOT)
    heights = [height for _, height in marks(axes, "x")]
    assert (np.diff(heights) < -0.05).all()
    low, high = np.log(axes.get_ylim())
    assert min(heights) > (np.log(0.2) - low) / (high - low)


def test_shades_go_from_the_smallest_layer_to_the_largest_whatever_the_order():
    errors = [[0.1, 0.3], [0.2, 0.2], [0.3, 0.5]]
    sizes = {"c16": (16, 900), "c2": (2, 100), "c16 long": (16, 2000), "c8": (8, 500)}
    table = [row for name, size in sizes.items() for row in rows(name, errors, *size)]
    axes = Figure().subplots()
    draw(axes, pd.DataFrame(table), PLOT)
    names = [container.get_label().removeprefix("the ") for container in axes.containers]
    assert names == ["c2", "c8", "c16", "c16 long"]
    lightness = [sum(to_rgb(container[0].get_color())) for container in axes.containers]
    assert (np.diff(lightness) > 0).all()


def test_layers_of_one_size_have_colours_without_an_order(axes):
    assert [container[0].get_color() for container in axes.containers] == [BLUE, VERMILION]
