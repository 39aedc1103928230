"""What `fidelity: reference` changes of a gradient, and that it changes nothing else."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.catalogue.fidelity import FIDELITIES
from untruncated.cells.linear_rtu import LinearRTU
from untruncated.cells.lru import LRU
from untruncated.cells.nonlinear_rtu import NonlinearRTU
from untruncated.cells.rotation import rotation
from untruncated.estimators.online.traces import RTRL
from untruncated.estimators.online.truncated_bptt import TruncatedBPTT

INPUTS, WIDTH, STEPS = 3, 4, 40


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _drawn(cell):
    """Fixed parameters and, for every step, parameters that jump around them."""
    rng = np.random.default_rng(1)
    shapes = jax.eval_shape(cell.init, jax.random.key(0))
    fixed = jax.tree.map(lambda leaf: rng.normal(size=leaf.shape) - 0.5, shapes)
    still = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (STEPS, *leaf.shape)), fixed)
    return still, jax.tree.map(lambda leaf: leaf + 0.2 * rng.normal(size=leaf.shape), still)


def _stream(cell):
    rng = np.random.default_rng(2)
    weights = tuple(rng.normal(size=(STEPS, size)) for size in cell.feature_sizes)
    return rng.normal(size=(STEPS, INPUTS)), weights


def _run(estimators, params):
    """Each estimator's features and gradient of weights · features at every step."""

    def step(carries, xs):
        params, x, weight = xs
        made = [
            e.step(params, e.cell.derive(params), carry, x)
            for e, carry in zip(estimators, carries, strict=True)
        ]
        return [m.carry for m in made], [(m.features, m.pullback(weight)) for m in made]

    inputs, weights = _stream(estimators[0].cell)
    start = [estimator.init() for estimator in estimators]
    run = jax.jit(lambda xs: jax.lax.scan(step, start, xs)[1])
    return run(jax.tree.map(jnp.asarray, (params, inputs, weights)))


@pytest.mark.parametrize("cell_class", [LinearRTU, NonlinearRTU])
def test_rtus_lack_the_factor_theta_in_the_gradient_of_theta_log_alone(cell_class):
    exact, reference = (cell_class(INPUTS, WIDTH, "tanh", fidelity=f) for f in FIDELITIES)
    for params in _drawn(exact):
        (features, gradient), (others, wrong) = _run((RTRL(exact), RTRL(reference)), params)
        np.testing.assert_array_equal(features, others)
        theta = np.exp(params.theta)
        assert np.abs(theta - 1).min() > 1e-3
        np.testing.assert_allclose(wrong.theta * theta, gradient.theta, rtol=1e-13)
        for name in ("nu", "w_real", "w_imag"):
            assert np.abs(getattr(gradient, name)).max() > 0.1
            np.testing.assert_array_equal(getattr(wrong, name), getattr(gradient, name))


def test_lru_has_another_trace_of_b_and_the_rest_exact():
    exact, reference = (LRU(INPUTS, WIDTH, skip=True, fidelity=f) for f in FIDELITIES)
    for params in _drawn(exact):
        (features, gradient), (others, wrong) = _run((RTRL(exact), RTRL(reference)), params)
        np.testing.assert_array_equal(features, others)
        for name in set(gradient._fields) - {"b_real", "b_imag"}:
            np.testing.assert_array_equal(getattr(wrong, name), getattr(gradient, name))
        inputs, (weights,) = _stream(exact)
        # E' = λ E + γ_log xᵀ, where exp(γ_log) would be right.
        trace = np.zeros((INPUTS, WIDTH), complex)
        eigenvalues = np.exp(-np.exp(params.nu) + 1j * np.exp(params.theta))
        for t in range(STEPS):
            trace = eigenvalues[t] * trace + params.gamma_log[t] * inputs[t][:, None]
            # dL = Re(c̄ dz), with c̄ = Cᵀ ∂L/∂y.
            slope = (params.c_real[t] + 1j * params.c_imag[t]) @ weights[t]
            np.testing.assert_allclose(wrong.b_real[t], (slope * trace).real, rtol=1e-10)
            np.testing.assert_allclose(wrong.b_imag[t], -(slope * trace).imag, rtol=1e-10)


def test_at_the_start_the_lrus_reference_trace_of_b_has_the_wrong_sign():
    state, x = LRU(INPUTS, WIDTH).initial_state(), jnp.ones(INPUTS)
    for fidelity, sign in (("exact", 1), ("reference", -1)):
        cell = LRU(INPUTS, WIDTH, fidelity=fidelity)
        params = jax.tree.map(lambda leaf: leaf[0], _drawn(cell)[0])
        # As at the start, γ_log = log sqrt(1 - r²), which is negative.
        gamma = rotation("exp_exp", params.nu, params.theta).gamma
        params = params._replace(gamma_log=jnp.log(gamma))
        derived, traces = cell.derive(params), cell.initial_traces()
        traces = cell.advance(params, derived, traces, before=state, after=state, x=x)
        assert np.all(sign * traces.input_real > 0)


def test_through_an_unroll_the_gradient_is_exact_whatever_the_fidelity():
    exact, reference = (LinearRTU(INPUTS, WIDTH, fidelity=f) for f in FIDELITIES)
    params, _ = _drawn(exact)
    right, other = _run((TruncatedBPTT(exact, 5), TruncatedBPTT(reference, 5)), params)
    for a, b in zip(jax.tree.leaves(right), jax.tree.leaves(other), strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_unknown_fidelity_and_one_that_changes_nothing_are_refused():
    for cell in (LinearRTU, NonlinearRTU, LRU):
        with pytest.raises(ValueError, match="fidelity: unknown value 'referense'"):
            cell(INPUTS, WIDTH, fidelity="referense")
    with pytest.raises(ValueError, match="'exp_exp' alone, not under 'sigmoid'"):
        LinearRTU(INPUTS, WIDTH, parameterisation="sigmoid", fidelity="reference")
