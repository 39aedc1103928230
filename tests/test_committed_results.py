"""The results that the repository ships: sound, complete, tuned inside their grids, above Bayes."""

from pathlib import Path

import numpy as np
import pytest

from untruncated.suite.expansion import load_figures
from untruncated.suite.results import read_result
from untruncated.suite.spec import resolve_run
from untruncated.suite.tuning import choose_step_size

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "results" / "runs"
FIGURES = load_figures(ROOT / "experiments", "small")
POINTS = [
    (figure, point)
    for figure in FIGURES.values()
    for panel in figure.panels.values()
    for point in panel.points
]
NAMES = [f"{figure.name} {point.curve} {point.configuration}" for figure, point in POINTS]


def read(run):
    return read_result(RUNS / f"{run.hash}.json", run.canonical)


def test_every_file_is_sound_and_known_by_its_name():
    paths = sorted(RUNS.glob("*.json"))
    assert paths
    for path in paths:
        assert resolve_run(read_result(path).spec).hash == path.stem
    assert sum(path.stat().st_size for path in paths) < 60e6


@pytest.mark.parametrize(("figure", "point"), POINTS, ids=NAMES)
def test_final_runs_use_the_step_size_that_tuning_says(figure, point):
    chosen = choose_step_size(read(point.tuning))
    for run in point.finals:
        result = read(run)
        assert result.choices == chosen
        assert result.axes["step_size"] == [chosen["step_size"]]


@pytest.mark.parametrize(("figure", "point"), POINTS, ids=NAMES)
def test_a_step_size_at_the_edge_of_its_grid_is_acknowledged(figure, point):
    choices = read(point.finals[0]).choices
    assert not choices["all_diverged"]
    if choices["at_edge"]:
        assert point.configuration in figure.acknowledged_edges, choices


@pytest.mark.parametrize(("figure", "point"), POINTS, ids=NAMES)
def test_no_learner_beats_the_optimal_predictor(figure, point):
    """On the same streams, seed by seed: the mean excess is not below zero by 4 standard errors."""
    panel = next(iter(figure.panels.values()))
    optimal = np.concatenate([read(run).metrics["msre"].values for run in panel.baselines])
    learner = np.concatenate([read(run).metrics["msre"].values[0] for run in point.finals])
    excess = (learner - optimal)[np.isfinite(learner)]
    assert len(excess) > 1
    assert excess.mean() >= -4 * excess.std(ddof=1) / np.sqrt(len(excess))


def test_the_simulated_optimum_agrees_with_its_exact_error():
    for figure in FIGURES.values():
        panel = next(iter(figure.panels.values()))
        results = [read(run) for run in panel.baselines]
        simulated = np.concatenate([result.metrics["msre"].values for result in results])
        exact = float(results[0].metrics["msre_exact"].values)
        standard_error = simulated.std(ddof=1) / np.sqrt(len(simulated))
        assert abs(simulated.mean() - exact) < 4 * standard_error
