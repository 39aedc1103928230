"""RTRL and UORO of unrolled systems against backpropagation through time."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from untruncated.estimators.unrolled.backpropagation import UnrolledBPTT, UnrolledTruncatedBPTT
from untruncated.estimators.unrolled.evolution_strategies import TruncatedES
from untruncated.estimators.unrolled.rtrl import UnrolledRTRL
from untruncated.estimators.unrolled.staggered import Staggered
from untruncated.estimators.unrolled.uoro import UORO
from untruncated.problems.influence_balancing import InfluenceBalancing

KEY = jax.random.key(3)


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("unroll_loss", ["sum", "telescoped"])
def test_rtrl_adds_up_to_bptt_in_every_inner_problem(noisy_system, run_estimator, unroll_loss):
    problem = noisy_system(7, unroll_loss, noise=0.0)
    theta = problem.initial_theta(jax.random.key(1))
    keys = jax.random.split(KEY, 14)
    online, state = run_estimator(problem, UnrolledRTRL(), theta, KEY, keys)
    ((whole,), _) = run_estimator(problem, UnrolledBPTT(), theta, KEY, keys[:1])
    np.testing.assert_allclose(online[:7].sum(axis=0), whole, rtol=1e-11)
    np.testing.assert_allclose(online[7:].sum(axis=0), whole, rtol=1e-11)
    assert not state.jacobian.any() and not state.previous.any() and state.clock.t == 0


def test_rtrl_meets_the_same_noise_as_unrolls_of_one_step(noisy_system, run_estimator):
    problem = noisy_system(7)
    theta = problem.initial_theta(jax.random.key(1))
    keys = jax.random.split(KEY, 10)
    online, after = run_estimator(problem, UnrolledRTRL(), theta, KEY, keys)
    truncated, state = run_estimator(problem, UnrolledTruncatedBPTT(1), theta, KEY, keys)
    np.testing.assert_allclose(after.state, state.state, rtol=1e-12)
    np.testing.assert_allclose(online[[0, 7]], truncated[[0, 7]], rtol=1e-11)  # no past yet
    assert np.abs(online[1:7] - truncated[1:7]).max() > 0.1


@pytest.mark.parametrize("unroll_loss", ["sum", "telescoped"])
def test_uoro_is_rtrl_on_average_over_its_signs(noisy_system, run_estimator, unroll_loss):
    problem, problems = noisy_system(5, unroll_loss, noise=0.0), 8_000
    theta = problem.initial_theta(jax.random.key(1))
    keys = jax.random.split(KEY, 5 * problems)
    rtrl, _ = run_estimator(problem, UnrolledRTRL(), theta, KEY, keys[:5])
    uoro, _ = run_estimator(problem, UORO(), theta, KEY, keys)
    estimates = uoro.reshape(problems, 5, 2)
    np.testing.assert_allclose(estimates[:, 0], np.tile(rtrl[0], (problems, 1)), rtol=1e-11)
    error = estimates.mean(axis=0) - rtrl
    # 99.9 % intervals, Bonferroni over the ten numbers but the first two
    scatter = estimates.std(axis=0)[1:] / np.sqrt(problems)
    assert (np.abs(error[1:]) < 3.85 * scatter).all()
    assert scatter.max() < 0.02 * np.abs(rtrl).max()  # sharp intervals


def test_finite_differences_in_single_precision_are_what_the_reference_has(
    noisy_system, run_estimator
):
    problem = noisy_system(7, noise=0.0)
    theta = problem.initial_theta(jax.random.key(1))
    keys = jax.random.split(KEY, 6)
    exact, _ = run_estimator(problem, UORO(), theta, KEY, keys)
    reference, _ = run_estimator(problem, UORO("reference"), theta, KEY, keys)
    np.testing.assert_allclose(reference, exact, rtol=1e-5)
    assert np.abs(reference - exact).max() > 1e-12  # another computation
    with jax.enable_x64(False):
        theta = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), theta)
        rounded, _ = run_estimator(problem, UORO("reference"), theta, KEY, keys)
    assert np.abs(rounded - exact).max() > 0.01 * np.abs(exact).max()


@partial(jax.jit, static_argnums=0)
def _steady_state_gradient(estimator, key):
    problem, theta = InfluenceBalancing(), 0.5
    state = estimator.init(problem, theta, key)
    steady = jnp.linalg.solve(
        0.5 * (jnp.eye(23) - jnp.eye(23, k=1)), theta * jnp.array([1.0] * 10 + [-1.0] * 13)
    )
    return estimator.step(problem, theta, state._replace(state=steady), key)[0]


@pytest.mark.parametrize(
    ("truncation", "influence"), [(1, 1.0), (10, 10.0), (23, 15.487), (50, -4.753), (100, -6.0)]
)
def test_truncated_bptt_has_exactly_the_bias_of_its_horizon(truncation, influence):
    # the first unit rests at -3; the true derivative of its square error there is (-3 - 1)(-6)
    gradient = _steady_state_gradient(UnrolledTruncatedBPTT(truncation), KEY)
    np.testing.assert_allclose(gradient - 24, -4 * (influence + 6), atol=4e-3)


@pytest.mark.parametrize(("truncation", "influence"), [(1, 1.0), (23, 15.487)])
def test_truncated_es_has_the_bias_of_truncated_bptt(truncation, influence):
    particles = 40_000
    gradient = _steady_state_gradient(TruncatedES(particles, 0.1, truncation), KEY)
    # of a quadratic loss in one parameter, the estimate is the gradient times a mean of ε²/σ²
    scatter = np.sqrt(2 / (particles / 2))
    assert abs(gradient / (-4 * influence) - 1) < 3.3 * scatter + 1e-4


@pytest.mark.parametrize("estimator", [UnrolledRTRL(), UORO()])
def test_a_complex_state_is_refused(estimator):
    class Complex(InfluenceBalancing):
        def initial_state(self, key):
            return super().initial_state(key) + 0j

    with pytest.raises(ValueError, match="holds complex128; use another"):
        estimator.init(Complex(), jnp.zeros(()), KEY)


@pytest.mark.parametrize("estimator", [UnrolledRTRL(), UORO(), UORO("reference")])
def test_data_in_the_state_changes_no_number(noisy_system, run_estimator, estimator):
    """Whole numbers, truth values and keys go on from step to step, and draw no noise."""

    class WithData(noisy_system):
        def initial_state(self, key):
            return super().initial_state(key), (jnp.int32(5), jnp.array([True, False]), key)

        def unroll_step(self, theta, state, t, key):
            numbers, (count, flags, own) = state
            numbers, loss = super().unroll_step(theta, numbers, t, key)
            loss = jnp.where(count == 5 + t, loss, jnp.nan)  # what the data says counts
            return (numbers, (count + 1, ~flags, own)), loss

    keys = jax.random.split(KEY, 9)  # into the second inner problem
    theta = noisy_system(7).initial_theta(jax.random.key(1))
    plain, _ = run_estimator(noisy_system(7), estimator, theta, KEY, keys)
    with_data, after = run_estimator(WithData(7), estimator, theta, KEY, keys)
    np.testing.assert_allclose(with_data, plain, rtol=1e-12)
    assert after.state[1][0] == 7 and after.state[1][1].tolist() == [True, False]


@pytest.mark.parametrize(
    ("estimator", "fields", "message"),
    [
        (UnrolledRTRL(), {"differentiable": False}, "UnrolledRTRL needs derivatives"),
        (UORO(), {"differentiable": False}, "UORO needs derivatives"),
        (UnrolledBPTT(), {"differentiable": False}, "UnrolledBPTT needs derivatives"),
        (UnrolledBPTT(), {"horizon": None}, "unrolls whole inner problems, and .* never ends"),
        (UnrolledTruncatedBPTT(8), {}, "truncation 8 is longer than the inner problem of 7"),
        (Staggered(UnrolledRTRL(), 2), {"horizon": None}, "never ends"),
        (Staggered(UnrolledRTRL(), 8), {}, "8 groups cannot be staggered over 7 steps"),
        (Staggered(UnrolledBPTT(), 2), {}, "nothing to stagger"),
        (Staggered(UnrolledTruncatedBPTT(2), 4), {"horizon": 6}, "inner problem of 3 unrolls"),
    ],
)
def test_what_cannot_be_estimated_is_refused(noisy_system, estimator, fields, message):
    problem = noisy_system(**fields)
    with pytest.raises(ValueError, match=message):
        estimator.init(problem, problem.initial_theta(KEY), KEY)


def test_parameters_keep_their_structure(noisy_system):
    problem = noisy_system()
    theta = problem.initial_theta(KEY)
    for estimator in (UnrolledRTRL(), UORO(), UnrolledBPTT(), UnrolledTruncatedBPTT(2)):
        state = estimator.init(problem, theta, KEY)
        shapes, _ = jax.eval_shape(partial(estimator.step, problem), theta, state, KEY)
        assert jax.tree.map(jnp.shape, shapes) == jax.tree.map(jnp.shape, theta)
    assert ravel_pytree(theta)[0].size == 2
