"""The results that the repository ships: sound, complete, tuned inside their grids, above Bayes."""

from pathlib import Path

import numpy as np
import pytest

from untruncated.catalogue import lookup
from untruncated.catalogue.objective import Objective
from untruncated.experiments.expansion import load_figures
from untruncated.experiments.spec import SEEDS_PER_BLOCK, resolve_run
from untruncated.results.result_files import read_result
from untruncated.running.tuning import choose_step_size, is_close

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "results" / "runs"
FIGURES = load_figures(ROOT / "experiments", "small")
assert not FIGURES.broken
POINTS = {
    f"{figure.name}{panel.name} {point.curve} {point.configuration}": (figure, panel, point)
    for figure in FIGURES.values()
    for panel in figure.panels.values()
    for point in panel.points
    if point.tuning and point.finals
}
# What is judged while it learns, and what with weights held fixed on the first steps of a stream.
JUDGED, HELD_FIXED = (
    [
        name
        for name, (_, panel, point) in POINTS.items()
        if panel.baselines and point.finals[0].fields["program"] == program
    ]
    for program in ("online_prediction", "meta_optimisation")
)


def read(run):
    return read_result(RUNS / f"{run.hash}.json", run.canonical)


def test_every_file_is_sound_and_known_by_its_name():
    paths = sorted(RUNS.glob("*.json"))
    assert paths
    for path in paths:
        assert resolve_run(read_result(path).spec).hash == path.stem
    assert sum(path.stat().st_size for path in paths) < 60e6


@pytest.mark.parametrize("name", POINTS)
def test_final_runs_use_the_step_size_that_tuning_says(name):
    _, _, point = POINTS[name]
    objective = lookup("program", point.fields["program"], name).objective
    chosen = choose_step_size(read(point.tuning), objective)
    for run in point.finals:
        result = read(run)
        assert result.choices == chosen
        assert result.axes["step_size"] == [chosen["step_size"]]


@pytest.mark.parametrize("name", POINTS)
def test_a_step_size_at_the_edge_of_its_grid_is_acknowledged(name):
    _, _, point = POINTS[name]
    choices = read(point.finals[0]).choices
    if choices["at_edge"] or choices["all_diverged"]:
        assert point.edge, choices


def test_an_acknowledged_edge_is_still_one():
    acknowledged = [point for _, _, point in POINTS.values() if point.edge]
    assert len(acknowledged) >= 10
    for point in acknowledged:
        choices = read(point.finals[0]).choices
        assert choices["at_edge"] or choices["all_diverged"], point.configuration


@pytest.mark.parametrize(
    "name", [name for name in POINTS if name.startswith(("rtu_figure", "pes"))]
)
def test_step_sizes_that_five_seeds_do_not_tell_apart_are_tuned_on_ten(name):
    """In the papers' figures; companions, which ask something else, are content with five."""
    _, _, point = POINTS[name]
    objective = lookup("program", point.fields["program"], name).objective
    if is_close(read(point.tuning), objective):
        assert len(point.tuning.fields["seeds"]) == 2 * SEEDS_PER_BLOCK


@pytest.mark.parametrize("name", JUDGED)
def test_no_learner_beats_the_optimal_predictor(name):
    """On the same streams, seed by seed: the mean excess is not below zero by 4 standard errors."""
    _, panel, point = POINTS[name]
    optimal = np.concatenate([read(run).metrics["msre"].values for run in panel.baselines])
    learner = np.concatenate([read(run).metrics["msre"].values[0] for run in point.finals])
    excess = (learner - optimal)[np.isfinite(learner)]
    if len(excess) > 1:
        assert excess.mean() >= -4 * excess.std(ddof=1) / np.sqrt(len(excess))
    else:
        assert read(point.finals[0]).diverged


@pytest.mark.parametrize("name", HELD_FIXED)
def test_no_weights_beat_the_optimal_predictor(name):
    """On 10,000 steps of one stream, of which the optimum differs by a few per cent."""
    _, panel, point = POINTS[name]
    exact = float(read(panel.baselines[0]).metrics["msre_exact"].values)
    for run in point.finals:
        steps = run.fields["evaluation_steps"] or run.fields["problem"]["horizon"]
        assert np.nanmin(read(run).metrics["loss_curve"].values) / steps > 0.9 * exact


def tuned_loss(point):
    """The mean over tuning seeds at the best step size; one that diverged counts as the worst."""
    means = read(point.tuning).metrics["loss"].values.mean(axis=1)
    return np.where(np.isfinite(means), means, np.inf).min()


def test_the_bridge_takes_the_best_of_what_its_companions_tried():
    tried = {}
    for companion in ("bridge_companion_particles", "bridge_companion_unrolls"):
        for panel in FIGURES[companion].panels.values():
            for point in panel.points:
                estimator = point.fields["estimator"]
                tried.setdefault(estimator["name"], []).append((tuned_loss(point), estimator))
    best = {name: min(found, key=lambda one: one[0])[1] for name, found in tried.items()}
    names = {"full_es", "truncated_es", "es_single", "pes", "pes_analytic", "truncated_bptt"}
    assert set(best) == names
    taken = [
        point.fields["estimator"]
        for panel in FIGURES["bridge_figure1"].panels.values()
        for point in panel.points
        if point.fields.get("estimator", {}).get("name") in best
    ]
    assert {estimator["name"] for estimator in taken} == names
    for estimator in taken:
        assert estimator == best[estimator["name"]]


def test_dense_rtrl_takes_the_step_size_of_the_same_gradient():
    points = {point.curve: point for point in FIGURES["bridge_figure1"].panels["a"].points}
    chosen = choose_step_size(read(points["traces"].tuning), Objective("loss"))["step_size"]
    assert [run.fields["step_sizes"] for run in points["rtrl"].finals] == [[chosen]]


def test_the_simulated_optimum_agrees_with_its_exact_error():
    panels = [POINTS[name][1] for name in JUDGED]
    all_baselines = {panel.baselines[0].hash: panel.baselines for panel in panels}
    for baselines in all_baselines.values():
        results = [read(run) for run in baselines]
        simulated = np.concatenate([result.metrics["msre"].values for result in results])
        exact = float(results[0].metrics["msre_exact"].values)
        standard_error = simulated.std(ddof=1) / np.sqrt(len(simulated))
        assert abs(simulated.mean() - exact) < 4 * standard_error
