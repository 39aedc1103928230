"""Step-size plots: one line per configuration; what diverged is drawn as such."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from untruncated.plots.axes import HIGHEST
from untruncated.plots.step_sizes import draw

SIZES = [1e-3, 1e-2, 1e-1]


def rows(curve, errors):
    return [
        {"curve": curve, "label": f"the {curve}", "stage": "tuning", "metric": "msre"}
        | {"step_size": size, "seed": seed, "value": value, "diverged": np.isnan(value)}
        for size, values in zip(SIZES, errors, strict=True)
        for seed, value in enumerate(values)
    ]


@pytest.fixture
def axes():
    table = [
        *rows("good", [[0.1, 0.3], [0.2, 0.2], [0.3, 0.5]]),
        *rows("wild", [[0.2, 0.4], [50.0, 60.0], [0.3, np.nan]]),
    ]
    axes = Figure().subplots()
    draw(axes, pd.DataFrame(table), {"legend_title": "units"})
    return axes


def marks(axes, marker):
    return [x for line in axes.lines if line.get_marker() == marker for x in line.get_xdata()]


def test_lines_show_means_and_standard_errors(axes):
    good, wild = (container[0].get_xydata() for container in axes.containers)
    np.testing.assert_allclose(good, [[1e-3, 0.2], [1e-2, 0.2], [1e-1, 0.4]])
    np.testing.assert_allclose(wild[0], [1e-3, 0.3])
    bars = axes.containers[0][2][0].get_segments()
    np.testing.assert_allclose([bar[:, 1] for bar in bars], [[0.1, 0.3], [0.2, 0.2], [0.3, 0.5]])


def test_a_step_size_with_a_diverged_seed_is_crossed_out_not_averaged(axes):
    (cross,) = marks(axes, "x")
    assert cross == pytest.approx(1e-1, rel=0.1)
    assert np.isnan(axes.containers[1][0].get_ydata()[2])


def test_errors_far_above_the_others_are_marked_at_the_top(axes):
    (triangle,) = (x for x in marks(axes, "^") if x not in SIZES)
    assert triangle == pytest.approx(1e-2, rel=0.1)
    assert np.isnan(axes.containers[1][0].get_ydata()[1])
    assert axes.get_ylim()[1] < 0.2 * HIGHEST


def test_the_legend_says_what_its_labels_are(axes):
    legend = axes.get_legend()
    assert legend.get_title().get_text() == "units"
    assert [text.get_text() for text in legend.get_texts()] == ["the good", "the wild"]
