"""The GRU against Flax's."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.cells.gru import GRU

INPUTS, WIDTH, STEPS = 5, 6, 50


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _as_flax(params):
    """Our parameters under Flax's names: i for input, h for hidden; r, z, n for the gates."""
    split = {name: jnp.split(getattr(params, name), 3, axis=-1) for name in ("w", "u", "bias")}
    inner = {
        f"i{gate}": {"kernel": split["w"][i], "bias": split["bias"][i]}
        for i, gate in enumerate("rzn")
    }
    recurrent = {f"h{gate}": {"kernel": split["u"][i]} for i, gate in enumerate("rzn")}
    recurrent["hn"]["bias"] = params.candidate_bias
    return {"params": {**inner, **recurrent}}


def test_equals_flax_with_the_same_weights():
    cell, rng = GRU(INPUTS, WIDTH), np.random.default_rng(0)
    params = jax.tree.map(
        lambda leaf: leaf + 0.5 * rng.normal(size=leaf.shape), cell.init(jax.random.key(0))
    )
    inputs = rng.normal(size=(STEPS, INPUTS))
    flax_cell = nn.GRUCell(WIDTH, param_dtype=jnp.float64)

    @jax.jit
    def both(params):
        derived, variables = cell.derive(params), _as_flax(params)

        def step(states, x):
            ours, theirs = states
            ours = cell.step(params, derived, ours, cell.drive(params, derived, x))
            theirs, _ = flax_cell.apply(variables, theirs, x)
            return (ours, theirs), (cell.features(params, ours, x)[0], theirs)

        return jax.lax.scan(step, (cell.initial_state(), jnp.zeros(WIDTH)), inputs)[1]

    ours, theirs = both(params)
    assert ours.dtype == theirs.dtype == np.float64
    assert np.ptp(theirs, axis=0).min() > 0.1
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


def test_has_the_parameters_and_the_start_of_flax():
    cell = GRU(inputs=64, width=48)
    params = cell.init(jax.random.key(1))
    flax_cell = nn.GRUCell(48, param_dtype=jnp.float64)
    theirs = flax_cell.init(jax.random.key(1), jnp.zeros(48), jnp.zeros(64))
    assert jax.tree.map(jnp.shape, _as_flax(params)) == jax.tree.map(jnp.shape, theirs)

    for kernel in np.split(params.w, 3, axis=1):
        np.testing.assert_allclose(kernel.std(), 64**-0.5, rtol=0.05)
        # LeCun normal is cut at two standard deviations of the uncut law.
        assert np.abs(kernel).max() < 2 / 0.87 * 64**-0.5
    for recurrent in np.split(params.u, 3, axis=1):
        np.testing.assert_allclose(recurrent.T @ recurrent, np.eye(48), atol=1e-12)
    gates = np.stack(np.split(params.u, 3, axis=1))
    assert not np.allclose(gates[0], gates[1]) and not np.allclose(gates[1], gates[2])
    assert not params.bias.any() and not params.candidate_bias.any()


def test_drive_of_a_window_is_the_drive_of_its_inputs():
    cell, inputs = GRU(INPUTS, WIDTH), np.random.default_rng(2).normal(size=(4, INPUTS))
    params = cell.init(jax.random.key(0))
    together = cell.drive(params, (), inputs)
    for row, x in zip(together, inputs, strict=True):
        np.testing.assert_allclose(row, cell.drive(params, (), x), rtol=1e-13)
