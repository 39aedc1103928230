"""Plots of estimators' errors, variances and costs: marks where the numbers are."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from untruncated.catalogue.estimator_traits import TRAITS
from untruncated.catalogue.estimators import ESTIMATORS
from untruncated.plots import (
    errors_and_operations,
    estimator_errors,
    estimator_traits,
    inner_paths,
    scaling,
    variance_formulas,
    variance_laws,
)


@pytest.fixture
def axes():
    return Figure().subplots()


def _rows(curve, metric, values, **fields):
    base = {"stage": "final", "curve": curve, "label": curve.upper(), "method": curve}
    return [{**base, "metric": metric, "value": value, **fields} for value in values]


def test_errors_lie_at_the_number_of_unrolls_and_rounding_at_the_bottom(axes):
    rows = [
        *_rows("pes", "relative_squared_error", [1.0, 3.0], run="r1"),
        *_rows("pes", "unrolls", [10], run="r1"),
        *_rows("pes", "relative_squared_error", [0.0, 1e-13], run="r2"),
        *_rows("pes", "unrolls", [1], run="r2"),
    ]
    estimator_errors.draw(axes, pd.DataFrame(rows), {"parameters": None, "particles": ""})
    (bars,) = axes.containers
    np.testing.assert_allclose(bars[0].get_xydata(), [(10, 2)])
    (zero,) = [line for line in axes.lines if line.get_marker() == "v"]
    np.testing.assert_allclose(zero.get_xdata(), [1])
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_the_laws_of_table_2_lie_behind_the_errors(axes):
    """(P + 1) / (N / 2) at one unroll; at ten, by the formulas of the table."""
    rows = []
    for unrolls in (1, 10):
        rows += _rows("pes", "relative_squared_error", [1.0], run=f"r{unrolls}")
        rows += _rows("pes", "unrolls", [unrolls], run=f"r{unrolls}")
    estimator_errors.draw(axes, pd.DataFrame(rows), {"parameters": 790, "particles": "1000"})
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    np.testing.assert_allclose(lines["law, one unroll: 1.58"], 791 / 500)
    independent = lines["law, gradients independent"]
    np.testing.assert_allclose(independent, [1.582, (1 + 790 * 11 / 2) / 500])
    same = lines["law, all the same"]
    np.testing.assert_allclose(same, [1.582, (1 / 10 + 790 / 2 + 790 / 20) / 500])
    bands = [band.get_datalim(axes.transData).intervaly for band in axes.collections[-2:]]
    np.testing.assert_allclose(max(bands[0]), (1 + 790 * 21 / 3) / 500)
    at_ten = 2 / 3 * 791 * (1 + 1 / 110) / 500  # the upper edge of the second, a lower value
    np.testing.assert_allclose(bands[1], [same[1], 1.582])
    assert same[1] < at_ten < 1.582


def test_exponents_are_slopes_of_medians_and_stand_beside_the_lines(axes):
    rows = []
    for x in (2.0, 4.0, 8.0):
        rows += _rows("pes", "seconds", [x**1.5, x**1.5, 100.0], x=x)  # a slow round
        rows += _rows("pes", "predicted_operations", [7 * x], x=x)
    table = pd.DataFrame(rows)
    fit = scaling.exponents(table, "seconds").loc["pes"]
    np.testing.assert_allclose([fit.measured, fit.predicted], [1.5, 1.0])
    scaling.draw(axes, table, {"metric": "seconds", "x": "size", "x_label": "size"})
    assert [text.get_text() for text in axes.texts] == ["1.50 (1.00)"]
    (bars,) = axes.containers
    np.testing.assert_allclose(bars[0].get_ydata(), [1e6 * x**1.5 for x in (2, 4, 8)])


def test_exponents_of_lines_that_end_together_do_not_overlap(axes):
    rows = []
    for index in range(8):
        name = f"curve{index}"
        for x in (2.0, 4.0):
            rows += _rows(name, "seconds", [x * (1 + 0.001 * index)], x=x)
            rows += _rows(name, "predicted_operations", [7 * x], x=x)
    scaling.draw(axes, pd.DataFrame(rows), {"metric": "seconds", "x": "size", "x_label": "size"})
    heights = np.asarray([text.xy[1] for text in axes.texts])
    assert (np.diff(heights) > 7 / 72 / scaling.HEIGHT).all()
    assert (heights <= 1).all()


def test_variances_are_markers_on_the_lines_of_the_formulas(axes):
    rows = []
    for x in (1.0, 2.0):
        rows += _rows("diagonal", "relative_variance", [3.9 * x, 4.1 * x], x=x)
        rows += _rows("diagonal", "predicted_variance", [4.0 * x], x=x)
    plot = {"x": "unrolls", "x_label": "T", "square": "T²"}
    variance_laws.draw(axes, pd.DataFrame(rows), plot)
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    np.testing.assert_allclose(lines["T²"], [4, 16])
    (bars,) = axes.containers
    np.testing.assert_allclose(bars[0].get_ydata(), [4, 8])


def test_errors_are_per_step_and_x_is_the_cost_so_far(axes):
    rows = [
        *_rows("pes", "loss_curve", [100.0], seed=0, curve_step=5),
        *_rows("pes", "loss_curve", [50.0], seed=0, curve_step=10),
        *_rows("pes", "operations_per_iteration", [30.0]),
        *_rows("td", "msre_last_tenth", [0.2, 0.4], seed=0),
    ]
    table = pd.DataFrame(rows)
    plot = {"steps": 100, "metric": "msre", "y_label": "error"}
    errors_and_operations.draw(axes, table, plot)
    lines = {line.get_label(): line for line in axes.lines}
    np.testing.assert_allclose(lines["PES"].get_xydata(), [(150, 1), (300, 0.5)])
    np.testing.assert_allclose(lines["TD"].get_ydata(), 0.3)


def test_inner_problems_are_drawn_from_start_to_end_and_theta_with_its_loss():
    theta_plane, state_plane = (
        [
            {"stage": "baseline", "metric": "loss", "value": x + y, f"{kind}_0": x, f"{kind}_1": y}
            for x in (0.0, 1.0)
            for y in (1.0, 2.0)
        ]
        for kind in ("theta", "state")
    )
    runs = [
        *_rows("best", "theta", [0.5], parameter=0),
        *_rows("best", "theta", [1.5], parameter=1),
        *_rows("best", "loss", [1234.4]),
    ]
    for step, place in enumerate([(0.1, 1.1), (0.9, 1.9)]):
        for coordinate, value in enumerate(place):
            runs += _rows("best", "state", [value], inner_step=step, coordinate=coordinate)
    plot = {"low": 1, "high": 9, "x_label": "x", "y_label": "y", "color_label": "loss"}
    left, right = Figure().subplots(1, 2)
    inner_paths.draw_parameters(left, pd.DataFrame(theta_plane + runs), plot)
    np.testing.assert_allclose(left.lines[0].get_xydata(), [(0.5, 1.5)])
    assert left.texts[0].get_text() == "1,234"
    inner_paths.draw_states(right, pd.DataFrame(state_plane + runs), {**plot, "y_scale": "log"})
    np.testing.assert_allclose(right.lines[0].get_xydata(), [(0.1, 1.1), (0.9, 1.9)])
    np.testing.assert_allclose(right.lines[1].get_xydata(), [(0.1, 1.1)])


def test_every_estimator_has_a_row_in_the_table(axes):
    assert set(ESTIMATORS) <= set(TRAITS)
    assert all(TRAITS[name].operations and TRAITS[name].numbers for name in ESTIMATORS)
    needs_derivatives = {name for name, entry in ESTIMATORS.items() if entry.derivatives}
    assert needs_derivatives == {n for n in ESTIMATORS if not TRAITS[n].nondifferentiable}
    estimator_traits.draw(axes)
    cells = axes.tables[0].get_celld()
    assert len(cells) == (len(TRAITS) + 1) * len(estimator_traits.COLUMNS)
    variance_formulas.draw(Figure().subplots())
