"""The check of an estimator's mean passes unbiased estimators and fails biased ones."""

from dataclasses import dataclass

import jax
import pytest

from untruncated.estimators import PES, UORO, TruncatedES, UnrolledBPTT, UnrolledTruncatedBPTT
from untruncated.problems import InfluenceBalancing
from untruncated.testing import assert_estimator_unbiased


@dataclass(frozen=True)
class Inflated:
    """PES, made larger by a share."""

    share: float

    inside = PES(10, 0.5, 2)
    init, inner_steps = inside.init, inside.inner_steps

    def step(self, problem, theta, state, key):
        gradient, state = self.inside.step(problem, theta, state, key)
        return jax.tree.map(lambda leaf: leaf * (1 + self.share), gradient), state


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("estimator", [UnrolledBPTT(), UORO(), Inflated(0.0)], ids=str)
def test_unbiased_estimators_pass(estimator, seed):
    assert_estimator_unbiased(estimator, key=jax.random.key(seed))


@pytest.mark.parametrize(
    "estimator",
    [UnrolledTruncatedBPTT(3), TruncatedES(10, 0.5, 2), Inflated(0.3), Inflated(float("nan"))],
    ids=str,
)
def test_biased_estimators_fail_with_both_values(estimator):
    message = r"is biased: number [01] of θ has a gradient of \S+, and the mean .* 4000 inner"
    with pytest.raises(AssertionError, match=message):
        assert_estimator_unbiased(estimator)


def test_too_few_inner_problems_are_said():
    with pytest.raises(AssertionError, match="scatter too much for 100 inner problems to tell"):
        assert_estimator_unbiased(PES(2, 0.5, 1), inner_problems=100)


@pytest.mark.parametrize(("horizon", "ends"), [(None, "None"), (7, "7")])
def test_a_problem_without_whole_calls_is_refused(horizon, ends):
    with pytest.raises(ValueError, match=f"multiple of the 2 steps of a call, not after {ends}"):
        assert_estimator_unbiased(PES(2, 0.5, 2), InfluenceBalancing(horizon=horizon))
