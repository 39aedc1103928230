"""Linear losses: the gradient of every unroll's copy of θ is the one asked for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.problems.linear_losses import LinearLosses


@pytest.mark.parametrize("structure", ["diagonal", "upper_triangular"])
@pytest.mark.parametrize("entries", ["identical", "independent"])
def test_losses_have_the_given_gradients(structure, entries):
    problem = LinearLosses(4, 2, structure, entries)
    start = problem.initial_state(jax.random.key(1))

    def losses(copies):
        state, found = start, []
        for t in range(4):
            state, loss = problem.unroll_step(copies[t], state, jnp.asarray(t), None)
            found.append(loss)
        return jnp.stack(found)

    jacobian = jax.jacrev(losses)(jax.random.normal(jax.random.key(2), (4, 2)))
    np.testing.assert_allclose(jacobian.swapaxes(0, 1), start.gradients, rtol=1e-6)
    nonzero = np.abs(start.gradients).sum(axis=-1) > 0
    expected = np.eye(4) if structure == "diagonal" else np.triu(np.ones((4, 4)))
    np.testing.assert_array_equal(nonzero, expected > 0)
    if entries == "identical":
        np.testing.assert_array_equal(start.gradients[nonzero], 1)
    else:
        other = problem.initial_state(jax.random.key(3)).gradients
        assert not np.any(np.asarray(other)[nonzero] == np.asarray(start.gradients)[nonzero])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"structure": "full"}, "structure"),
        ({"entries": "ones"}, "entries"),
        ({"horizon": None}, "horizon"),
        ({"parameters": 0}, "parameters"),
    ],
)
def test_bad_fields_are_told(fields, message):
    with pytest.raises(ValueError, match=message):
        LinearLosses(**fields)
