"""Learning curves and measured times: the right statistics at the right places."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from untruncated.plots import learning_curves, update_times

LINEAR = {"x_label": "updates", "counts": "steps", "x_scale": "linear", "y_scale": "linear"}
LINEAR |= {"y_low": None, "y_high": None, "center": "mean", "reference": None}
LINEAR |= {"reference_label": "", "per": 1.0, "show_seeds": True}


def test_a_learning_curve_shows_every_seed_their_mean_and_its_error():
    values = {0: [0.2, 0.6], 1: [0.4, 1.0]}
    table = pd.DataFrame(
        {"stage": "final", "metric": metric, "curve": "rnn", "label": "RNN"}
        | {"method": "vanilla_rnn"}
        | {"curve_step": 10 * (step + 1), "seed": seed, "value": value + shift}
        for metric, shift in (("accuracy_curve", 0), ("other_curve", 5))
        for seed, steps in values.items()
        for step, value in enumerate(steps)
    )
    plot = LINEAR | {"metric": "accuracy_curve", "y_label": "share", "reference": 1}
    axes = Figure().subplots()
    learning_curves.draw(axes, table, plot)
    first, second, mean, reference = axes.lines
    np.testing.assert_allclose(first.get_xydata(), [[10, 0.2], [20, 0.6]])
    np.testing.assert_allclose(second.get_ydata(), values[1])
    np.testing.assert_allclose(mean.get_ydata(), [0.3, 0.8])
    np.testing.assert_allclose(reference.get_ydata(), [1, 1])
    (band,) = axes.collections
    heights = band.get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose([heights.min(), heights.max()], [0.2, 1.0])


def test_a_curve_may_be_a_share_without_its_seeds_beside_a_named_reference():
    values = {0: [0.0, 2.0], 1: [2.0, 2.0]}
    base = {"stage": "final", "metric": "pairs", "curve": "rnn", "label": "RNN", "method": "gru"}
    table = pd.DataFrame(
        {**base, "curve_step": step, "seed": seed, "value": value}
        for seed, steps in values.items()
        for step, value in enumerate(steps)
    )
    plot = LINEAR | {"metric": "pairs", "y_label": "share", "per": 2.0, "show_seeds": False}
    axes = Figure().subplots()
    learning_curves.draw(axes, table, plot | {"reference": 0.75, "reference_label": "claimed"})
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert list(lines) == ["RNN", "claimed"]
    np.testing.assert_allclose(lines["RNN"], [0.5, 1.0])
    np.testing.assert_allclose(lines["claimed"], 0.75)


def test_times_are_medians_in_microseconds_with_their_quartiles():
    seconds = {("gru", 1): [1e-6, 2e-6, 9e-6], ("gru", 5): [4e-6, 5e-6, 6e-6]}
    seconds["linear_rtu", np.nan] = [3e-6, 3e-6, 7e-6]
    table = pd.DataFrame(
        {"metric": "seconds_per_update", "curve": cell, "label": cell, "cell": cell, "x": x}
        | {"repeat": repeat, "value": value}
        for (cell, x), values in seconds.items()
        for repeat, value in enumerate(values)
    )
    axes = Figure().subplots()
    update_times.draw(axes, table, {"x_label": "T", "x_scale": "linear"})
    (container,) = axes.containers
    np.testing.assert_allclose(container[0].get_xydata(), [[1, 2], [5, 5]])
    (bars,) = container[2]
    np.testing.assert_allclose([b[:, 1] for b in bars.get_segments()], [[1.5, 5.5], [4.5, 5.5]])
    flat = next(line for line in axes.lines if line.get_label() == "linear_rtu")
    np.testing.assert_allclose(flat.get_ydata(), [3, 3])


def test_x_may_count_inner_steps_and_the_thick_line_may_be_a_median():
    base = {"stage": "final", "curve": "pes", "label": "PES", "method": "pes"}
    losses = {0: 1.0, 1: 2.0, 2: 30.0}
    table = pd.DataFrame(
        [
            {**base, "metric": "loss_curve", "curve_step": step, "seed": seed, "value": value}
            for step in (5, 10)
            for seed, value in losses.items()
        ]
        + [{**base, "metric": "inner_steps_per_iteration", "value": 10}]
        + [{**base, "metric": "particles", "value": 4}]
    )
    plot = LINEAR | {"metric": "loss_curve", "y_label": "loss", "counts": "inner_steps"}
    axes = Figure().subplots()
    learning_curves.draw(axes, table, plot | {"center": "median", "y_high": 50.0})
    thick = next(line for line in axes.lines if line.get_label() == "PES")
    np.testing.assert_allclose(thick.get_xydata(), [[50, 2], [100, 2]])
    assert not axes.collections
    assert axes.get_ylim()[1] == 50
    learning_curves.draw(axes, table, plot | {"counts": "particle_steps"})
    mean = [line for line in axes.lines if line.get_label() == "PES"][-1]
    np.testing.assert_allclose(mean.get_xydata(), [[200, 11], [400, 11]])


def test_many_curves_of_one_method_get_a_colour_each_and_few_get_a_line_style_each():
    def rows(methods):
        return pd.DataFrame({"curve": [f"c{i}" for i in range(len(methods))], "method": methods})

    many = learning_curves.curve_looks(rows(["pes"] * 5))
    assert len({tuple(color) for color, _ in many.values()}) == 5
    few = learning_curves.curve_looks(rows(["pes", "pes", "uoro"]))
    assert few["c0"][0] == few["c1"][0] != few["c2"][0]
    assert [style for _, style in few.values()] == ["-", "--", "-"]
