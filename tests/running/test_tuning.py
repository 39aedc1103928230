"""Which step size a tuning run's result leads to."""

import numpy as np
import pytest

from untruncated.basics.errors import ResultError
from untruncated.catalogue.objective import Objective
from untruncated.results.metric import Metric
from untruncated.results.result_files import Result
from untruncated.running.tuning import choose_step_size, contradiction, is_close

NAN, INF = np.nan, np.inf
LOWEST, HIGHEST = Objective("msre"), Objective("return", "max")


def _choose(scores, sizes, objective=LOWEST):
    return choose_step_size(_result(scores, sizes, objective.name), objective)


def _result(scores, sizes, name="msre"):
    values = np.asarray(scores, np.float32)
    axes = {"step_size": list(sizes), "seed": list(range(values.shape[1]))}
    metrics = {name: Metric(("step_size", "seed"), values)}
    return Result({}, axes, metrics, {}, [], {}, {})


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_lowest_mean_over_seeds_wins_in_any_order(order):
    # 1e-3 has the lowest mean; 1e-2 has the best single seed and the lowest median.
    scores = {1e-1: [4, 4, 4], 1e-2: [0.1, 0.1, 9], 1e-3: [2, 2, 2], 1e-4: [3, 3, 3]}
    sizes = [list(scores)[index] for index in order]
    chosen = _choose([scores[size] for size in sizes], sizes)
    assert chosen == {"step_size": 1e-3, "at_edge": False, "all_diverged": False}


@pytest.mark.parametrize("lost", [NAN, INF])
def test_one_diverged_seed_makes_a_step_size_lose(lost):
    scores = [[0.1, lost, 0.1], [0.5, 0.6, 0.7], [0.9, 0.9, 0.9]]
    chosen = _choose(scores, [1e-1, 1e-2, 1e-3])
    assert chosen == {"step_size": 1e-2, "at_edge": False, "all_diverged": False}


def test_only_one_step_size_survives_without_any_diverged_seed():
    scores = [[NAN, 0.1], [0.1, NAN], [50.0, 50.0], [NAN, NAN]]
    assert _choose(scores, [1e-1, 1e-2, 1e-3, 1e-4])["step_size"] == 1e-3


@pytest.mark.parametrize("sizes", [[1e-1, 1e-3, 1e-2], [1e-3, 1e-2, 1e-1]])
def test_smallest_is_taken_when_every_step_size_has_a_diverged_seed(sizes):
    chosen = _choose([[0.1, NAN], [NAN, 0.1], [INF, NAN]], sizes)
    assert chosen == {"step_size": 1e-3, "at_edge": True, "all_diverged": True}


@pytest.mark.parametrize(
    ("best", "at_edge"), [(1e-1, True), (1e-2, False), (1e-3, False), (1e-4, True)]
)
def test_edge_is_the_smallest_or_largest_whatever_its_place_in_the_list(best, at_edge):
    sizes = [1e-2, 1e-4, 1e-1, 1e-3]
    chosen = _choose([[0.1 if size == best else 1.0] for size in sizes], sizes)
    assert chosen == {"step_size": best, "at_edge": at_edge, "all_diverged": False}


def test_a_single_step_size_is_no_edge():
    chosen = _choose([[0.5, 0.5]], [1e-3])
    assert chosen == {"step_size": 1e-3, "at_edge": False, "all_diverged": False}


def test_choice_is_plain_numbers():
    chosen = _choose([[0.5], [0.4]], [1e-3, 1e-4])
    assert {key: type(value) for key, value in chosen.items()} == {
        "step_size": float,
        "at_edge": bool,
        "all_diverged": bool,
    }


def test_means_are_taken_in_float64():
    # In float32 both sums round to the same number.
    seeds = 4096
    close = np.full(seeds, 1.0, np.float32)
    lower = close.copy()
    lower[-1] -= 2**-23
    assert _choose([close, lower, close], [1e-1, 1e-2, 1e-3])["step_size"] == 1e-2


@pytest.mark.parametrize(
    ("scores", "close"),
    [
        ([[1.0, 1.0], [1.04, 1.04], [9.0, 9.0]], True),
        ([[9.0, 9.0], [1.0, 1.1], [1.1, 0.98]], True),  # means 1.05 and 1.04
        ([[1.0, 1.0], [1.06, 1.06]], False),
        ([[-1.0, -1.0], [-0.97, -0.97]], True),
        ([[-1.0, -1.0], [-0.9, -0.9]], False),
        ([[1.0, 1.0], [1.0, NAN], [1.2, 1.2]], False),  # one that lost a seed is no rival
        ([[1.0, 1.0], [NAN, NAN]], False),
        ([[NAN, NAN], [NAN, 1.0]], False),
        ([[1.0, 1.0]], False),
    ],
)
def test_two_step_sizes_are_close_within_five_per_cent_of_the_best(scores, close):
    sizes = [10.0**-power for power in range(len(scores))]
    assert is_close(_result(scores, sizes), LOWEST) == close
    # the other way round they are as close
    upside_down = [[-score for score in seeds] for seeds in scores]
    assert is_close(_result(upside_down, sizes, "return"), HIGHEST) == close


def test_highest_mean_wins_where_higher_is_better():
    # 1e-3 has the highest mean; 1e-2 has the best single seed and the highest median.
    scores = [[1, 1, 1], [9, 9, -9], [4, 4, 4], [3, 3, 3]]
    chosen = _choose(scores, [1e-1, 1e-2, 1e-3, 1e-4], HIGHEST)
    assert chosen == {"step_size": 1e-3, "at_edge": False, "all_diverged": False}
    below_zero = [[-200.0], [-20.0], [-150.0]]
    assert _choose(below_zero, [1e-1, 1e-2, 1e-3], HIGHEST)["step_size"] == 1e-2


@pytest.mark.parametrize("objective", [LOWEST, HIGHEST])
@pytest.mark.parametrize("lost", [NAN, INF, -INF])
def test_a_diverged_seed_loses_whichever_way_is_better(objective, lost):
    best = 0.1 if objective is LOWEST else 9.0
    scores = [[best, lost, best], [0.5, 0.5, 0.5], [lost, lost, lost]]
    chosen = _choose(scores, [1e-2, 1e-3, 1e-4], objective)
    assert chosen == {"step_size": 1e-3, "at_edge": False, "all_diverged": False}
    chosen = _choose([[best, lost], [lost, best]], [1e-2, 1e-3], objective)
    assert chosen == {"step_size": 1e-3, "at_edge": True, "all_diverged": True}
    assert not is_close(_result(scores[:2], [1e-2, 1e-3], objective.name), objective)


def test_a_final_run_contradicts_a_tuning_run_that_gives_another_step_size():
    tuning = _result([[1.0], [2.0]], [1e-1, 1e-2], "return")
    for made, wrong in ((1e-1, True), (1e-2, False)):
        final = Result({}, {}, {}, {"step_size": made}, [], {}, {})
        assert (contradiction(final, tuning, HIGHEST) is not None) == wrong


def test_a_tuning_result_without_the_objective_is_refused():
    with pytest.raises(ResultError, match="has no return by step size and seed"):
        choose_step_size(_result([[1.0]], [1e-1]), HIGHEST)
