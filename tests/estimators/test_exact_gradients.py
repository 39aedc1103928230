"""RTRL through thousands of steps and across resets equals full BPTT, parameter by parameter."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.cells.activations import ACTIVATIONS
from untruncated.cells.block_diagonal import BlockDiagonal
from untruncated.cells.linear_rtu import LinearRTU
from untruncated.cells.lru import LRU
from untruncated.cells.nonlinear_lru import NonlinearLRU
from untruncated.cells.nonlinear_rtu import NonlinearRTU
from untruncated.cells.rotation import PARAMETERISATIONS
from untruncated.estimators.bptt import bptt_gradient
from untruncated.estimators.traces import RTRL

STEPS, RESETS, INPUTS, WIDTH = 2_000, (731, 1_502), 3, 4

RTUS = [
    cell(INPUTS, WIDTH, activation, parameterisation)
    for cell in (LinearRTU, NonlinearRTU)
    for activation in ACTIVATIONS
    for parameterisation in PARAMETERISATIONS
]
LRUS = [
    *(LRU(INPUTS, WIDTH, parameterisation=name) for name in PARAMETERISATIONS),
    LRU(INPUTS, WIDTH, outputs=None, skip=True, activation="tanh"),
    LRU(INPUTS, WIDTH, outputs=1, skip=True, activation="relu"),
    NonlinearLRU(INPUTS, WIDTH),
    NonlinearLRU(INPUTS, WIDTH, skip=True, activation="tanh", parameterisation="sigmoid"),
    NonlinearLRU(INPUTS, WIDTH, outputs=1, activation="identity", parameterisation="direct"),
]
BLOCKS = [
    *(BlockDiagonal(INPUTS, WIDTH, activation) for activation in ACTIVATIONS),
    BlockDiagonal(INPUTS, WIDTH, halved=True),
]


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _losses(cell, seed=0):
    """Inputs, resets, and the weights of the features in a loss, zero at most steps."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(STEPS, cell.inputs))
    resets = np.isin(np.arange(STEPS), RESETS)
    has_loss = rng.random((STEPS, 1)) < 0.05
    weights = tuple(has_loss * rng.normal(size=(STEPS, size)) for size in cell.feature_sizes)
    return inputs, resets, weights


# Compiling takes nearly all the time, and is a third faster at level 0.
@partial(jax.jit, static_argnums=0, compiler_options={"xla_backend_optimization_level": 0})
def _both_gradients(cell, params, inputs, resets, weights):
    """The gradient of Σ weights · features by RTRL, one step at a time, and by full BPTT."""
    estimator, derived = RTRL(cell), cell.derive(params)
    start = estimator.init()

    def step(carry, xs):
        inside, total = carry
        x, reset, weight = xs
        inside = jax.tree.map(lambda fresh, old: jnp.where(reset, fresh, old), start, inside)
        made = estimator.step(params, derived, inside, x)
        return (made.carry, jax.tree.map(jnp.add, total, made.pullback(weight))), None

    zeros = jax.tree.map(jnp.zeros_like, params)
    (_, online), _ = jax.lax.scan(step, (start, zeros), (inputs, resets, weights))

    def loss(features):
        return sum(jnp.sum(w * f) for w, f in zip(weights, features, strict=True))

    return online, bptt_gradient(cell, params, inputs, resets, loss)


def _assert_leaves_agree(left, right, tolerance=1e-10):
    """Every leaf alone, relative to its own largest entry, which is not zero."""
    for (path, a), b in zip(
        jax.tree_util.tree_leaves_with_path(left), jax.tree.leaves(right), strict=True
    ):
        name, scale = jax.tree_util.keystr(path), np.abs(b).max()
        assert a.dtype == b.dtype == np.float64, name
        assert scale > 0, name
        np.testing.assert_array_less(np.abs(a - b).max() / scale, tolerance, err_msg=name)


@pytest.mark.parametrize("cell", RTUS + LRUS + BLOCKS, ids=str)
def test_rtrl_equals_full_bptt(cell):
    params = cell.init(jax.random.key(1))
    _assert_leaves_agree(*_both_gradients(cell, params, *_losses(cell)))


@pytest.mark.parametrize(
    "cell", [c(INPUTS, WIDTH) for c in (LinearRTU, NonlinearRTU, LRU, NonlinearLRU)], ids=str
)
def test_eigenvalues_next_to_the_unit_circle(cell):
    radius = np.array([0.9991, 0.9999, 0.99999, 0.9999999])
    angle = np.array([1e-3, 0.3, 2.0, 6.0])
    params = cell.init(jax.random.key(1))._replace(
        nu=jnp.log(-jnp.log(radius)), theta=jnp.log(angle)
    )
    _assert_leaves_agree(*_both_gradients(cell, params, *_losses(cell)))


@pytest.mark.parametrize(("parameterisation", "nu"), [("exp", 0.0), ("direct", 1.0)])
@pytest.mark.parametrize(
    ("cell", "precision"),
    [
        (LinearRTU, np.float64),
        (NonlinearRTU, np.float64),
        (LRU, np.float64),
        (LinearRTU, np.float32),
    ],
)
def test_guards_keep_gradients_finite_at_radius_one(cell, precision, parameterisation, nu):
    cell = cell(INPUTS, WIDTH, parameterisation=parameterisation)
    with jax.enable_x64(precision == np.float64):
        params = cell.init(jax.random.key(1))
        edge = params._replace(nu=jnp.full_like(params.nu, nu))
        np.testing.assert_array_equal(edge.nu, cell.constrain(edge).nu)
        gradients = _both_gradients(cell, edge, *_losses(cell))
    for leaf in jax.tree.leaves(gradients):
        assert leaf.dtype == precision
        assert np.isfinite(leaf).all()
