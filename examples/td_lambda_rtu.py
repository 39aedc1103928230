"""TD(λ) with a linear RTU on trace conditioning, from top to bottom: the learner of Figure 2.

It is written as one would write it first, with the RTU paper's real traces, Eqs. 27–31. The suite
carries the traces of λ instead and derives those of ν and θ from them at every step, which is
faster, and the same to rounding while the parameters stay as they are. A test holds both together.
Run it with

    python examples/td_lambda_rtu.py

It prints the error on the way and draws td_lambda_rtu.png.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import optax
from jax.nn.initializers import lecun_normal

from untruncated.environments.trace_conditioning import TraceConditioning

UNITS, STEPS, REPORT = 53, 200_000, 10_000
STEP_SIZE, DISCOUNT, TRACE_DECAY = 3e-3, 0.966, 0.9


class Params(NamedTuple):
    """λ_k = exp(-exp(ν_k) + i exp(θ_k)) of each unit k; input weights; the prediction's weights."""

    nu: Any
    theta: Any
    w1: Any  # of the real parts, shape (inputs, units); w2: of the imaginary parts
    w2: Any
    out1: Any  # on the features of the real parts; out2: of the imaginary parts
    out2: Any
    bias: Any


class State(NamedTuple):
    """All that a step leaves to the next."""

    params: Params
    optimiser: Any
    eligibility: Params  # the decaying sum of past gradients
    h: Any  # real and imaginary parts of the recurrent state
    traces: Any  # for each of ν, θ, W1, W2: what h1 and h2 would change by
    value: Any  # the last prediction


def init_params(key, inputs, units):
    """λ is uniform on the unit disc."""
    keys = jax.random.split(key, 5)
    radius = jnp.sqrt(jax.random.uniform(keys[0], (units,)))
    angle = 2 * jnp.pi * jax.random.uniform(keys[1], (units,))
    w1, w2 = (lecun_normal()(key, (inputs, units)) for key in keys[2:4])
    out1, out2 = lecun_normal()(keys[4], (2 * units, 1))[:, 0].reshape(2, units)
    nu, theta = jnp.log(-jnp.log(radius)), jnp.log(angle)
    return Params(nu, theta, w1, w2, out1, out2, jnp.zeros(()))


def init_state(params, optimiser, x):
    """After the first observation: a prediction, and nothing to learn from yet."""
    zeros = jax.tree.map(jnp.zeros_like, params)
    h = (zeros.nu, zeros.nu)
    traces = {"nu": h, "theta": h, "w1": (zeros.w1, zeros.w1), "w2": (zeros.w2, zeros.w2)}
    h, traces = rtu_step(params, h, traces, x)
    value, gradient = predict(params, h, traces)
    return State(params, optimiser.init(params), gradient, h, traces, value)


def rtu_step(params, h, traces, x):
    """The next recurrent state, and its derivatives with respect to the cell's parameters."""
    (h1, h2), decay, angle = h, jnp.exp(params.nu), jnp.exp(params.theta)
    r = jnp.exp(-decay)
    g, phi = r * jnp.cos(angle), r * jnp.sin(angle)
    gamma = jnp.sqrt(-jnp.expm1(-2 * decay))  # √(1 - r²)
    u1, u2 = x @ params.w1, x @ params.w2
    dg_nu, dphi_nu, dgamma_nu = -decay * g, -decay * phi, decay * r * r / gamma
    dg_theta, dphi_theta = -angle * phi, angle * g

    def rotate(pair, real, imag):
        """λ times a complex number, and what is added to its real and imaginary part."""
        return g * pair[0] - phi * pair[1] + real, phi * pair[0] + g * pair[1] + imag

    traces = {
        "nu": rotate(
            traces["nu"],
            dg_nu * h1 - dphi_nu * h2 + dgamma_nu * u1,
            dphi_nu * h1 + dg_nu * h2 + dgamma_nu * u2,
        ),
        "theta": rotate(
            traces["theta"],
            dg_theta * h1 - dphi_theta * h2,
            dphi_theta * h1 + dg_theta * h2,
        ),
        "w1": rotate(traces["w1"], gamma * x[:, None], 0.0),
        "w2": rotate(traces["w2"], 0.0, gamma * x[:, None]),
    }
    return rotate(h, gamma * u1, gamma * u2), traces


def predict(params, h, traces):
    """The value, and its exact gradient through the whole past."""
    f1, f2 = jax.nn.relu(h[0]), jax.nn.relu(h[1])
    value = f1 @ params.out1 + f2 @ params.out2 + params.bias
    d1, d2 = params.out1 * (h[0] > 0), params.out2 * (h[1] > 0)
    of_cell = {name: d1 * trace[0] + d2 * trace[1] for name, trace in traces.items()}
    return value, Params(**of_cell, out1=f1, out2=f2, bias=jnp.ones(()))


def learn_step(optimiser, state, observed):
    """One step of the stream: remember, predict, learn from the temporal difference."""
    x, reward = observed
    h, traces = rtu_step(state.params, state.h, state.traces, x)
    value, gradient = predict(state.params, h, traces)
    error = reward + DISCOUNT * value - state.value
    descent = jax.tree.map(lambda e: -error * e, state.eligibility)
    updates, moments = optimiser.update(descent, state.optimiser)
    params = optax.apply_updates(state.params, updates)
    eligibility = jax.tree.map(
        lambda e, d: DISCOUNT * TRACE_DECAY * e + d, state.eligibility, gradient
    )
    return State(params, moments, eligibility, h, traces, value), value


def learn(params, optimiser, observations, rewards):
    """What it has become at a stream's end, and the predictions at every step."""

    def step(state, observed):
        return learn_step(optimiser, state, observed)

    start = init_state(params, optimiser, observations[0])
    end, values = jax.lax.scan(step, start, (observations[1:], rewards[1:]))
    return end, jnp.concatenate([start.value[None], values])


def returns_after(rewards):
    """The discounted sum of the rewards after each step, up to the stream's end."""

    def back(later, reward):
        return reward + DISCOUNT * later, later

    return jax.lax.scan(back, jnp.zeros(()), rewards, reverse=True)[1]


def main():
    """Learns from one stream."""
    environment = TraceConditioning()
    _, stream = environment.unroll(environment.start(jax.random.key(0)), STEPS)
    observations, rewards = stream.observation.astype(float), stream.reward.astype(float)
    params = init_params(jax.random.key(1), observations.shape[1], UNITS)
    optimiser = optax.adam(STEP_SIZE)
    _, values = jax.jit(learn, static_argnums=1)(params, optimiser, observations, rewards)
    errors = ((values - returns_after(rewards)) ** 2).reshape(-1, REPORT).mean(axis=1)
    for bin, error in enumerate(errors):
        print(f"steps {bin * REPORT:6} to {(bin + 1) * REPORT:6}: mean squared error {error:.4f}")
    figure, axes = plt.subplots()
    axes.plot(REPORT * (1 + jnp.arange(len(errors))), errors)
    axes.set(xlabel="steps", ylabel="mean squared return error", yscale="log")
    figure.savefig("td_lambda_rtu.png")


if __name__ == "__main__":
    main()
