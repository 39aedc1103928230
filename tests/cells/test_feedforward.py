"""The layer without recurrence forgets everything."""

import jax
import jax.numpy as jnp
import numpy as np

from untruncated.cells import Feedforward


def test_it_is_a_layer_of_the_input_alone():
    cell = Feedforward(3, 5, activation="tanh")
    params = cell.init(jax.random.key(0))._replace(b=jnp.arange(5.0))
    x = jax.random.normal(jax.random.key(1), (3,))
    for state in (cell.initial_state(), jnp.full(5, 7.0)):
        after = cell.step(params, (), state, cell.drive(params, (), x))
        expected = np.tanh(np.asarray(x) @ np.asarray(params.w) + np.arange(5))
        np.testing.assert_allclose(cell.features(params, after, x)[0], expected, rtol=1e-6)
    slope = jax.jacobian(lambda s: cell.step(params, (), s, cell.drive(params, (), x)))
    assert not slope(cell.initial_state()).any()


def test_in_control_it_has_as_many_parameters_as_the_recurrent_cells():
    params = Feedforward(64, 384).init(jax.random.key(0))
    assert sum(leaf.size for leaf in jax.tree.leaves(params)) == 24_960
