"""The block-diagonal cell against matrices, and its halved traces against the plain ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.cells.block_diagonal import BlockDiagonal
from untruncated.cells.block_traces import BlockState
from untruncated.cells.rotation import init_rotation
from untruncated.estimators.online.bptt import sequence_features
from untruncated.estimators.online.traces import RTRL

INPUTS, WIDTH, STEPS = 3, 4, 60
PLAIN, HALVED = (BlockDiagonal(INPUTS, WIDTH, halved=halved) for halved in (False, True))


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _drawn(cell, seed=0, spread=0.2):
    """Parameters whose blocks are no rotations."""
    rng = np.random.default_rng(seed)
    return jax.tree.map(
        lambda leaf: leaf + spread * rng.normal(size=leaf.shape), cell.init(jax.random.key(seed))
    )


def _gradients(cell, params_of_step, seed=0):
    """RTRL's gradient of a random linear function of the state, at every step."""
    estimator = RTRL(cell)

    def step(carry, xs):
        params, x, cotangent = xs
        after = estimator.step(params, cell.derive(params), carry, x).carry
        return after, cell.contract(
            params, cell.derive(params), after.traces, after.state, BlockState(*cotangent)
        )

    rng = np.random.default_rng(seed)
    xs = params_of_step, rng.normal(size=(STEPS, INPUTS)), rng.normal(size=(STEPS, 2, WIDTH))
    xs = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.result_type(float)), xs)
    return jax.jit(lambda xs: jax.lax.scan(step, estimator.init(), xs)[1])(xs)


def _at_every_step(params):
    return jax.tree.map(lambda leaf: np.broadcast_to(leaf, (STEPS, *leaf.shape)), params)


def _relative_error(ours, reference):
    """The largest over all leaves, each relative to its own largest entry."""
    pairs = zip(ours, reference, strict=True)
    return max(np.abs(a - b).max() / np.abs(b).max() for a, b in pairs)


@pytest.mark.parametrize("activation", ["relu", "tanh", "identity"])
def test_forward_equals_matrices(activation):
    cell = BlockDiagonal(INPUTS, WIDTH, activation)
    inputs = np.random.default_rng(1).normal(size=(STEPS, INPUTS))
    function = {"relu": lambda y: np.maximum(y, 0), "tanh": np.tanh, "identity": lambda y: y}
    params = _drawn(cell)
    features = sequence_features(cell, params, inputs, np.zeros(STEPS, bool))
    a, b, c, d, w1, w2 = params
    blocks = np.array([[a, b], [c, d]])
    state, expected = np.zeros((2, WIDTH)), []
    for x in inputs:
        state = np.einsum("ijn,jn->in", blocks, state) + np.stack([x @ w1, x @ w2])
        expected.append(function[activation](state))
    assert np.ptp(expected, axis=0).min() > 0.1
    np.testing.assert_allclose(np.stack(features, axis=1), expected, rtol=1e-11, atol=1e-13)


def test_starts_as_the_rotations_of_an_rtu():
    units, key = 2_000, jax.random.key(5)
    params = BlockDiagonal(64, units).init(key)
    nu, theta = init_rotation("exp_exp", jax.random.split(key, 3)[0], units)
    eigenvalues = np.exp(-np.exp(nu) + 1j * np.exp(theta))
    for block, expected in zip(params[:4], "real -imag imag real".split(), strict=True):
        sign, part = (-1, "imag") if expected == "-imag" else (1, expected)
        np.testing.assert_allclose(block, sign * getattr(eigenvalues, part), rtol=1e-12)
    for kernel in params[4:]:
        np.testing.assert_allclose(kernel.std(), 64**-0.5, rtol=0.02)
    assert not np.array_equal(params.w1, params.w2)


def test_halved_traces_equal_the_plain_ones_while_parameters_stay():
    params = _at_every_step(_drawn(PLAIN))
    plain, halved = _gradients(PLAIN, params), _gradients(HALVED, params)
    assert _relative_error(halved, plain) < 1e-12


def test_halved_traces_are_an_approximation_while_parameters_change():
    rng = np.random.default_rng(2)
    params = _at_every_step(_drawn(PLAIN))
    params = jax.tree.map(lambda leaf: leaf + 0.05 * rng.normal(size=leaf.shape), params)
    plain, halved = _gradients(PLAIN, params), _gradients(HALVED, params)
    assert 1e-3 < _relative_error(halved, plain) < 1


def test_halved_traces_lose_digits_in_float32_where_blocks_are_slow():
    """r = 0.99, θ = 0.02: both eigenvalues lie next to each other."""
    g, phi = 0.99 * np.cos(0.02), 0.99 * np.sin(0.02)
    a, b, c, d = (np.full(WIDTH, value) for value in (g, -phi, phi, g))
    params = _at_every_step(PLAIN.init(jax.random.key(0))._replace(a=a, b=b, c=c, d=d))
    exact = _gradients(PLAIN, params)
    with jax.enable_x64(False):
        narrow = [_gradients(cell, params) for cell in (PLAIN, HALVED)]
    assert narrow[0].a.dtype == np.float32
    plain_error, halved_error = (_relative_error(gradients, exact) for gradients in narrow)
    assert plain_error < 3e-6
    assert 10 * plain_error < halved_error < 1e-3


def test_as_many_traces_as_the_formulas_say():
    weights = INPUTS * WIDTH
    for cell, count in ((PLAIN, 8 * WIDTH + 4 * weights), (HALVED, 4 * WIDTH + 2 * weights)):
        traces = jax.tree.leaves(cell.initial_traces())
        assert sum(leaf.size for leaf in traces) == count
        assert not any(leaf.any() for leaf in traces)


@pytest.mark.parametrize("r_max", [1.0, 0.9, 0.3])
def test_blocks_start_as_rotations_with_radii_up_to_r_max(r_max):
    params = BlockDiagonal(INPUTS, 4000, r_max=r_max).init(jax.random.key(0))
    squared = np.asarray(params.a * params.d - params.b * params.c)  # r², uniform up to r_max²
    np.testing.assert_allclose(params.a**2 + params.c**2, squared, rtol=1e-9)
    assert squared.max() <= r_max**2 * (1 + 1e-12)
    assert abs(squared.mean() - r_max**2 / 2) < 4 * r_max**2 / np.sqrt(12 * 4000)
