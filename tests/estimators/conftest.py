"""A small unrolled system that uses everything a problem may use: time, keys, a pytree of θ."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

_RNG = np.random.default_rng(5)
RECURRENT = 0.4 * _RNG.normal(size=(3, 3))
INPUT = _RNG.normal(size=(3, 2))
READ_OUT = _RNG.normal(size=3)


def _uniform(key, size):
    """Quicker to compile than normal draws."""
    return jax.random.uniform(key, (size,), float, -1.0, 1.0)


@dataclass(frozen=True)
class NoisySystem:
    """s' = f(A s + B θ + noise), loss of s' and t; f and the loss by `kind`.

    "linear": both linear, "quadratic": f linear and the loss quadratic, "smooth": f = tanh.
    """

    horizon: int | None = 7
    unroll_loss: str = "sum"
    kind: str = "smooth"
    differentiable: bool = True
    noise: float = 0.3

    def initial_theta(self, key):
        return {"a": _uniform(key, 1), "b": jnp.asarray(0.7, float)}

    def initial_state(self, key):
        return self.noise * _uniform(key, 3)

    def unroll_step(self, theta, state, t, key):
        drive = INPUT @ jnp.append(theta["a"], theta["b"])
        state = RECURRENT @ state + drive + self.noise * _uniform(key, 3)
        if self.kind == "smooth":
            state = jnp.tanh(state)
        value = READ_OUT @ state
        if self.kind == "quadratic":
            value = 0.5 * state @ state + value
        return state, value * (1.0 + 0.1 * t)


@pytest.fixture
def noisy_system():
    """The class itself: tests choose its fields."""
    return NoisySystem


@pytest.fixture
def run_estimator():
    """Calls an estimator again and again at one θ, in one compiled scan."""

    def run(problem, estimator, theta, start_key, keys):
        """The gradients of all calls with their leaves in one row, and the last state."""

        def call(state, key):
            gradient, state = estimator.step(problem, theta, state, key)
            return state, jax.flatten_util.ravel_pytree(gradient)[0]

        def all_calls(start_key, keys):
            return jax.lax.scan(call, estimator.init(problem, theta, start_key), keys)

        options = {"xla_backend_optimization_level": 0}
        state, gradients = jax.jit(all_calls, compiler_options=options)(start_key, keys)
        return np.asarray(gradients), state

    return run
