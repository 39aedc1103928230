"""Every plot of runs, drawn from tables in which values are lost, or of which little is there."""

import csv
import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from untruncated.catalogue.plots import PLOTS
from untruncated.plots.style import styled
from untruncated.tables.panel_tables import COLUMNS, read_table

Rows = Iterator[dict[str, Any]]
# A reader that guesses loses both: the first becomes a missing value, the second shares its entry.
CURVES = {"None": "pes", "NA": "uoro"}
XS, SEEDS, STEPS = (1, 2, 4), (1000, 1001, 1002), (10, 20, 30)
LABELS = {"x_label": "x", "y_label": "y", "color_label": "c", "low": 1.0, "high": 100.0}
SURFACE = [(x, y) for x in (-1.0, 0.0, 1.0) for y in (1.0, 2.0)]


def swept(metric: str, x: float, seed: int, **more: Any) -> Rows:
    yield {"metric": metric, "x": x, "seed": seed, "value": x + seed / 1000, **more}


def curve(x: float, seed: int) -> Rows:
    """A loss at three steps, and the fixed costs of a step, for a run without a sweep."""
    if x == XS[0]:
        for step in STEPS:
            yield {"metric": "loss_curve", "curve_step": step, "seed": seed, "value": 40 / step}
        yield {"metric": "operations_per_iteration", "value": 5.0, "fixed": True}


def returns(x: float, seed: int) -> Rows:
    """The untrained policy's return, which no seed loses, and returns at three steps."""
    if x == XS[0]:
        yield {"metric": "untrained_return", "seed": seed, "value": -0.5, "fixed": True}
        for step in STEPS:
            yield {"metric": "return_curve", "curve_step": step, "seed": seed, "value": step / 40}


def path(metric: str, step: str, coordinate: str) -> Callable[[float, int], Rows]:
    def rows(x: float, seed: int) -> Rows:
        if x == XS[0]:
            for index, number in itertools.product(range(3), range(2)):
                where = {step: index, coordinate: number}
                yield {"metric": metric, "seed": seed, "value": 0.1 * index + number, **where}

    return rows


def parameters(x: float, seed: int) -> Rows:
    if (x, seed) == (XS[0], SEEDS[0]):
        yield {"metric": "theta", "parameter": 0, "value": 0.5}
        yield {"metric": "theta", "parameter": 1, "value": 1.5}
        yield {"metric": "loss", "value": 7.0}


def states(x: float, seed: int) -> Rows:
    if seed == SEEDS[0]:
        for row in path("state", "inner_step", "coordinate")(x, seed):
            yield {**row, "seed": None}


def errors(x: float, seed: int) -> Rows:
    yield from swept("relative_squared_error", x, seed, run=f"run{x}")
    yield {"metric": "unrolls", "run": f"run{x}", "value": 10 * x, "fixed": True}


def laws(x: float, seed: int) -> Rows:
    yield from swept("relative_variance", x, seed)
    yield {"metric": "predicted_variance", "x": x, "value": x, "fixed": True}


def times(x: float, seed: int) -> Rows:
    yield from swept("seconds", x, seed, repeat=seed)
    yield {"metric": "predicted_operations", "x": x, "value": x, "fixed": True}


@dataclass
class Case:
    """A kind of plot: its fields, the rows of one curve at an x and a seed, and what is crossed.

    `crosses` are how many if all is lost: of each curve, at each x and for each seed if so.
    """

    rows: Callable[[float, int], Rows]
    plot: dict[str, Any] = field(default_factory=dict)
    stage: str = "final"
    surface: tuple[str, str] | None = None
    each_x: bool = False
    each_seed: bool = False

    def crosses(self, xs: tuple, seeds: tuple) -> int:
        return len(CURVES) * (len(xs) if self.each_x else 1) * (len(seeds) if self.each_seed else 1)


def shares(x: float, seed: int) -> Rows:
    for metric, step in itertools.product(("pairs_curve", "right_curve"), STEPS):
        more = {"step_size": x / 1000, "curve_step": step, "seed": seed}
        yield {"metric": metric, "value": 0.5 + x / 10 + seed / 1e5, **more}


THETA, STATE = ("theta_0", "theta_1"), ("state_0", "state_1")
CURVE = {"metric": "loss_curve", "reference": None, "counts": "steps", "center": "mean"}
CURVE |= {"reference_label": "", "per": 1.0, "show_seeds": True}
CURVE |= {"x_scale": "log", "y_scale": "log", "y_low": None, "y_high": None, **LABELS}
ERROR = {"metric": "msre", "y_label": "error"}
CASES = {
    "sweep_lines": Case(
        lambda x, seed: swept("msre", x, seed),
        {"x_label": "T", "x_scale": "log", "show_costs": True, **ERROR},
        each_x=True,
    ),
    "step_sizes": Case(
        lambda x, seed: swept("msre", x, seed, step_size=x / 1000),
        {"legend_title": "", **ERROR},
        stage="tuning",
        each_x=True,
    ),
    "tuned_sweep": Case(
        lambda x, seed: swept("loss", x, seed, step_size=0.1),
        {"x_label": "σ", "metric": "loss", "steps": 10, "y_label": "error"},
        stage="tuning",
        each_x=True,
    ),
    "step_size_averages": Case(
        shares,
        {"metric": "pairs_curve", "success_metric": "right_curve", "success_level": 0.7}
        | {"steps": 20, "threshold": 0.8, "y_label": "y", "y_low": None, "y_high": None},
        each_x=True,
    ),
    "learning_curves": Case(curve, CURVE, each_seed=True),
    "returns": Case(
        returns,
        {
            "metric": "return_curve",
            "random": None,
            "memoryless": None,
            "optimum": None,
            **LABELS,
        },
        each_seed=True,
    ),
    "errors_and_operations": Case(curve, {"steps": 10, **ERROR}, each_seed=True),
    "surface_paths": Case(
        path("theta", "trajectory_step", "parameter"),
        {**LABELS, "start_x": 0.0, "start_y": 1.0},
        surface=THETA,
        each_seed=True,
    ),
    "inner_parameters": Case(parameters, LABELS, surface=THETA),
    "inner_paths": Case(states, {**LABELS, "y_scale": "log"}, surface=STATE),
    "estimator_errors": Case(errors, {"parameters": None, "particles": ""}, each_x=True),
    "variance_laws": Case(laws, {"x_label": "T", "square": "T²"}, each_x=True),
    "scaling": Case(times, {"metric": "seconds", "x_label": "T"}, each_x=True),
    "update_times": Case(
        lambda x, seed: swept("seconds_per_update", x, seed, repeat=seed),
        {"x_label": "T", "x_scale": "linear"},
        each_x=True,
    ),
}


def test_every_plot_of_runs_has_a_case():
    assert set(CASES) == {name for name, entry in PLOTS.items() if entry.stages}


def table(case: Case, folder, xs=XS, seeds=SEEDS, lost=lambda x, seed: False):
    """A panel's table, written and read as the suite does."""
    rows = []
    for curve_name, method in CURVES.items():
        base = {"curve": curve_name, "label": curve_name, "method": method, "cell": method}
        base |= {"stage": case.stage, "diverged": False, "width": 3, "flops": 10, "parameters": 4}
        for x, seed in itertools.product(xs, seeds):
            for row in case.rows(x, seed):
                gone = lost(x, seed) and not row.pop("fixed", False)
                row |= {"value": None, "diverged": True} if gone else {}
                rows.append({**base, **row})
    if rows and case.surface:
        for place in SURFACE:
            point = dict(zip(case.surface, place, strict=True))
            rows.append({"stage": "baseline", "metric": "loss", "value": 9.0, **point})
    with (folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows({"diverged": False, **row} for row in rows)
    return read_table(folder / "table.csv")


def drawn(kind: str, rows):
    """The panel, drawn to the last pixel; a warning is an error."""
    with styled(), warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = Figure(figsize=(4, 3), dpi=50)
        axes = figure.subplots()
        PLOTS[kind].load()(axes, rows, CASES[kind].plot)
        FigureCanvasAgg(figure).draw()
    return axes


def crosses(axes) -> int:
    lines = [line for line in axes.lines if line.get_marker() == "x"]
    ends = [line.get_markevery() == [-1] for line in lines]
    places = [len(line.get_xdata()) for line in lines]
    return sum(1 if end else count for end, count in zip(ends, places, strict=True))


def names(axes) -> list[str]:
    """The curves in the legend, without what a plot writes behind their names."""
    labels = [label.split(" ")[0] for label in axes.get_legend_handles_labels()[1]]
    return [label for label in labels if label != "T²"]


@pytest.mark.parametrize("kind", CASES)
def test_what_is_whole_has_no_cross_and_each_curve_is_named_once(kind, tmp_path):
    axes = drawn(kind, table(CASES[kind], tmp_path))
    assert crosses(axes) == 0
    assert names(axes) == list(CURVES)


@pytest.mark.parametrize(("xs", "seeds"), [(XS, SEEDS), (XS[:1], SEEDS[:1])])
@pytest.mark.parametrize("kind", CASES)
def test_a_panel_in_which_all_diverged_has_crosses_and_its_legend(kind, xs, seeds, tmp_path):
    case = CASES[kind]
    axes = drawn(kind, table(case, tmp_path, xs, seeds, lost=lambda x, seed: True))
    assert crosses(axes) == case.crosses(xs, seeds)
    assert names(axes) == list(CURVES)
    assert axes.get_xlabel()
    assert axes.get_ylabel()


@pytest.mark.parametrize("kind", [kind for kind in CASES if kind not in ("inner_paths",)])
def test_one_lost_value_crosses_out_its_point_and_leaves_the_others(kind, tmp_path):
    rows = table(CASES[kind], tmp_path, lost=lambda x, seed: (x, seed) == (XS[0], SEEDS[0]))
    axes = drawn(kind, rows)
    assert crosses(axes) == len(CURVES)
    for container in axes.containers:
        heights = np.asarray(container[0].get_ydata(), float)
        assert np.isfinite(heights).sum() == len(XS) - 1


@pytest.mark.parametrize(("xs", "seeds"), [(XS, SEEDS[:1]), (XS[:1], SEEDS), (XS[:1], SEEDS[:1])])
@pytest.mark.parametrize("kind", CASES)
def test_one_seed_and_one_point_are_drawn(kind, xs, seeds, tmp_path):
    axes = drawn(kind, table(CASES[kind], tmp_path, xs, seeds))
    assert crosses(axes) == 0
    assert names(axes) == list(CURVES)
    for container in axes.containers:
        np.testing.assert_allclose(len(container[0].get_xdata()), len(xs))
        assert np.isfinite(np.asarray(container[0].get_ydata(), float)).all()


@pytest.mark.parametrize("kind", CASES)
def test_an_empty_table_gives_an_empty_panel_with_its_labels(kind, tmp_path):
    axes = drawn(kind, table(CASES[kind], tmp_path, seeds=()))
    assert crosses(axes) == 0
    assert names(axes) == []
    assert axes.get_xlabel()


@pytest.mark.parametrize("kind", CASES)
def test_curves_without_a_label_are_drawn_without_a_warning(kind, tmp_path):
    whole = table(CASES[kind], tmp_path)
    axes, unnamed = drawn(kind, whole), drawn(kind, whole.assign(label=""))
    points = [sum(len(line.get_xdata()) for line in panel.lines) for panel in (unnamed, axes)]
    assert points[0] == points[1] > 0
    assert not set(names(unnamed)) & set(CURVES)


def test_a_curve_that_is_not_swept_and_diverged_has_a_cross(tmp_path):
    for kind in ("sweep_lines", "update_times"):
        rows = table(CASES[kind], tmp_path, XS[:1], lost=lambda x, seed: True)
        axes = drawn(kind, rows.assign(x=np.nan))
        assert crosses(axes) == len(CURVES)
        assert names(axes) == list(CURVES)


def test_a_learner_without_an_estimator_that_diverged_has_a_cross(tmp_path):
    def judged(x, seed):
        yield {"metric": "msre_last_tenth", "seed": seed, "value": 0.3}

    rows = table(Case(judged), tmp_path, XS[:1], lost=lambda x, seed: seed == SEEDS[1])
    axes = drawn("errors_and_operations", rows)
    assert crosses(axes) == len(CURVES)
    assert names(axes) == list(CURVES)


def test_a_surface_of_one_point_and_one_without_values_are_drawn(tmp_path):
    rows = table(CASES["surface_paths"], tmp_path)
    places = rows["stage"] == "baseline"
    for changed in (
        rows[~places | (rows["theta_0"] == 0) & (rows["theta_1"] == 1)],
        rows.assign(value=rows["value"].mask(places)),
    ):
        assert len(drawn("surface_paths", changed).collections) == 1


def test_a_panel_beside_one_in_which_all_diverged_keeps_its_limits(tmp_path):
    case = CASES["sweep_lines"]
    whole = table(case, tmp_path)
    lost = table(case, tmp_path, lost=lambda x, seed: True)
    alone = drawn("sweep_lines", whole).get_ylim()
    for order in ((lost, whole), (whole, lost)):
        panels = Figure().subplots(1, 2, sharey=True)
        for axes, rows in zip(panels, order, strict=True):
            PLOTS["sweep_lines"].load()(axes, rows, case.plot)
        FigureCanvasAgg(panels[0].figure).draw()
        for axes in panels:
            np.testing.assert_allclose(axes.get_ylim(), alone)
