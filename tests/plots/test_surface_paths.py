"""A surface with paths: the grid's values at their places, one path per seed from the start on."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from untruncated.plots.surface_paths import draw

PLOT = {"x_label": "θ₀", "y_label": "θ₁", "color_label": "loss", "low": 1.0, "high": 100.0}
PLOT |= {"start_x": -1.0, "start_y": 0.0}


def test_the_surface_and_the_paths_are_where_the_numbers_are():
    surface = [
        {"stage": "baseline", "metric": "loss", "theta_0": x, "theta_1": y, "value": 10 + x + 3 * y}
        for x in (-1.0, 0.0, 1.0)
        for y in (0.0, 2.0)
    ]
    path = {0: [(0.0, 1.0), (0.5, 2.0)], 1: [(0.2, 0.4), (0.9, 1.5)]}
    base = {"stage": "final", "metric": "theta", "curve": "pes", "label": "PES", "method": "pes"}
    points = [
        {**base, "seed": seed, "trajectory_step": step, "parameter": parameter, "value": value}
        for seed, places in path.items()
        for step, place in enumerate(places)
        for parameter, value in enumerate(place)
    ]
    axes = Figure().subplots()
    draw(axes, pd.DataFrame(surface + points), PLOT)
    (mesh,) = axes.collections
    np.testing.assert_allclose(mesh.get_array(), [[9, 10, 11], [15, 16, 17]])
    lines = [line.get_xydata() for line in axes.lines if len(line.get_xdata()) > 1]
    for line, places in zip(lines, path.values(), strict=True):
        np.testing.assert_allclose(line, [(-1.0, 0.0), *places])
    dots = [line.get_xydata()[0] for line in axes.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(dots, [places[-1] for places in path.values()])
    labels = axes.get_legend_handles_labels()[1]
    assert labels == ["PES"]
