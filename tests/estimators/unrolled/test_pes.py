"""PES and its relatives: what they must be equal to, exactly or on average."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from evosax.algorithms import PersistentES
from jax.flatten_util import ravel_pytree

from untruncated.estimators.unrolled.backpropagation import UnrolledBPTT
from untruncated.estimators.unrolled.es_single import ESSingle
from untruncated.estimators.unrolled.evolution_strategies import FullES, TruncatedES
from untruncated.estimators.unrolled.pairs import weighted
from untruncated.estimators.unrolled.pes import PES
from untruncated.estimators.unrolled.pes_analytic import PESAnalytic
from untruncated.estimators.unrolled.protocol import split_key
from untruncated.problems.pes_variance import pes_variance
from untruncated.problems.toy_regression import ToyRegression
from untruncated.testing import assert_estimator_unbiased

KEY = jax.random.key(3)
# what runs once is quicker to compile than to run
quick = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _one_call(problem, estimator, theta, key):
    @quick
    def call(key):
        return estimator.step(problem, theta, estimator.init(problem, theta, key), key)[0]

    return ravel_pytree(call(key))[0]


@pytest.mark.parametrize("name", [PES, ESSingle])
def test_one_unroll_of_everything_is_antithetic_es(name):
    problem, theta = ToyRegression(horizon=20), jnp.array([-1.0, -2.0])
    whole = _one_call(problem, FullES(10, 0.3), theta, KEY)
    np.testing.assert_allclose(_one_call(problem, name(10, 0.3, 20), theta, KEY), whole, rtol=1e-11)


@pytest.mark.parametrize("form", ["A", "B"])
def test_one_analytic_unroll_of_a_linear_problem_is_bptt(noisy_system, form):
    problem = noisy_system(kind="linear", noise=0.0)
    theta = problem.initial_theta(KEY)
    bptt = _one_call(problem, UnrolledBPTT(), theta, KEY)
    analytic = _one_call(problem, PESAnalytic(10, 0.3, 7, form), theta, KEY)
    # form B keeps the newest perturbation, which a linear loss explains to the last digit
    np.testing.assert_allclose(analytic, bptt, rtol=1e-10)


def test_form_a_of_one_unroll_is_bptt_whatever_the_loss():
    problem, theta = ToyRegression(horizon=20), jnp.array([-1.0, -2.0])
    bptt = _one_call(problem, UnrolledBPTT(), theta, KEY)
    analytic = _one_call(problem, PESAnalytic(10, 0.3, 20), theta, KEY)
    np.testing.assert_allclose(analytic, bptt, rtol=1e-11)


# Inner problems of three unrolls; some side by side, for speed, the others one after the other.
HORIZON, TRUNCATION, BATCH, PROBLEMS = 6, 2, 100, 40


def _whole_problems(problem, estimator, theta):
    """The sum of the estimates in each of many inner problems, and the gradient itself."""

    def problems(key):
        def call(state, key):
            gradient, state = estimator.step(problem, theta, state, key)
            return state, ravel_pytree(gradient)[0]

        keys = jax.random.split(key, (PROBLEMS, HORIZON // TRUNCATION))
        start = estimator.init(problem, theta, key)
        _, gradients = jax.lax.scan(call, start, keys.reshape(-1))
        return gradients.reshape(PROBLEMS, -1, 2).sum(axis=1)

    estimates = quick(jax.vmap(problems))(jax.random.split(KEY, BATCH))
    return np.asarray(estimates).reshape(-1, 2), _one_call(problem, UnrolledBPTT(), theta, KEY)


@pytest.mark.parametrize("kind", ["linear", "quadratic"])
def test_pes_scatters_about_the_gradient_as_its_exact_variance_says(noisy_system, kind):
    problem = noisy_system(HORIZON, "sum", kind, noise=0.0)
    theta = problem.initial_theta(jax.random.key(1))
    estimates, truth = _whole_problems(problem, PES(2, 0.5, TRUNCATION), theta)
    predicted = pes_variance(_gradients_by_unroll(problem, theta, TRUNCATION), 2)
    measured = ((estimates - truth) ** 2).sum(axis=1)
    error = measured.std() / np.sqrt(len(measured))
    assert abs(measured.mean() - predicted) < 3.3 * error
    assert error < 0.06 * predicted
    # no weighted sum of squared normals exceeds its mean 10.83 times more often than 0.1 %
    assert ((estimates.mean(axis=0) - truth) ** 2).sum() < 10.83 * predicted / len(estimates)


@pytest.mark.parametrize(
    "estimator",
    [
        PESAnalytic(2, 0.5, TRUNCATION),
        PESAnalytic(2, 0.5, TRUNCATION, "B"),
        ESSingle(2, 0.5, TRUNCATION),
    ],
    ids=str,
)
def test_the_mean_over_whole_inner_problems_is_the_gradient(noisy_system, estimator):
    problem = noisy_system(HORIZON, "sum", "quadratic", noise=0.0)
    assert_estimator_unbiased(estimator, problem, key=KEY)


def test_truncated_es_has_another_mean(noisy_system):
    problem = noisy_system(HORIZON, "sum", "quadratic", noise=0.0)
    with pytest.raises(AssertionError, match="is biased"):
        assert_estimator_unbiased(TruncatedES(2, 0.5, TRUNCATION), problem, key=KEY)


def _gradients_by_unroll(problem, theta, truncation):
    """g[m, t] = ∂L_t/∂θ_m with a copy of θ for each unroll."""
    flat, unflatten = ravel_pytree(theta)
    unrolls = problem.horizon // truncation

    def losses(copies):
        state, found = problem.initial_state(KEY), []
        for t in range(problem.horizon):
            copy = unflatten(copies[t // truncation])
            state, loss = problem.unroll_step(copy, state, t, KEY)
            found.append(loss)
        return jnp.stack(found).reshape(unrolls, truncation).sum(axis=1)

    jacobian = quick(jax.jacrev(losses))(jnp.tile(flat, (unrolls, 1)))
    return jnp.swapaxes(jacobian, 0, 1)


def test_telescoped_estimates_add_up_to_the_accumulator_times_the_final_loss(
    noisy_system, run_estimator
):
    problem, unrolls = noisy_system(6, "telescoped"), 3
    theta = problem.initial_theta(jax.random.key(1))
    keys = jax.random.split(KEY, unrolls)
    gradients, _ = run_estimator(problem, PES(4, 0.3, 2), theta, KEY, keys)

    state, flat = PES(4, 0.3, 2).init(problem, theta, KEY), ravel_pytree(theta)[0]
    states, accumulators = state.states, np.zeros((2, 2))
    step = quick(jax.vmap(problem.unroll_step, (0, 0, None, None)))
    for unroll, key in enumerate(keys):
        noise = 0.3 * jax.random.normal(split_key(key).noise, (2, 2))
        accumulators += noise
        thetas = jax.vmap(ravel_pytree(theta)[1])(flat + jnp.concatenate([noise, -noise]))
        for offset, step_key in enumerate(jax.random.split(split_key(key).data, 2)):
            states, losses = step(thetas, states, 2 * unroll + offset, step_key)
    expected = weighted(accumulators, losses[:2] - losses[2:], 0.3, np.ones(2, bool))
    np.testing.assert_allclose(gradients.sum(axis=0), expected, rtol=1e-9)


def test_the_same_path_as_evosax_given_the_same_noise():
    """Thirteen updates over three resets, with inner problems unrolled apart from the library."""
    horizon, truncation, particles, sigma, updates = 20, 5, 6, 0.3, 13
    problem, optimiser = ToyRegression(horizon=horizon), optax.adam(0.05, b1=0.99)
    estimator = PES(particles, sigma, truncation)
    keys = jax.random.split(KEY, updates)

    def update(carry, key):
        theta, state, moments = carry
        gradient, state = estimator.step(problem, theta, state, key)
        change, moments = optimiser.update(gradient, moments, theta)
        theta = optax.apply_updates(theta, change)
        return (theta, state, moments), (gradient, theta)

    theta = problem.initial_theta(KEY)
    start = (theta, estimator.init(problem, theta, KEY), optimiser.init(theta))
    _, (_, thetas) = quick(lambda start: jax.lax.scan(update, start, keys))(start)

    other = PersistentES(particles, theta, optimiser, optax.constant_schedule(sigma))
    params = other.default_params.replace(T=horizon, K=truncation)
    state = other.init(KEY, theta, params)
    step = quick(jax.vmap(problem.unroll_step, (0, 0, None, None)))
    x, t, resets = jnp.ones((particles, 2)), 0, 0
    for key, ours in zip(keys, thetas, strict=True):
        population, state = other.ask(split_key(key).noise, state, params)
        fitness = jnp.zeros(particles)
        for _ in range(truncation):
            x, loss = step(population, x, t, key)
            fitness, t = fitness + loss, t + 1
        if t >= horizon:
            x, t, resets = jnp.ones((particles, 2)), 0, resets + 1
        state, _ = other.tell(key, population, fitness, state, params)
        np.testing.assert_allclose(ours, other.get_mean(state), rtol=1e-5, atol=0)
    assert resets == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda system: PES(5, 0.1, 2), "particles: must be a multiple of 2, not 5"),
        (lambda system: FullES(0, 0.1), "particles: must be at least 2, not 0"),
        (lambda system: ESSingle(4, 0.0, 2), "sigma: must be above 0, not 0.0"),
        (lambda system: PESAnalytic(4, float("nan"), 2), "sigma: must be a number, not nan"),
        (lambda system: PESAnalytic(4, 0.1, 2, form="C"), "form: unknown value 'C'. Allowed: A, B"),
        (lambda system: PES(4, 0.1, 8).init(system(7), 0.0, KEY), "truncation 8 is longer"),
        (lambda system: PES(4, 0.1, 0), "truncation: must be at least 1, not 0"),
        (
            lambda system: PES(4, 0.1, 3, fidelity="reference").init(system(7), 0.0, KEY),
            "needs a truncation that divides the inner problem's 7 steps; 3 does not",
        ),
        (lambda system: PES(4, 0.1, 3, fidelity="exactly"), "fidelity: unknown value 'exactly'"),
        (
            lambda system: PESAnalytic(4, 0.1, 2).init(system(differentiable=False), 0.0, KEY),
            "PESAnalytic needs derivatives",
        ),
        (lambda system: FullES(4, 0.1).init(system(None), 0.0, KEY), "never ends"),
    ],
)
def test_what_cannot_be_estimated_is_refused(noisy_system, make, message):
    with pytest.raises(ValueError, match=message):
        make(noisy_system)
