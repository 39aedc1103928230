"""PES on a loss of your own: the step sizes of 1,000 steps of SGD, learned from unrolls of 10."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import optax

from untruncated.estimators.unrolled.pes import PES
from untruncated.estimators.unrolled.staggered import Staggered


@dataclass(frozen=True)
class NoisyQuadratic:
    """Descent on a bowl of 20 curvatures by noisy gradients; losses are summed over steps."""

    horizon: int = 1000  # steps of an inner problem
    unroll_loss: str = "sum"
    differentiable: bool = False  # PES need not know that it is

    def initial_state(self, key):
        return jnp.full(20, 3.0)

    def unroll_step(self, theta, x, t, key):
        curvature = jnp.logspace(-2, 0, 20)
        step_size = jnp.exp(theta[0] + theta[1] * t / self.horizon)
        x = x - step_size * (curvature * x + jax.random.normal(key, x.shape))
        return x, jnp.mean(curvature * x**2)


problem, theta = NoisyQuadratic(), jnp.array([-7.0, 0.0])  # log of the first step size; its slope
estimator, optimiser = Staggered(PES(20, sigma=0.3, truncation=10), groups=10), optax.adam(0.02)
state, moments = estimator.init(problem, theta, jax.random.key(0)), optimiser.init(theta)
update = jax.jit(lambda theta, state, key: estimator.step(problem, theta, state, key))
for i, key in enumerate(jax.random.split(jax.random.key(1), 1001)):
    if i % 200 == 0:
        print(f"update {i:4}: step sizes {jnp.exp(theta[0]):.4f} to {jnp.exp(theta.sum()):.4f}")
    gradient, state = update(theta, state, key)
    updates, moments = optimiser.update(gradient, moments)
    theta = optax.apply_updates(theta, updates)
