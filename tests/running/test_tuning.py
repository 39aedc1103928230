"""Which step size a tuning run's result leads to."""

import numpy as np
import pytest

from untruncated.results.metric import Metric
from untruncated.results.result_files import Result
from untruncated.running.tuning import choose_step_size, is_close

NAN, INF = np.nan, np.inf


def _choose(scores, sizes):
    return choose_step_size(_result(scores, sizes))


def _result(scores, sizes):
    values = np.asarray(scores, np.float32)
    axes = {"step_size": list(sizes), "seed": list(range(values.shape[1]))}
    metrics = {"msre": Metric(("step_size", "seed"), values)}
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
    assert is_close(_result(scores, [10.0**-power for power in range(len(scores))])) == close
