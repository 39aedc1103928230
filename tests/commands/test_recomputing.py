"""Results computed again: what is chosen, what counts as rounding, and what is told of the rest."""

import json
from pathlib import Path

import numpy as np
import pytest

from untruncated.cli import main
from untruncated.commands.recomputing import SINGLE, TYPICAL, Sound, choose, compare
from untruncated.experiments.spec import resolve_run
from untruncated.results.metric import Metric
from untruncated.results.result_files import Result, read_result, write_result

PREDICTION = {
    "program": "optimal_prediction",
    "steps": 2000,
    "environment": {"name": "trace_conditioning"},
    "seeds": [3, 4],
}
AGENT = {"cell": {"name": "gru", "width": 2}, "credit": {"name": "truncated_bptt", "truncation": 1}}
TIMING = {
    "program": "update_timing",
    "steps": 10,
    "environment": {"name": "trace_conditioning"},
    "learner": {"name": "td"},
    "agents": [AGENT],
    "seeds": [0],
}
VARIANCE = {"program": "variance_law", "problem": {"name": "linear_losses"}, "steps": 10}


@pytest.fixture(scope="module")
def computed(tmp_path_factory) -> Path:
    """The result file of a short run."""
    folder = tmp_path_factory.mktemp("results")
    assert main(["run", json.dumps(PREDICTION), "--results", str(folder), "--no-progress"]) == 0
    return folder / "runs" / f"{resolve_run(PREDICTION).hash}.json"


def test_a_sound_result_comes_out_again(computed, capsys):
    assert main(["verify", "--results", str(computed.parents[1]), "--recompute", "3"]) == 0
    captured = capsys.readouterr()
    assert captured.err == f"recomputing {computed} (1 of 1)\n"
    assert f"recomputed: {computed}: 2000 steps of optimal_prediction, 402 numbers" in captured.out
    assert captured.out.endswith("runs recomputed: 1, all agree\n")


@pytest.mark.parametrize(
    ("name", "place", "factor", "where"),
    [
        ("msre_curve", (1, 0), 1.6, " at seed=4, curve_step=10"),
        ("msre_curve", (0, 0), 0.5, " at seed=3, curve_step=10"),
        ("msre_exact", (), 1.1, ""),
    ],
)
def test_another_number_is_named_with_both_values(
    computed, tmp_path, capsys, name, place, factor, where
):
    result = read_result(computed)
    changed = result.metrics[name].values.copy()
    before, changed[place] = changed[place], changed[place] * factor
    metrics = result.metrics | {name: Metric(result.metrics[name].axes, changed)}
    path = tmp_path / "runs" / computed.name
    write_result(path, Result(**vars(result) | {"metrics": metrics}))
    assert main(["verify", "--results", str(tmp_path)]) == 0  # its checksum fits
    capsys.readouterr()
    assert main(["verify", "--results", str(tmp_path), "--recompute", "1"]) == 1
    captured = capsys.readouterr()
    values = f"{changed[place]:.6g} in the file, {before:.6g} recomputed"
    assert f"error: {path}: {name}{where} is {values}\n" in captured.err
    assert captured.err.count("error: ") == 1
    assert captured.out.endswith("runs recomputed: 1, not all agree\n")


@pytest.mark.parametrize("count", ["0", "-1", "two", "1.5", ""])
def test_a_number_of_runs_is_a_whole_one(count, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["verify", f"--recompute={count}"])
    assert stop.value.code == 2
    assert "must be a whole number from 1 on" in capsys.readouterr().err


def sound(spec: dict, seconds: float | None = 1.0, **axes: list) -> Sound:
    run = resolve_run(spec)
    timing = {} if seconds is None else {"run_seconds": seconds}
    result = Result(run.canonical, axes, {}, {}, [], timing, {})
    return Sound(Path(f"{run.hash}.json"), run, result)


def test_runs_are_spread_over_programs_and_are_always_the_same():
    predictions = [
        sound({**PREDICTION, "steps": 10 * (1 + n)}, None, curve_step=[1]) for n in range(9)
    ]
    quick, slow, unknown = (
        sound({**VARIANCE, "seeds": [n]}, seconds) for n, seconds in enumerate((5.0, 1e4, None))
    )
    given = [*predictions, quick, slow, unknown, sound(TIMING)]
    for count, shares in {1: (1, 0), 2: (1, 1), 4: (3, 1), 10: (9, 1), 99: (9, 1)}.items():
        chosen, skipped = choose(given, count)
        programs = [one.spec.fields["program"] for one in chosen]
        assert tuple(map(programs.count, ("optimal_prediction", "variance_law"))) == shares
        assert len({one.path for one in chosen}) == len(chosen)
        assert choose(given[::-1], count)[0] == chosen
        assert skipped == {
            "it measures time": ["update_timing"],
            "it says nothing before its end, and takes more than 60 seconds": ["variance_law"] * 2,
        }
    ordered = sorted(predictions, key=lambda one: one.spec.hash)
    assert choose(predictions, 3)[0] == [ordered[1], ordered[4], ordered[7]]


def compared(recorded: np.ndarray, found: np.ndarray, steps: int, whole: float = 1.0):
    axes = {"seed": list(range(len(recorded))), "curve_step": [10, 20, 30]}
    one = {"curve": Metric(("seed", "curve_step"), recorded), "mean": Metric((), np.array(1.0))}
    other = {"curve": Metric(("seed", "curve_step"), found), "mean": Metric((), np.array(whole))}
    return compare(Result({}, axes, one, {}, [], {}, {}), other, steps)


def test_a_curve_is_compared_as_far_as_it_was_computed():
    curve = np.ones((5, 3))
    later = curve * [1, 1, 0]
    assert compared(curve, later, 20, whole=0.0) == (10, 0.0, [])
    assert compared(curve, curve, 30, whole=0.97).differences == []
    assert compared(curve, curve, 30, whole=0.9).differences == [
        "mean is 1 in the file, 0.9 recomputed"
    ]


def test_a_start_that_is_recorded_is_compared_with_the_first_step():
    curve = np.ones((2, 3))
    axes = {"coordinate": [0, 1], "inner_step": [0, 5, 10]}
    result = Result({}, axes, {"x": Metric(tuple(axes), curve)}, {}, [], {}, {})
    for place, differs in ((0, True), (1, True), (2, False)):
        found = curve.copy()
        found[1, place] = 2.0
        texts = compare(result, {"x": Metric(tuple(axes), found)}, 10).differences
        expected = f"x at coordinate=1, inner_step={5 * place} is 1 in the file, 2 recomputed"
        assert texts == ([expected] if differs else [])


def test_rounding_may_move_a_number_but_not_most_of_them():
    curve = np.full((5, 3), 0.2)
    one, most, grown = (curve.copy() for _ in range(3))
    one[4, 0] *= 1 + 0.9 * SINGLE
    most[1:4, 0] *= 1 + 2 * TYPICAL
    grown[:, 1] *= 3
    assert compared(curve, one, 20).differences == []
    assert compared(curve, grown, 20).differences == []
    (text,) = compared(curve, most, 20).differences
    assert text == "curve at seed=1, curve_step=10 is 0.2 in the file, 0.204 recomputed"
    assert compared(curve[:3], most[:3], 20).differences == []  # too few for a half of them


def test_a_number_that_is_not_finite_differs_from_one_that_is():
    curve = np.full((5, 3), 0.2)
    lost = curve.copy()
    lost[2, 0] = np.nan
    assert compared(lost, lost * 1, 10).differences == []
    assert compared(lost, np.where(np.isnan(lost), np.inf, lost), 10).differences == []
    assert compared(curve, lost, 10).differences == [
        "curve at seed=2, curve_step=10 is 0.2 in the file, nan recomputed"
    ]
    assert compared(curve, curve[:, :2], 10).differences == [
        "curve has shape (5, 3) in the file, (5, 2) recomputed"
    ]
