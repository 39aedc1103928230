"""The program one would write first: one seed, four traces per weight, all derived in the step.

Same learner as `agents.td_predictor` with a linear RTU, for comparison of speed and of numbers.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax

from untruncated.agents.heads import LinearParameters, init_predictor, make_head
from untruncated.cells.linear_rtu import LinearRTU


def straightforward(
    cell: LinearRTU, step_size: float, discount: float = 0.966, trace_decay: float = 0.9
) -> tuple[Callable, Callable]:
    """`init(key)` and `run(state, observations, cumulants)`, one `lax.scan` with `optax.adam`.

    Traces are the real ones of the RTU paper, Eqs. 27–31: ∂h1 and ∂h2 with respect to ν, θ, W1
    and W2, for the `exp_exp` parameterisation.
    """
    optimiser, head = optax.adam(step_size), make_head(cell, hidden=0)

    def init(key):
        params = init_predictor(cell, head, key)
        n, d = cell.width, cell.inputs
        vector, matrix = jnp.zeros(n), jnp.zeros((d, n))
        h = (vector, vector)
        traces = {"nu": h, "theta": h, "w1": (matrix, matrix), "w2": (matrix, matrix)}
        eligibility = jax.tree.map(jnp.zeros_like, params)
        return params, optimiser.init(params), eligibility, h, traces, jnp.zeros(())

    def step(state, inputs):
        params, moments, eligibility, (h1, h2), traces, value = state
        x, cumulant = inputs
        nu, theta, w1, w2 = params.cell
        decay, angle = jnp.exp(nu), jnp.exp(theta)
        r = jnp.exp(-decay)
        g, phi = r * jnp.cos(angle), r * jnp.sin(angle)
        gamma = jnp.sqrt(-jnp.expm1(-2 * decay))
        u1, u2 = x @ w1, x @ w2
        dg_nu, dphi_nu, dgamma_nu = -decay * g, -decay * phi, decay * r * r / gamma
        dg_theta, dphi_theta = -angle * phi, angle * g

        def carried(pair, first, second):
            return g * pair[0] - phi * pair[1] + first, phi * pair[0] + g * pair[1] + second

        scaled = gamma * x[:, None]
        traces = {
            "nu": carried(
                traces["nu"],
                dg_nu * h1 - dphi_nu * h2 + dgamma_nu * u1,
                dphi_nu * h1 + dg_nu * h2 + dgamma_nu * u2,
            ),
            "theta": carried(
                traces["theta"],
                dg_theta * h1 - dphi_theta * h2,
                dphi_theta * h1 + dg_theta * h2,
            ),
            "w1": carried(traces["w1"], scaled, 0.0),
            "w2": carried(traces["w2"], 0.0, scaled),
        }
        h1, h2 = carried((h1, h2), gamma * u1, gamma * u2)
        features = (jax.nn.relu(h1), jax.nn.relu(h2))
        new_value = head.predict(params.head, features)
        weights = params.head.weights
        d1, d2 = weights[0] * (h1 > 0), weights[1] * (h2 > 0)
        cell_gradient = type(params.cell)(
            *(d1 * traces[name][0] + d2 * traces[name][1] for name in ("nu", "theta", "w1", "w2"))
        )
        gradient = type(params)(cell_gradient, LinearParameters(features, jnp.ones(())))
        error = cumulant + discount * new_value - value
        descent = jax.tree.map(lambda e: -error * e, eligibility)
        updates, moments = optimiser.update(descent, moments)
        new_params = optax.apply_updates(params, updates)
        eligibility = jax.tree.map(
            lambda e, d: discount * trace_decay * e + d, eligibility, gradient
        )
        return (new_params, moments, eligibility, (h1, h2), traces, new_value), new_value

    def run(state, observations, cumulants):
        return jax.lax.scan(step, state, (observations, cumulants))

    return init, run
