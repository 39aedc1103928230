"""The LRU against complex numbers, and the scales it starts at."""

import jax
import numpy as np
import pytest

from untruncated.cells.lru import LRU
from untruncated.cells.rotation import PARAMETERISATIONS, rotation
from untruncated.estimators.online.bptt import sequence_features

INPUTS, WIDTH, STEPS = 3, 5, 80
FUNCTIONS = {"identity": lambda y: y, "relu": lambda y: np.maximum(y, 0), "tanh": np.tanh}


def _complex_forward(cell, params, inputs):
    """Features and states, computed with complex numbers."""
    radius, angle = np.exp(-np.exp(params.nu)), np.exp(params.theta)
    eigenvalues = radius * np.exp(1j * angle)
    b = np.asarray(params.b_real) + 1j * np.asarray(params.b_imag)
    c = np.asarray(params.c_real) + 1j * np.asarray(params.c_imag)
    state, outputs = np.zeros(cell.width, complex), []
    for x in inputs:
        state = eigenvalues * state + np.exp(params.gamma_log) * (x @ b)
        output = (state @ c).real
        if cell.skip:
            output = output + x @ np.asarray(params.d)
        outputs.append(FUNCTIONS[cell.activation](output))
    return np.array(outputs)


@pytest.mark.parametrize(
    "cell",
    [
        LRU(INPUTS, WIDTH),
        LRU(INPUTS, WIDTH, outputs=1),
        LRU(INPUTS, WIDTH, outputs=2, skip=True, activation="tanh"),
        LRU(INPUTS, WIDTH, skip=True, activation="relu"),
    ],
    ids=str,
)
def test_forward_equals_complex_arithmetic(cell):
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(STEPS, INPUTS))
    with jax.enable_x64(True):
        params = cell.init(jax.random.key(0))
        params = params._replace(gamma_log=params.gamma_log + rng.normal(size=WIDTH))
        (features,) = sequence_features(cell, params, inputs, np.zeros(STEPS, bool))
    expected = _complex_forward(cell, params, inputs)
    assert features.shape == expected.shape == (STEPS, cell.outputs or WIDTH)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(features, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("parameterisation", PARAMETERISATIONS)
def test_gamma_starts_at_the_root_of_one_minus_the_squared_radius(parameterisation):
    cell = LRU(INPUTS, 200, parameterisation=parameterisation)
    with jax.enable_x64(True):
        params = cell.init(jax.random.key(3))
        g, phi, *_ = rotation(parameterisation, params.nu, params.theta)
        expected = 0.5 * np.log(1 - (np.asarray(g) ** 2 + np.asarray(phi) ** 2))
    np.testing.assert_allclose(params.gamma_log, expected, rtol=1e-9)


def test_starting_scales():
    inputs, width, outputs = 40, 300, 100
    params = LRU(inputs, width, outputs, skip=True).init(jax.random.key(4))
    draws = {"b_real": (2 * inputs) ** -0.5, "b_imag": (2 * inputs) ** -0.5}
    draws |= {"c_real": width**-0.5, "c_imag": width**-0.5, "d": 1.0}
    for name, scale in draws.items():
        values = np.asarray(getattr(params, name)).ravel()
        # The standard error of a standard deviation is σ/√(2n): five of them.
        np.testing.assert_allclose(values.std(), scale, rtol=5 / np.sqrt(2 * values.size))
        assert abs(values.mean()) < 5 * scale / np.sqrt(values.size), name
    assert abs(np.corrcoef(params.b_real.ravel(), params.b_imag.ravel())[0, 1]) < 0.05
    assert abs(np.corrcoef(params.c_real.ravel(), params.c_imag.ravel())[0, 1]) < 0.05


def test_no_skip_no_parameters_of_it():
    assert LRU(INPUTS, WIDTH).init(jax.random.key(0)).d is None
