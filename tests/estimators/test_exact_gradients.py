"""RTRL through thousands of steps and across resets equals full BPTT, parameter by parameter."""

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
from untruncated.testing import assert_rtrl_exact

INPUTS, WIDTH = 3, 4

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


@pytest.mark.parametrize("cell", RTUS + LRUS + BLOCKS, ids=str)
def test_rtrl_equals_full_bptt(cell):
    assert_rtrl_exact(cell)


@pytest.mark.parametrize(
    "cell", [c(INPUTS, WIDTH) for c in (LinearRTU, NonlinearRTU, LRU, NonlinearLRU)], ids=str
)
def test_eigenvalues_next_to_the_unit_circle(cell):
    radius = np.array([0.9991, 0.9999, 0.99999, 0.9999999])
    angle = np.array([1e-3, 0.3, 2.0, 6.0])
    with jax.enable_x64(True):
        params = cell.init(jax.random.key(1))._replace(
            nu=jnp.log(-jnp.log(radius)), theta=jnp.log(angle)
        )
    assert_rtrl_exact(cell, params=params)


@pytest.mark.parametrize(("parameterisation", "nu"), [("exp", 0.0), ("direct", 1.0)])
@pytest.mark.parametrize(
    ("cell", "precision"),
    [
        (LinearRTU, "float64"),
        (NonlinearRTU, "float64"),
        (LRU, "float64"),
        (LinearRTU, "float32"),
    ],
)
def test_guards_keep_gradients_finite_at_radius_one(cell, precision, parameterisation, nu):
    cell = cell(INPUTS, WIDTH, parameterisation=parameterisation)
    with jax.enable_x64(precision == "float64"):
        params = cell.init(jax.random.key(1))
        edge = params._replace(nu=jnp.full_like(params.nu, nu))
        np.testing.assert_array_equal(edge.nu, cell.constrain(edge).nu)
    # a gradient that is not finite agrees with nothing
    assert_rtrl_exact(cell, params=edge, precision=precision)
