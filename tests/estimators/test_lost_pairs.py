"""Pairs whose losses are not finite: left out of the mean, counted, and nothing else."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.estimators.unrolled.es_single import ESSingle
from untruncated.estimators.unrolled.evolution_strategies import FullES, TruncatedES
from untruncated.estimators.unrolled.pairs import Lost, lost_pairs, none_lost, with_lost
from untruncated.estimators.unrolled.pes import PES
from untruncated.estimators.unrolled.pes_analytic import PESAnalytic
from untruncated.estimators.unrolled.protocol import split_key
from untruncated.estimators.unrolled.staggered import Staggered

KEY = jax.random.key(3)
PAIRS, SIGMA, K, START = 5, 0.3, 2, 0.7


@dataclass(frozen=True)
class Cliff:
    """Losses θ², but `bad` for θ beyond an edge, and for a particle whose state is `bad`.

    A state of 0 makes the loss 0; a linear problem has losses θ in the place of θ².
    """

    edge: float = jnp.inf
    bad: float = jnp.inf
    horizon: int = K
    unroll_loss: str = "sum"
    linear: bool = False
    differentiable: bool = True

    def initial_state(self, key):
        return jnp.ones(())

    def unroll_step(self, theta, state, t, key):
        loss = (theta if self.linear else theta**2) * (1.0 + jnp.asarray(t, float))
        loss = jnp.where(state == 1, loss, jnp.where(state == 0, 0.0, state))
        return state, jnp.where(theta > self.edge, self.bad, loss)


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _calls(problem, estimator, calls, state=None):
    """The estimates of several calls, and the number of lost pairs after each."""
    theta, found = jnp.asarray(START), []
    state = estimator.init(problem, theta, KEY) if state is None else state
    step = jax.jit(
        lambda state, key: estimator.step(problem, theta, state, key),
        compiler_options={"xla_backend_optimization_level": 0},
    )
    for key in jax.random.split(KEY, calls):
        gradient, state = step(state, key)
        found.append((float(gradient), int(lost_pairs(state))))
    return np.array(found).T


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize(
    "estimator",
    [
        FullES(2 * PAIRS, SIGMA),
        TruncatedES(2 * PAIRS, SIGMA, K),
        PES(2 * PAIRS, SIGMA, K),
        ESSingle(2 * PAIRS, SIGMA, K),
    ],
    ids=str,
)
def test_one_bad_particle_takes_its_pair_out_of_the_mean(estimator, bad):
    key = KEY if isinstance(estimator, ESSingle) else jax.random.split(KEY, 1)[0]
    noise = SIGMA * np.asarray(jax.random.normal(split_key(key).noise, (PAIRS, 1)))[:, 0]
    thetas = START + np.append(noise, -noise)
    # (1 + t) θ² over t = 0, 1 is 3 θ²
    contributions = noise * 3 * ((START + noise) ** 2 - (START - noise) ** 2) / (2 * SIGMA**2)
    (whole,), (none,) = _calls(Cliff(bad=bad), estimator, 1)
    np.testing.assert_allclose(whole, contributions.mean(), rtol=1e-12)
    assert none == 0
    worst = np.argmax(thetas)
    edge = (np.sort(thetas)[-2] + thetas[worst]) / 2
    (estimate,), (lost,) = _calls(Cliff(edge, bad), estimator, 1)
    left = np.delete(contributions, worst % PAIRS)
    np.testing.assert_allclose(estimate, left.mean(), rtol=1e-12)
    assert lost == 1


@pytest.mark.parametrize("unroll_loss", ["sum", "last", "telescoped"])
@pytest.mark.parametrize("horizon", [6, 7])
@pytest.mark.parametrize("name", [PES, ESSingle])
def test_a_particle_that_broke_down_counts_again_in_the_next_inner_problem(
    name, horizon, unroll_loss
):
    estimator, problem = name(2 * PAIRS, SIGMA, K), Cliff(np.inf, 0, horizon, unroll_loss)
    start = estimator.init(problem, jnp.asarray(START), KEY)
    one, both = np.ones(2 * PAIRS), np.ones(2 * PAIRS)
    one[PAIRS + 2], both[[2, PAIRS + 2]] = np.nan, 0
    estimates, lost = _calls(problem, estimator, 6, start._replace(states=jnp.array(one)))
    # A pair both of whose losses are 0 adds nothing to the sum, but is counted in the mean.
    without, none = _calls(problem, estimator, 6, start._replace(states=jnp.array(both)))
    calls = -(-horizon // K)
    np.testing.assert_array_equal(lost, np.minimum(np.arange(1, 7), calls))
    np.testing.assert_array_equal(none, 0)
    shares = np.where(np.arange(6) < calls, PAIRS / (PAIRS - 1), 1)
    if horizon % K:
        # The last of these calls has begun the next inner problem, in which the pair is whole.
        estimates, without, shares = (
            np.delete(part, calls - 1) for part in (estimates, without, shares)
        )
    np.testing.assert_allclose(estimates, shares * without, rtol=1e-12)


@pytest.mark.parametrize("form", ["A", "B"])
def test_what_derivatives_explain_needs_no_pairs(form):
    """On a linear loss every pair left says the same as the derivative."""
    problem = Cliff(horizon=6, linear=True)
    estimator = PESAnalytic(2 * PAIRS, SIGMA, K, form)
    whole, _ = _calls(problem, estimator, 1)
    start = estimator.init(problem, jnp.asarray(START), KEY)
    broken = start.particles.states.at[0].set(np.inf)
    start = start._replace(particles=start.particles._replace(states=broken))
    estimates, lost = _calls(problem, estimator, 2, start)
    np.testing.assert_allclose(estimates, [3, 7], rtol=1e-12)
    np.testing.assert_allclose(whole, 3, rtol=1e-12)
    np.testing.assert_array_equal(lost, [1, 2])


def test_no_estimate_is_left_where_every_pair_is_lost():
    for estimator in (PES(4, SIGMA, K), FullES(4, SIGMA), TruncatedES(4, SIGMA, K)):
        (estimate,), (lost,) = _calls(Cliff(edge=-np.inf), estimator, 1)
        assert np.isnan(estimate) and lost == 2


def test_staggered_groups_and_members_are_counted_apart_or_together():
    estimator, problem = Staggered(PES(2 * PAIRS, SIGMA, K), 3), Cliff(edge=1.0, horizon=6)

    def run(key):
        state = estimator.init(problem, jnp.asarray(START), key)
        gradient, state = estimator.step(problem, jnp.asarray(START), state, key)
        return gradient, state

    gradients, states = jax.jit(jax.vmap(run))(jax.random.split(KEY, 4))
    assert np.isfinite(gradients).all()
    counts = np.asarray(states.lost.pairs)
    assert counts.shape == (4, 3) and counts.sum() > 0
    np.testing.assert_array_equal(lost_pairs(states, members=1), counts.sum(axis=1))
    assert lost_pairs(states) == counts.sum()


def test_the_count_does_not_overflow():
    lost = Lost(jnp.int32(2**31 - 2))
    assert with_lost(lost, jnp.array([True, False])).pairs == 2**30 + 1
    assert with_lost(none_lost(), jnp.array([True, False, False])).pairs == 2


def test_estimators_without_particles_lose_none():
    assert lost_pairs((jnp.zeros(3), ())) == 0
