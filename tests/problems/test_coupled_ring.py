"""The coupled ring: its step by hand, with fewer and with more parameters than units."""

import jax
import numpy as np
import pytest

from untruncated.problems.coupled_ring import CoupledRing


@pytest.mark.parametrize(("units", "parameters"), [(5, 2), (5, 5), (3, 7)])
def test_a_step_is_half_the_neighbour_and_half_the_parameters(units, parameters):
    problem = CoupledRing(units, parameters)
    with jax.enable_x64(True):
        theta = np.asarray(problem.initial_theta(jax.random.key(0)))
        state = np.asarray(problem.initial_state(jax.random.key(1)))
        after, loss = problem.unroll_step(theta, state, 0, None)
    layers = max(1, -(-parameters // units))
    expected = []
    for place in range(units):
        if parameters <= units:
            mine = [theta[place % parameters]]
        else:
            mine = [
                theta[i] if i < parameters else 0.0 for i in range(place, layers * units, units)
            ]
        drive = np.mean(np.tanh(np.array(mine) + state[place]))
        expected.append(0.5 * (state[place - 1] + drive))
    np.testing.assert_allclose(after, expected, rtol=1e-12)
    np.testing.assert_allclose(loss, np.mean(np.square(expected)), rtol=1e-12)
    with pytest.raises(ValueError, match="units: must be at least 1, not 0"):
        CoupledRing(0, 1)
